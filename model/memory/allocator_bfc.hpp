#pragma once
#include <array>
#include <optional>
#include <set>

#include "model/memory/block_heap.hpp"

namespace tbdsim {

/// What a framework takes for its arrays of the memory that is free once the context is there: it leaves a share, at least
/// 300 MiB, to the system and to libraries. TensorFlow leaves a twentieth, JAX a quarter.
/// Source: tensorflow/tensorflow v1.15 core/common_runtime/gpu/gpu_device.cc, MinSystemMemory (neglects devices below 2 GiB); JAX
/// documentation, "GPU memory allocation": XLA_PYTHON_CLIENT_MEM_FRACTION is .75 (taken of what is free).
[[nodiscard]] Bytes bfc_limit(Bytes free_memory, double system_share = 0.05);
/// The least free memory of which it takes `limit`.
[[nodiscard]] Bytes bfc_free_memory(Bytes limit, double system_share = 0.05);

/// TensorFlow's best-fit allocator with coalescing, growing as needed (allow_growth): requests are rounded to 256 bytes;
/// free chunks lie in bins by powers of two, ordered by size and address; the first that holds the request serves it and
/// is split if it is at least twice as large or 128 MiB would be lost. Regions double in size, from 1 MiB.
///
/// Without allow_growth TensorFlow takes nearly the whole device at start; what it needs is the same.
/// Source: tensorflow/tensorflow v1.15 core/common_runtime/bfc_allocator.cc.
class BfcAllocator {
 public:
  using Handle = std::int32_t;
  explicit BfcAllocator(std::optional<Bytes> capacity = std::nullopt);

  /// Nothing when the device is out of memory.
  [[nodiscard]] std::optional<Handle> allocate(Bytes bytes);
  void free(Handle handle);

  [[nodiscard]] Bytes allocated() const { return Bytes(static_cast<double>(allocated_)); }
  [[nodiscard]] Bytes reserved() const { return Bytes(static_cast<double>(heap_.obtained())); }
  [[nodiscard]] const BlockHeap& heap() const { return heap_; }

 private:
  struct Free {
    std::int64_t bytes, address;
    std::int32_t block;
    auto operator<=>(const Free&) const = default;
  };
  static constexpr std::size_t kBins = 21;
  [[nodiscard]] static std::size_t bin_of(std::int64_t bytes);
  [[nodiscard]] Free key(std::int32_t block) const;
  /// A free chunk of at least `bytes`, taken out of its bin; -1: none.
  [[nodiscard]] std::int32_t take(std::int64_t bytes);
  [[nodiscard]] bool extend(std::int64_t bytes);

  std::int64_t capacity_ = 0, next_region_ = 0;
  BlockHeap heap_;
  std::array<std::set<Free>, kBins> bins_;
  std::int64_t allocated_ = 0;
};

}  // namespace tbdsim
