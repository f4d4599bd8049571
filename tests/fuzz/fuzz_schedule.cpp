// Any bytes as a pipeline schedule: what is accepted comes to its end and is written as it was read.
#include "model/schedule/pipeline/schedule_file.hpp"
#include "model/schedule/pipeline/simulate_pipeline.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;
using namespace tbdsim::pipeline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto schedule = parse_schedule_file(fuzz::bytes(data, size), "fuzz.toml");
  if (!schedule) {
    fuzz::require(!schedule.error().empty(), "a refused schedule has an error");
    return 0;
  }
  const SimTime second = SimTime::from(Seconds(1.0));
  const PipelineRun run = simulate(*schedule, equal_times(*schedule, {second, second, second, second}), Spans::all);
  for (const BlockSpan& span : run.spans) fuzz::require(span.start < span.end, "every block was run");
  fuzz::require(parse_schedule_file(to_toml(*schedule), "again.toml").has_value(), "what is written can be read");
  return 0;
}
