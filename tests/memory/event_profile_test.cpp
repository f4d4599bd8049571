// What exists at once between the operations of a step.
#include "model/memory/event_profile.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

// Node 0 makes 5, which stays; node 1 makes 10, gives it back, then makes 8; node 2 gives 8 back and makes 4. Beside them 100
// stay. Node by node, 10 and 8 would be counted together: 123. Never more than 100 + 5 + 10 exist.
TEST_CASE("an array that a node gives back before it asks for the next is not counted beside it") {
  const auto of = [](double bytes, std::int32_t birth, std::int32_t death) {
    return Lifetime{Bytes(bytes), MemoryPart::feature_maps, OpId{birth}, birth, death};
  };
  std::vector<Lifetime> arrays{of(5, 0, 3), of(10, 1, 2), of(8, 1, 3), of(4, 2, 3)};
  const std::vector<AllocationEvent> events{{0, 0, false}, {1, 1, false}, {1, 1, true},
                                            {2, 1, false}, {2, 2, true},  {3, 2, false}};
  arrays.push_back({Bytes(100.0), MemoryPart::weights, OpId{0}, 0, 3});
  const EventProfile counted = event_profile(arrays, events, 3);
  CHECK(counted.profile.live == std::vector<Bytes>{Bytes(105.0), Bytes(115.0), Bytes(113.0)});
  CHECK(counted.profile.peak == 1);
  CHECK(counted.held == std::vector<std::int32_t>{0, 1, 4});
  CHECK(counted.profile.at_peak[MemoryPart::feature_maps] == Bytes(15.0));
  CHECK(counted.profile.at_peak.total() == Bytes(115.0));
}

TEST_CASE("without events everything is there throughout") {
  const std::vector<Lifetime> arrays{{Bytes(7.0), MemoryPart::weights, OpId{}, 0, 2}};
  const EventProfile counted = event_profile(arrays, {}, 2);
  CHECK(counted.profile.live == std::vector<Bytes>{Bytes(7.0), Bytes(7.0)});
  CHECK(counted.profile.at_peak.total() == Bytes(7.0));
}
