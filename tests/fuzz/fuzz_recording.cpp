// Any bytes as a recording. What is accepted is in order of start, and its steady part can be summed up.
#include "calibrate/decode/steady_state.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto log = parse_activity_log(fuzz::bytes(data, size), "fuzz.txt");
  if (!log) {
    fuzz::require(!log.error().empty(), "a refused file has an error");
    fuzz::require_good(log.error());
    return 0;
  }
  for (std::size_t i = 0; i < log->activities.size(); ++i) {
    const Activity& a = log->activities[i];
    fuzz::require(a.end_ns >= a.start_ns, "nothing ends before it starts");
    fuzz::require(i == 0 || log->activities[i - 1].start_ns <= a.start_ns, "activities are in order of start");
  }
  const auto steady = find_iterations(*log, {0, 1, 1});
  if (!steady) {
    fuzz::require_good(steady.error());
    return 0;
  }
  const ProfileSummary summary = summarize(*log, *steady);
  fuzz::require(summary.busy >= 0.0 && summary.busy <= 1.0, "a busy share is a share");
  fuzz::require(summary.fastest <= summary.slowest, "the fastest iteration is not slower than the slowest");
  return 0;
}
