// Traces of several profilers: what is read, where the time goes, what another run of them takes. tests/data/traces holds one
// made-up program in the form of each; its times are in make_traces.py.
#include "model/input/file_text.hpp"
#include "model/trace/breakdown.hpp"
#include "model/trace/gzip.hpp"
#include "model/trace/read_trace.hpp"
#include "model/trace/rerun.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

using namespace tbdsim;
using namespace tbdsim::trace;

namespace {

std::string data(const std::string& name) { return std::string(TBDSIM_SOURCE_DIR) + "/tests/data/traces/" + name; }

/// Times of one step, by family, in nanoseconds (make_traces.py).
constexpr Nanoseconds kConvolution = 61234 + 70111 + 80222, kNorm = 20333 + 41444, kProduct = 30555 + 31666 + 32777,
                      kExchange = 150888, kUpdate = 25999, kCopy = 15123;
constexpr Nanoseconds kStep = kConvolution + kNorm + kProduct + kExchange + kUpdate + kCopy;
constexpr int kSteps = 8;

Nanoseconds time_of(const std::vector<Part>& parts, std::string_view name) {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
  return found == parts.end() ? 0 : found->time;
}

Nanoseconds sum(const std::vector<Part>& parts) {
  return std::accumulate(parts.begin(), parts.end(), Nanoseconds{0}, [](Nanoseconds all, const Part& p) { return all + p.time; });
}

Nanoseconds at(const Breakdown& b, Occupation o) { return b.occupation[static_cast<std::size_t>(o)]; }

Trace parsed(const std::string& text) { return parse_kineto(text, "t.json").value(); }

std::string event(const char* category, const char* name, double start, double time, const std::string& args, int tid = 1) {
  return fmt::format(
      "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 0, \"tid\": {}, \"ts\": {}, \"dur\": {}, \"args\": {{{}}}}}",
      category, name, tid, start, time, args);
}
std::string kernel(const char* name, double start, double time, int correlation, int stream = 7) {
  return event("kernel", name, start, time,
               fmt::format("\"stream\": {}, \"device\": 0, \"correlation\": {}", stream, correlation));
}
std::string launch(double start, int correlation) {
  return event("cuda_runtime", "cudaLaunchKernel", start, 1, fmt::format("\"correlation\": {}", correlation));
}
std::string listed(const std::vector<std::string>& events) {
  return fmt::format("{{\"traceEvents\": [{}]}}", fmt::join(events, ",\n"));
}
std::string message(const std::string& text) {
  const auto trace = parse_kineto(text, "t.json");
  REQUIRE_FALSE(trace);
  return to_text(trace.error());
}

}  // namespace

TEST_CASE("a packed trace is measured before it is kept", "[trace]") {
  const std::string packed = read_file(data("kineto.json.gz"), 1).value(), plain = read_file(data("kineto.json"), 1).value();
  const auto refusal = [&](const std::string& bytes, std::size_t most) {
    const auto text = unpack_gzip(bytes, "t.json.gz", most);
    return text ? "" : to_text(text.error());
  };
  CHECK(unpack_gzip(packed, "t.json.gz", plain.size()).value() == plain);
  CHECK(unpack_gzip(packed + packed, "t.json.gz", 2 * plain.size()).value() == plain + plain);
  CHECK(refusal(packed, plain.size() - 1) == "t.json.gz: larger than 0 MiB once it is unpacked\n");
  CHECK(refusal(packed.substr(0, packed.size() / 2), plain.size()) == "t.json.gz: gzip: cut short\n");
  CHECK(refusal(packed + "rest", plain.size()) == "t.json.gz: gzip: damaged\n");
}

