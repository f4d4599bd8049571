// Goals set on: AMD EPYC (family 26), 4 threads of a shared virtual machine, GCC 12, Release.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "model/trace/read_trace.hpp"
#include "tests/bench/bench.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 5;

/// A trace in the form of PyTorch's profiler: kernels one after the other, each with the call of the host that launched it.
std::string kineto(int events) {
  constexpr int kApart = 3, kLong = 2;  // microseconds
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < events / 2; ++i)
    fmt::format_to(std::back_inserter(text),
                   "{}{{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, "
                   "\"ts\": {}, \"dur\": "
                   "1, \"args\": {{\"correlation\": {}}}}},\n{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"kernel_{}\", "
                   "\"pid\": 0, \"tid\": "
                   "7, \"ts\": {}, \"dur\": {}, \"args\": {{\"device\": 0, \"stream\": 7, \"correlation\": {}}}}}",
                   i == 0 ? "" : ",\n", kApart * i, i, i % 100, kApart * i + 1, kLong, i);
  return text + "]}";
}

double read(Report& report, int events, Seconds goal) {
  const std::string name = fmt::format("trace of PyTorch's profiler, {} events", events);
  if (!report.wanted(name)) return 0.0;
  const std::string text = kineto(events);
  report.size(name + ", text", Bytes(static_cast<double>(text.size())), Bytes(1e9));
  return report.time(name, goal, kRuns, [&] { keep(trace::parse_trace(text, "trace.json", trace::TraceFormat::kineto)); }).min;
}

}  // namespace

/// Reading what profilers wrote, from the bytes to events in order.
void bench_trace(Report& report) {
  const double few = read(report, 10'000, Seconds(0.1)), many = read(report, 1'000'000, Seconds(10.0));
  read(report, 150'000, Seconds(2.0));  // 20 MB
  if (few > 0.0 && many > 0.0)
    report.ratio("trace: growth of time with events, exponent", std::log(many / few) / std::log(100.0), 1.1);
}

}  // namespace tbdsim::bench
