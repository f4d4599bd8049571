// Any bytes as a scenario.
#include "model/validation/scenario_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto scenario = parse_scenario(fuzz::bytes(data, size), "scenarios/seeds/fuzz.toml");
  fuzz::require(scenario || !scenario.error().empty(), "a refused scenario has an error");
  return 0;
}
