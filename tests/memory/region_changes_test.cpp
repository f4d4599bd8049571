// What an allocator whose regions double takes where arrays are of other sizes.
#include "model/memory/region_changes.hpp"

#include <algorithm>

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

constexpr double kKiB = 1024.0;

/// A feature map of 400 KiB, and beside it scratch memory that is gone before the map, all in the first region, which has
/// 1 MiB.
StepMemory step(double workspace) {
  StepMemory memory;
  memory.arrays = {{Bytes(400.0 * kKiB), MemoryPart::feature_maps, OpId{0}, 0, 2},
                   {Bytes(workspace * kKiB), MemoryPart::workspace, OpId{0}, 1, 1}};
  memory.ops = {OpId{0}, OpId{0}, OpId{0}};
  memory.events = {{0, 0, false}, {1, 1, false}, {1, 1, true}, {0, 2, true}};
  return memory;
}

Bytes most(double workspace, ArrayDoubt doubt) {
  const std::vector<Bytes> changes = region_changes(step(workspace), doubt, 6);
  return *std::max_element(changes.begin(), changes.end());
}

Bytes least(double workspace, ArrayDoubt doubt) {
  const std::vector<Bytes> changes = region_changes(step(workspace), doubt, 6);
  return *std::min_element(changes.begin(), changes.end());
}

}  // namespace

TEST_CASE("each array is as uncertain as its kind: scratch memory may need a region that feature maps do not") {
  // Nothing is in doubt, nothing changes.
  CHECK(most(500.0, {0.0, 0.0}) == Bytes(0.0));
  // 4 % more of 400 and 500 KiB fit 1 MiB; scratch memory of nearly twice its size takes the next region, of 2 MiB.
  CHECK(most(500.0, {0.04, 0.04}) == Bytes(0.0));
  CHECK(most(500.0, {0.04, 0.64}) == Bytes(2048.0 * kKiB));
  // Above the edge by as much: a smaller one does without that region.
  CHECK(least(700.0, {0.04, 0.04}) == Bytes(0.0));
  CHECK(least(700.0, {0.04, 0.64}) == Bytes(-2048.0 * kKiB));
}
