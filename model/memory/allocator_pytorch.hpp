#pragma once
#include <optional>
#include <vector>

#include "model/memory/block_heap.hpp"

namespace tbdsim {

/// PyTorch's caching allocator: requests are rounded to 512 bytes; up to 1 MiB they come from segments of 2 MiB, below
/// 10 MiB from segments of 20 MiB, else from segments of their own size rounded to 2 MiB. The smallest free block of the
/// same stream and pool that holds the request serves it and is split where enough remains (512 bytes in the small
/// pool, more than 1 MiB in the large one). Freed blocks join their free neighbours and stay. When the device is full,
/// free segments go back to the driver and the request is tried again.
///
/// Ignores max_split_size, expandable segments and roundup settings, which are off by default.
/// Source: pytorch/pytorch v1.13 c10/cuda/CUDACachingAllocator.cpp.
class PytorchAllocator {
 public:
  using Handle = std::int32_t;
  /// `capacity`: what the driver can give; none: without end.
  explicit PytorchAllocator(std::optional<Bytes> capacity = std::nullopt);

  /// Nothing when the device is out of memory even after cached segments went back.
  [[nodiscard]] std::optional<Handle> allocate(Bytes bytes, int stream = 0);
  void free(Handle handle);

  [[nodiscard]] Bytes allocated() const { return Bytes(static_cast<double>(allocated_)); }       ///< rounded requests
  [[nodiscard]] Bytes reserved() const { return Bytes(static_cast<double>(heap_.obtained())); }  ///< held from the driver
  [[nodiscard]] const BlockHeap& heap() const { return heap_; }

 private:
  struct Free {
    std::int32_t stream;
    std::int64_t bytes, address;
    std::int32_t block;
    auto operator<=>(const Free&) const = default;
  };
  using Pool = std::vector<Free>;  ///< sorted: few blocks are free at a time
  [[nodiscard]] Pool& pool(bool small) { return small ? small_ : large_; }
  [[nodiscard]] Free key(std::int32_t block) const;
  static void insert(Pool& free, const Free& block);
  static void replace(Pool& free, Pool::iterator old, const Free& block);
  [[nodiscard]] std::int32_t obtain(std::int64_t bytes);
  void release_cached();

  std::int64_t capacity_ = 0;
  BlockHeap heap_;
  Pool small_, large_;
  std::int64_t allocated_ = 0;
};

}  // namespace tbdsim