TEST_CASE("The same program gives the same times from every profiler, and sums equal the trace's own") {
  for (const char* const name : {"kineto.json", "kineto.json.gz", "nsight.sqlite", "nvprof.csv"}) {
    INFO(name);
    const auto trace = read_trace(data(name));
    REQUIRE(trace);
    CHECK(trace->device == "Tesla V100-SXM2-16GB");
    const auto b = break_down(*trace, name);
    REQUIRE(b);
    CHECK(b->events_time == kSteps * kStep);
    CHECK(sum(b->whole) == b->events_time);
    const auto steps = static_cast<Nanoseconds>(b->steps());
    REQUIRE(steps == kSteps - 1);
    CHECK(time_of(b->families, "convolution") == steps * kConvolution);
    CHECK(time_of(b->families, "normalisation") == steps * kNorm);
    CHECK(time_of(b->families, "product") == steps * kProduct);
    CHECK(time_of(b->families, "update") == steps * kUpdate);
    CHECK(time_of(b->families, "exchange") == steps * kExchange);
    CHECK(time_of(b->families, "copy") == steps * kCopy);
    CHECK(sum(b->layers) == sum(b->families));
    CHECK(sum(b->kernels) == sum(b->families));
    CHECK(std::accumulate(b->occupation.begin(), b->occupation.end(), Nanoseconds{0}) == b->steps_time);
    // Nothing overlaps in this program.
    CHECK(at(*b, Occupation::computes) == steps * (kConvolution + kNorm + kProduct + kUpdate));
    CHECK(at(*b, Occupation::exchanges) == steps * kExchange);
    CHECK(at(*b, Occupation::copies) == steps * kCopy);
    CHECK_THAT(rerun(*trace, b->iterations, Factors()), WithinRel(1e9 * b->step_seconds(), 1e-12));
  }
}

// Four steps of a network of four convolutions, written by PyTorch 1.13 on a CPU.
TEST_CASE("A trace that PyTorch wrote is read to the microsecond") {
  const auto trace = read_trace(data("pytorch_1.13_cpu.json.gz"));
  REQUIRE(trace);
  const auto b = break_down(*trace, "pytorch_1.13_cpu.json.gz");
  REQUIRE(b);
  CHECK(b->steps() == 4);
  CHECK(b->steps_time == Nanoseconds{1375 + 1209 + 9462 + 2175} * 1000);
  CHECK(std::accumulate(b->occupation.begin(), b->occupation.end(), Nanoseconds{0}) == b->steps_time);
  CHECK(sum(b->whole) == b->events_time);
  CHECK(sum(b->layers) == sum(b->families));
  CHECK(time_of(b->families, "convolution") > time_of(b->families, "softmax"));
  CHECK_THAT(rerun(*trace, b->iterations, Factors()), WithinRel(1e9 * b->step_seconds(), 0.02));
}

TEST_CASE("Kernels of both passes belong to the module of the forward pass") {
  for (const char* const name : {"kineto.json", "nsight.sqlite"}) {
    INFO(name);
    const auto trace = read_trace(data(name));
    REQUIRE(trace);
    const auto b = break_down(*trace, name);
    REQUIRE(b);
    const auto steps = static_cast<Nanoseconds>(b->steps());
    // Ranges of NVTX hold the forward pass alone.
    const bool backward = trace->tool == "PyTorch profiler";
    CHECK(time_of(b->layers, "Conv2d_0") == steps * (61234 + (backward ? 70111 + 80222 : 0)));
    CHECK(time_of(b->layers, "BatchNorm2d_0") == steps * (20333 + (backward ? 41444 : 0)));
    CHECK(time_of(b->layers, "Linear_0") == steps * (30555 + (backward ? 31666 + 32777 : 0)));
  }
}

