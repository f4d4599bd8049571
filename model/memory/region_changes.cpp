#include "model/memory/region_changes.hpp"

#include <algorithm>
#include <cmath>

#include "model/memory/block_heap.hpp"
#include "model/memory/replay.hpp"

namespace tbdsim {
namespace {

/// A number from -1 to 1 that arrays of one size have in common, another in each world. Source: Steele, Lea & Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64).
double deviation(Bytes bytes, std::size_t world) {
  std::uint64_t z = static_cast<std::uint64_t>(counted(bytes)) + (world + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-52 - 1.0;
}

}  // namespace

std::vector<Bytes> region_changes(const StepMemory& memory, ArrayDoubt doubt, int worlds) {
  std::size_t traced = 0;
  for (const AllocationEvent& event : memory.events) traced = std::max(traced, static_cast<std::size_t>(event.array) + 1);
  std::vector<Bytes> stays;
  for (std::size_t i = traced; i < memory.arrays.size(); ++i) stays.push_back(memory.arrays[i].bytes);
  AllocationTrace trace{{}, memory.events};
  // `all`: from -1 to 1, what the arrays have in common; `apart`: how much of their doubt each size has of its own.
  const auto reserved = [&](double all, double apart, std::size_t world) {
    trace.arrays.assign(memory.arrays.begin(), memory.arrays.begin() + static_cast<std::ptrdiff_t>(traced));
    for (Lifetime& array : trace.arrays) {
      if (array.part == MemoryPart::gradients) continue;
      const double spread = array.part == MemoryPart::workspace ? doubt.workspace : doubt.maps;
      array.bytes *= std::exp(spread * all) * (1.0 + apart * spread * deviation(array.bytes, world));
    }
    return replay(trace, stays, {}, static_cast<std::int32_t>(memory.ops.size()), MemoryPlan::bfc, std::nullopt).reserved;
  };
  const Bytes as_it_is = reserved(0.0, 0.0, 0);
  std::vector<Bytes> changes;
  for (int world = 0; world < worlds; ++world) {
    const double all = worlds > 1 ? 2.0 * world / (worlds - 1) - 1.0 : 0.0;
    changes.push_back(reserved(all, 0.5, static_cast<std::size_t>(world)) - as_it_is);
  }
  return changes;
}

}  // namespace tbdsim
