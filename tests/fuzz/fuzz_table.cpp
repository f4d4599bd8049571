// Any bytes as a measured-run table.
#include "model/validation/measured_table.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto runs = parse_measured_table(fuzz::bytes(data, size), "fuzz.csv");
  if (!runs) {
    fuzz::require(!runs.error().empty(), "a refused table has an error");
    return 0;
  }
  for (const MeasuredRun& run : *runs) fuzz::require(run.measured > 0.0, "measurements are above zero");
  return 0;
}