TEST_CASE("Nodes of Chakra follow their dependencies, and a circle is told") {
  const auto trace = read_trace(data("chakra.et"));
  REQUIRE(trace);
  const auto b = break_down(*trace, "chakra.et");
  REQUIRE(b);
  Nanoseconds whole = 0;  // whole microseconds of each
  for (const Nanoseconds time : {61234, 70111, 80222, 20333, 41444, 30555, 31666, 32777, 150888, 25999, 15123})
    whole += time / 1000 * 1000;
  CHECK(b->events_time == kSteps * whole);
  CHECK_THAT(1e9 * b->step_seconds(), WithinRel(static_cast<double>(whole), 1e-12));
  const auto circle = read_trace(data("chakra_circle.et"));
  REQUIRE_FALSE(circle);
  CHECK(to_text(circle.error()) ==
        data("chakra_circle.et") + ": node 1 (\"Memcpy HtoD (Pinned -> Device)\") depends on itself, over 88 nodes at most\n");
}

TEST_CASE("Every nanosecond of a step has one occupation, and idle time its cause") {
  // Times in microseconds. One step from 100 to 200: a kernel until 110; the host waits from 105 to 112 and issues at 115 what
  // starts at 118 (idle 8: 5 until it is issued, after a wait; 3 on its way). Kernel until 130, beside it a copy from 120 to 140:
  // 10 alone. The host issues at 145 what starts at 150 (idle 10: 5 host, 5 start). An exchange from 150 to 170, beside it a
  // kernel from 160 to 180. What starts the next step at 200 was issued at 150 (20 start).
  const Trace trace = parsed(listed(
      {event("user_annotation", "ProfilerStep#1", 90, 100, ""), event("user_annotation", "ProfilerStep#2", 190, 100, ""),
       launch(95, 1), kernel("sgemm", 100, 10, 1), event("cuda_runtime", "cudaDeviceSynchronize", 105, 7, ""), launch(115, 2),
       kernel("sgemm", 118, 12, 2), launch(119, 3),
       event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 120, 20, "\"stream\": 9, \"device\": 0, \"correlation\": 3"),
       launch(145, 4), kernel("ncclDevKernel_AllReduce", 150, 20, 4, 20), launch(146, 5),
       kernel("elementwise_kernel", 160, 20, 5), launch(191, 6), kernel("sgemm", 200, 5, 6)}));
  const auto b = break_down(trace, "t.json");
  REQUIRE(b);
  REQUIRE(b->steps() == 1);
  constexpr Nanoseconds us = 1000;
  CHECK(b->steps_time == 100 * us);
  CHECK(at(*b, Occupation::computes) == (10 + 12 + 20) * us);
  CHECK(at(*b, Occupation::copies) == 10 * us);
  CHECK(at(*b, Occupation::exchanges) == 10 * us);
  CHECK(at(*b, Occupation::waits_sync) == 5 * us);
  CHECK(at(*b, Occupation::waits_host) == (5 + 11) * us);
  CHECK(at(*b, Occupation::waits_start) == (3 + 5 + 9) * us);
}

TEST_CASE("Another run keeps what followed what") {
  const auto trace = read_trace(data("kineto.json"));
  REQUIRE(trace);
  const auto b = break_down(*trace, "kineto.json");
  REQUIRE(b);
  const double step = 1e9 * b->step_seconds();
  const auto with = [&](WorkFamily family, double factor) {
    Factors factors;
    factors.work[static_cast<std::size_t>(family)] = factor;
    return rerun(*trace, b->iterations, factors);
  };
  // The exchange is exposed, the update waits for it, and the host for the update: all of it counts.
  CHECK_THAT(with(WorkFamily::exchange, 2.0), WithinRel(step + kExchange, 1e-9));
  CHECK_THAT(with(WorkFamily::update, 3.0), WithinRel(step + 2.0 * kUpdate, 1e-9));
  CHECK_THAT(with(WorkFamily::convolution, 2.0), WithinRel(step + kConvolution, 1e-9));
  // Kernels that take no time leave the host's calls: never faster than they are issued.
  Factors none;
  none.work.fill(0.0);
  const double least = rerun(*trace, b->iterations, none);
  CHECK(least < step - kConvolution);
  CHECK(least > 11 * 9000.0);
  // More work is never faster.
  for (const WorkFamilyInfo& info : work_families()) CHECK(with(info.kind, 1.5) >= step - 1e-6);
  Factors slower;
  slower.host = 2.0;
  CHECK(rerun(*trace, b->iterations, slower) > step);
}

