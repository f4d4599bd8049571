#include "model/memory/replay.hpp"

#include <algorithm>

#include "model/memory/allocator_bfc.hpp"
#include "model/memory/allocator_pytorch.hpp"

namespace tbdsim {
namespace {

template <class Allocator>
class Replayer {
 public:
  Replayer(const AllocationTrace& trace, std::span<const NodeCost> costs, std::int32_t nodes, std::optional<Bytes> capacity)
      : trace_(trace), costs_(costs), allocator_(capacity), handles_(trace.arrays.size(), -1), choices_(trace.arrays.size(), 0) {
    result_.held.assign(static_cast<std::size_t>(nodes), Bytes(0.0));
  }

  Replay run(std::span<const Bytes> persistent) {
    for (const Bytes bytes : persistent) {
      if (bytes > Bytes(0.0) && !request(bytes, true)) return std::move(result_);
    }
    for (int step = 0; step < 2; ++step)
      if (!one_step()) return std::move(result_);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (choices_[i] == 0) continue;
      const SmallerWorkspace& taken = instead(trace_.arrays[i])[choices_[i] - 1];
      result_.reduced.push_back({static_cast<std::int32_t>(i), taken.workspace, taken.longer});
    }
    return std::move(result_);
  }

 private:
  std::optional<typename Allocator::Handle> request(Bytes bytes, bool needed) {
    const auto handle = allocator_.allocate(bytes);
    result_.fits = handle.has_value();
    result_.allocated = std::max(result_.allocated, allocator_.allocated());
    result_.reserved = std::max(result_.reserved, allocator_.reserved());
    if (needed) result_.least = std::max(result_.least, allocator_.allocated() - spare_);
    return handle;
  }

  /// With how much less an array's operator can do.
  [[nodiscard]] std::span<const SmallerWorkspace> instead(const Lifetime& array) const {
    if (array.part != MemoryPart::workspace || costs_.empty()) return {};
    return costs_[static_cast<std::size_t>(array.birth)].smaller.all();
  }

  bool make(std::size_t index) {
    const Lifetime& array = trace_.arrays[index];
    const std::span<const SmallerWorkspace> smaller = instead(array);
    std::uint8_t& choice = choices_[index];
    const Bytes before = allocator_.allocated();
    for (;; ++choice) {
      const Bytes bytes = choice == 0 ? array.bytes : smaller[choice - 1U].workspace;
      result_.fits = true;
      if (bytes <= Bytes(0.0)) return true;
      if (const auto made = request(bytes, smaller.empty())) {
        handles_[index] = *made;
        if (!smaller.empty()) spare_ = allocator_.allocated() - before;
        return true;
      }
      if (choice == smaller.size()) return false;
    }
  }

  void free(std::size_t index) {
    auto& handle = handles_[index];
    if (handle < 0) return;
    allocator_.free(handle);
    handle = -1;
    if (!instead(trace_.arrays[index]).empty()) spare_ = Bytes(0.0);
  }

  bool one_step() {
    std::size_t node = 0;
    for (const AllocationEvent& event : trace_.events) {
      for (; node < static_cast<std::size_t>(event.node); ++node) result_.held[node] = allocator_.reserved();
      const auto index = static_cast<std::size_t>(event.array);
      if (event.frees)
        free(index);
      else if (!make(index))
        return false;
    }
    for (; node < result_.held.size(); ++node) result_.held[node] = allocator_.reserved();
    for (std::size_t index = 0; index < handles_.size(); ++index) free(index);
    return true;
  }

  const AllocationTrace& trace_;
  std::span<const NodeCost> costs_;
  Allocator allocator_;
  std::vector<typename Allocator::Handle> handles_;
  std::vector<std::uint8_t> choices_;  ///< of each array: 0: as asked for; n: the nth smaller workspace
  Bytes spare_;                        ///< scratch memory that is held now and could be done without
  Replay result_;
};

/// Whether all that is asked for, as if at once, is more than allocators count.
bool beyond_counting(const AllocationTrace& trace, std::span<const Bytes> persistent) {
  constexpr Bytes kMost(0x1p60);
  Bytes sum;
  for (const Bytes bytes : persistent) sum += bytes;
  for (const Lifetime& array : trace.arrays) sum += array.bytes;
  return sum > kMost;
}

/// A step of which no device has the memory.
Replay unplayed(const AllocationTrace& trace, std::span<const Bytes> persistent, std::int32_t nodes,
                std::optional<Bytes> capacity) {
  Bytes now, most;
  for (const Bytes bytes : persistent) now += bytes;
  most = now;
  for (const AllocationEvent& event : trace.events) {
    const Bytes bytes = trace.arrays[static_cast<std::size_t>(event.array)].bytes;
    now = event.frees ? now - bytes : now + bytes;
    most = std::max(most, now);
  }
  Replay result;
  result.fits = !capacity || most <= *capacity;
  result.allocated = result.reserved = result.least = most;
  result.held.assign(static_cast<std::size_t>(nodes), most);
  return result;
}

}  // namespace

Replay replay(const AllocationTrace& trace, std::span<const Bytes> persistent, std::span<const NodeCost> costs,
              std::int32_t nodes, MemoryPlan plan, std::optional<Bytes> capacity) {
  if (beyond_counting(trace, persistent)) return unplayed(trace, persistent, nodes, capacity);
  if (plan == MemoryPlan::bfc) return Replayer<BfcAllocator>(trace, costs, nodes, capacity).run(persistent);
  return Replayer<PytorchAllocator>(trace, costs, nodes, capacity).run(persistent);
}

LeastCapacity least_capacity(const AllocationTrace& trace, std::span<const Bytes> persistent, std::span<const NodeCost> costs,
                             std::int32_t nodes, MemoryPlan plan, CapacitySearch search) {
  constexpr double kClose = 1.0 / 250.0;
  const auto try_at = [&](Bytes capacity) {
    Replay tried = replay(trace, persistent, costs, nodes, plan, capacity);
    if (tried.fits)
      search.enough = {capacity, std::move(tried)};
    else
      search.low = capacity;
    return search.enough.capacity == capacity;
  };
  const Bytes close = kClose * search.enough.capacity;
  // Steps away from the device's end that double find the boundary next to it.
  Bytes step = close;
  while (search.enough.capacity - search.low > 2.0 * step &&
         try_at(search.upwards ? search.low + step : search.enough.capacity - step) != search.upwards)
    step = 2.0 * step;
  while (search.enough.capacity - search.low > close) (void)try_at(search.low + 0.5 * (search.enough.capacity - search.low));
  return std::move(search.enough);
}

}  // namespace tbdsim
