// Any bytes as a plan of measurements. What is accepted names known kernels, none of them twice.
#include "calibrate/collect/plan.hpp"

#include <set>

#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = parse_plan(fuzz::bytes(data, size), "fuzz.toml");
  if (!plan) {
    fuzz::require(!plan.error().empty(), "a refused file has an error");
    fuzz::require_good(plan.error());
    return 0;
  }
  std::set<std::string> seen;
  for (const Measurement& m : plan->measurements) {
    fuzz::require(find_family(m.sample.family) != nullptr, "a family is known");
    fuzz::require(seen.insert(key(m)).second, "nothing is measured twice");
  }
  return 0;
}