TEST_CASE("Microseconds with places are read to the nanosecond, however large they are") {
  CHECK(decimal_nanoseconds("1700000000000000.123", 3) == 1700000000000000123);
  CHECK(decimal_nanoseconds("0.0005", 3) == 1);
  CHECK(decimal_nanoseconds("0.0004", 3) == 0);
  CHECK(decimal_nanoseconds("12", 6) == 12000000);
  CHECK(decimal_nanoseconds("1.5e3", 3) == 1500000);
  CHECK(decimal_nanoseconds("-2.25", 3) == -2250);
  for (const char* const none : {"", "x", "1.2.3", "99999999999999999999", ".", "1e999"}) {
    INFO(none);
    CHECK_FALSE(decimal_nanoseconds(none, 3));
  }
}

TEST_CASE("What is no trace, cut short or of another tool is told exactly") {
  CHECK(message("{\"traceEvents\": [\n{\"ph\": \"X\", \"na").substr(0, 21) == "t.json:2:16: not vali");
  CHECK(message("{\"traceEvents\": []}") == "t.json: no trace event: expected \"traceEvents\" or a list of events\n");
  CHECK(message("{\"traceEvents\": [{\"ph\": \"B\", \"name\": \"f\", \"ts\": 1, \"pid\": 1, \"tid\": 1}]}") ==
        "t.json: 1 events, none of them a kernel, copy or operator as PyTorch's profiler writes them: the trace of another "
        "tool?\n");
  CHECK(message(listed({kernel("k", 5, -3, 1)})) == "t.json: \"k\" has a duration below zero\n");
  std::string deep(70, '[');
  CHECK(message(deep) == "t.json: more than 64 brackets open\n");
  const Trace once = parsed(listed({kernel("a", 1, 2, 1), kernel("b", 4, 2, 2)}));
  const auto b = break_down(once, "t.json");
  REQUIRE_FALSE(b);
  CHECK(to_text(b.error()) ==
        "t.json: no iterations: the trace has no marks (profiler.step(), NVTX ranges named step), and nothing repeats three "
        "times in its "
        "last half\n");
  const auto csv = parse_nvprof("\"Start\",\"Duration\",\"Name\"\nms,weeks,\n1,2,a\n", "p.csv");
  REQUIRE_FALSE(csv);
  CHECK(to_text(csv.error()) ==
        "p.csv:2:1: expected the units of Start and Duration (s, ms, us, ns), got \"ms\" and \"weeks\"\n");
  CHECK_FALSE(trace_format("hello"));
  CHECK_FALSE(trace_format(""));
  CHECK(trace_format("[{\"ph\": \"X\"}]") == TraceFormat::kineto);
}

TEST_CASE("Marks of several threads that overlap count once") {
  const Trace trace =
      parsed(listed({event("user_annotation", "ProfilerStep#1", 0, 100, ""),
                     event("user_annotation", "ProfilerStep#1", 50, 100, "", 2), event("cpu_op", "aten::mm", 10, 20, ""),
                     event("cpu_op", "aten::mm", 120, 20, "", 2), event("cpu_op", "aten::inner", 12, 5, "")}));
  CHECK(trace.on_host);
  const auto b = break_down(trace, "t.json");
  REQUIRE(b);
  CHECK(b->steps() == 1);
  CHECK(b->steps_time == 100000);
  CHECK(at(*b, Occupation::computes) == 20000);
  CHECK(std::accumulate(b->occupation.begin(), b->occupation.end(), Nanoseconds{0}) == b->steps_time);
  CHECK(b->events_time == 40000);  // operators within others are part of them
}
