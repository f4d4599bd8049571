// Any bytes as a trace of each form that is read from memory. What is accepted has its steps, if any, summed to the nanosecond.
#include <numeric>

#include "model/trace/breakdown.hpp"
#include "model/trace/gzip.hpp"
#include "model/trace/read_trace.hpp"
#include "model/trace/rerun.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;
using namespace tbdsim::trace;

namespace {

void look_into(const Trace& trace) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    fuzz::require(trace.events[i].time() >= 0, "nothing ends before it starts");
    fuzz::require(i == 0 || trace.events[i - 1].start <= trace.events[i].start, "events are in order of start");
  }
  const auto parts = break_down(trace, "fuzz");
  if (!parts) return fuzz::require_good(parts.error());
  const auto all = std::accumulate(parts->occupation.begin(), parts->occupation.end(), Nanoseconds{0});
  fuzz::require(all == parts->steps_time, "the parts of the steps sum to them");
  fuzz::require(rerun(trace, parts->iterations, Factors()) >= 0.0, "a step takes time");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes = fuzz::bytes(data, size);
  if (is_gzip(bytes)) {
    constexpr std::size_t kMost = std::size_t{1} << 22;
    const auto unpacked = unpack_gzip(bytes, "fuzz", kMost);
    if (!unpacked) {
      fuzz::require_good(unpacked.error());
      return 0;
    }
    bytes = *unpacked;
  }
  for (const TraceFormat format : {TraceFormat::kineto, TraceFormat::nvprof, TraceFormat::chakra, TraceFormat::chakra_json}) {
    const auto trace = parse_trace(bytes, "fuzz", format);
    if (trace)
      look_into(*trace);
    else
      fuzz::require_good(trace.error());
  }
  return 0;
}
