#include "model/memory/replay.hpp"

#include <algorithm>

#include "model/memory/allocator_bfc.hpp"
#include "model/memory/allocator_pytorch.hpp"

namespace tbdsim {
namespace {

template <class Allocator>
class Replayer {
 public:
  Replayer(const AllocationTrace& trace, std::int32_t nodes, std::optional<Bytes> capacity)
      : trace_(trace), allocator_(capacity), handles_(trace.arrays.size(), -1) {
    result_.held.assign(static_cast<std::size_t>(nodes), Bytes(0.0));
  }

  Replay run(std::span<const Bytes> persistent) {
    for (const Bytes bytes : persistent) {
      if (bytes > Bytes(0.0) && !request(bytes)) return std::move(result_);
    }
    for (int step = 0; step < 2; ++step)
      if (!one_step()) return std::move(result_);
    return std::move(result_);
  }

 private:
  std::optional<typename Allocator::Handle> request(Bytes bytes) {
    const auto handle = allocator_.allocate(bytes);
    result_.fits = handle.has_value();
    result_.allocated = std::max(result_.allocated, allocator_.allocated());
    result_.reserved = std::max(result_.reserved, allocator_.reserved());
    return handle;
  }

  bool one_step() {
    std::size_t node = 0;
    for (const AllocationEvent& event : trace_.events) {
      for (; node < static_cast<std::size_t>(event.node); ++node) result_.held[node] = allocator_.reserved();
      auto& handle = handles_[static_cast<std::size_t>(event.array)];
      if (event.frees) {
        allocator_.free(handle);
        handle = -1;
        continue;
      }
      const auto made = request(trace_.arrays[static_cast<std::size_t>(event.array)].bytes);
      if (!made) return false;
      handle = *made;
    }
    for (; node < result_.held.size(); ++node) result_.held[node] = allocator_.reserved();
    for (auto& handle : handles_) {
      if (handle >= 0) allocator_.free(handle);
      handle = -1;
    }
    return true;
  }

  const AllocationTrace& trace_;
  Allocator allocator_;
  std::vector<typename Allocator::Handle> handles_;
  Replay result_;
};

}  // namespace

Replay replay(const AllocationTrace& trace, std::span<const Bytes> persistent, std::int32_t nodes, MemoryPlan plan,
              std::optional<Bytes> capacity) {
  if (plan == MemoryPlan::bfc) return Replayer<BfcAllocator>(trace, nodes, capacity).run(persistent);
  return Replayer<PytorchAllocator>(trace, nodes, capacity).run(persistent);
}

}  // namespace tbdsim
