#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// Bytes as allocators count them, what no device has cut off: sums of them stay within 64 bits.
[[nodiscard]] inline std::int64_t counted(Bytes bytes) {
  constexpr double kMost = 0x1p60;
  return std::llround(std::min(bytes.base(), kMost));
}

/// Memory that an allocator obtained from the driver in segments and cut into blocks. Blocks of a segment form a
/// chain in address order; splitting and merging keep it gapless. Which free block serves a request is the
/// allocator's business.
class BlockHeap {
 public:
  struct Block {
    std::int64_t address = 0, bytes = 0;  ///< addresses are virtual: segments follow one another, a gap apart
    std::int32_t previous = -1, next = -1;
    std::int32_t stream = 0;
    bool used = false, small = false;
  };

  /// A new segment as one free block; returns the block.
  std::int32_t obtain(std::int64_t bytes);
  /// Cuts a free block in two; the block keeps its first `bytes`. Returns the rest.
  std::int32_t split(std::int32_t block, std::int64_t bytes);
  /// Joins a free block with its free neighbours; `absorb` is called with each neighbour before it vanishes. Returns
  /// the joined block.
  template <class Absorb>
  std::int32_t merge(std::int32_t block, const Absorb& absorb) {
    const std::int32_t next = at(block).next;
    if (next >= 0 && !at(next).used) {
      absorb(next);
      join(block, next);
    }
    const std::int32_t previous = at(block).previous;
    if (previous < 0 || at(previous).used) return block;
    absorb(previous);
    join(previous, block);
    return previous;
  }
  /// Gives a segment that is one free block back to the driver. Expects `whole(block)`.
  void give_back(std::int32_t block);
  [[nodiscard]] bool whole(std::int32_t block) const { return at(block).previous < 0 && at(block).next < 0; }

  [[nodiscard]] Block& at(std::int32_t block) { return blocks_[static_cast<std::size_t>(block)]; }
  [[nodiscard]] const Block& at(std::int32_t block) const { return blocks_[static_cast<std::size_t>(block)]; }
  [[nodiscard]] std::int64_t obtained() const { return obtained_; }  ///< bytes held from the driver

 private:
  std::int32_t make(const Block& block);
  void join(std::int32_t block, std::int32_t next);

  std::vector<Block> blocks_;
  std::vector<std::int32_t> vanished_;  ///< indices to use again
  std::int64_t obtained_ = 0, next_address_ = 0;
};

}  // namespace tbdsim
