#include "model/memory/block_heap.hpp"

#include <cassert>

namespace tbdsim {

std::int32_t BlockHeap::make(const Block& block) {
  if (vanished_.empty()) {
    blocks_.push_back(block);
    return static_cast<std::int32_t>(blocks_.size()) - 1;
  }
  const std::int32_t index = vanished_.back();
  vanished_.pop_back();
  at(index) = block;
  return index;
}

std::int32_t BlockHeap::obtain(std::int64_t bytes) {
  Block block;
  block.address = next_address_;
  block.bytes = bytes;
  next_address_ += bytes + 1;
  obtained_ += bytes;
  return make(block);
}

std::int32_t BlockHeap::split(std::int32_t block, std::int64_t bytes) {
  assert(!at(block).used && bytes > 0 && bytes < at(block).bytes);
  Block rest = at(block);
  rest.address += bytes;
  rest.bytes -= bytes;
  rest.previous = block;
  const std::int32_t index = make(rest);
  if (rest.next >= 0) at(rest.next).previous = index;
  at(block).bytes = bytes;
  at(block).next = index;
  return index;
}

void BlockHeap::join(std::int32_t block, std::int32_t next) {
  at(block).bytes += at(next).bytes;
  at(block).next = at(next).next;
  if (at(next).next >= 0) at(at(next).next).previous = block;
  vanished_.push_back(next);
}

void BlockHeap::give_back(std::int32_t block) {
  assert(whole(block) && !at(block).used);
  obtained_ -= at(block).bytes;
  vanished_.push_back(block);
}

}  // namespace tbdsim
