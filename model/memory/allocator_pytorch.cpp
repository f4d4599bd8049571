#include "model/memory/allocator_pytorch.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace tbdsim {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kMinimum = 512;
constexpr std::int64_t kSmall = kMiB, kSmallSegment = 2 * kMiB;
constexpr std::int64_t kMiddle = 10 * kMiB, kMiddleSegment = 20 * kMiB;
constexpr std::int64_t kLargeUnit = 2 * kMiB;

std::int64_t rounded(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

std::int64_t segment_for(std::int64_t bytes) {
  if (bytes <= kSmall) return kSmallSegment;
  return bytes < kMiddle ? kMiddleSegment : rounded(bytes, kLargeUnit);
}

}  // namespace

PytorchAllocator::PytorchAllocator(std::optional<Bytes> capacity)
    : capacity_(capacity ? counted(*capacity) : std::numeric_limits<std::int64_t>::max()) {}

PytorchAllocator::Free PytorchAllocator::key(std::int32_t block) const {
  const BlockHeap::Block& b = heap_.at(block);
  return {b.stream, b.bytes, b.address, block};
}

void PytorchAllocator::release_cached() {
  for (Pool* free : {&small_, &large_})
    std::erase_if(*free, [&](const Free& cached) {
      const bool whole = heap_.whole(cached.block);
      if (whole) heap_.give_back(cached.block);
      return whole;
    });
}

/// A segment's block, or -1 when the device is full.
std::int32_t PytorchAllocator::obtain(std::int64_t bytes) {
  if (bytes > capacity_ - heap_.obtained()) release_cached();
  return bytes > capacity_ - heap_.obtained() ? -1 : heap_.obtain(bytes);
}

void PytorchAllocator::insert(Pool& free, const Free& block) {
  free.insert(std::lower_bound(free.begin(), free.end(), block), block);
}

/// Few places move where a block is replaced by what splitting or joining has made of it.
void PytorchAllocator::replace(Pool& free, Pool::iterator old, const Free& block) {
  if (block < *old) {
    const auto place = std::lower_bound(free.begin(), old, block);
    std::move_backward(place, old, old + 1);
    *place = block;
  } else {
    const auto place = std::lower_bound(old + 1, free.end(), block);
    std::move(old + 1, place, old);
    *(place - 1) = block;
  }
}

std::optional<PytorchAllocator::Handle> PytorchAllocator::allocate(Bytes bytes, int stream) {
  const std::int64_t size = rounded(std::max<std::int64_t>(1, counted(bytes)), kMinimum);
  const bool small = size <= kSmall;
  Pool& free = pool(small);
  std::int32_t block = -1;
  auto found = std::lower_bound(free.begin(), free.end(), Free{stream, size, 0, -1});
  if (found != free.end() && found->stream == stream) {
    block = found->block;
  } else {
    block = obtain(segment_for(size));
    if (block < 0) return std::nullopt;
    found = free.end();  // a full device gives free blocks back
    heap_.at(block).stream = stream;
    heap_.at(block).small = small;
  }
  const std::int64_t remaining = heap_.at(block).bytes - size;
  const bool splits = small ? remaining >= kMinimum : remaining > kSmall;
  if (splits && found != free.end())
    replace(free, found, key(heap_.split(block, size)));
  else if (splits)
    insert(free, key(heap_.split(block, size)));
  else if (found != free.end())
    free.erase(found);
  heap_.at(block).used = true;
  allocated_ += heap_.at(block).bytes;
  return block;
}

void PytorchAllocator::free(Handle handle) {
  BlockHeap::Block& block = heap_.at(handle);
  assert(block.used);
  block.used = false;
  allocated_ -= block.bytes;
  Pool& free = pool(block.small);
  std::optional<Free> absorbed;
  const std::int32_t joined = heap_.merge(handle, [&](std::int32_t neighbour) {
    const Free one = key(neighbour);
    if (absorbed)
      free.erase(std::lower_bound(free.begin(), free.end(), one));
    else
      absorbed = one;
  });
  if (absorbed)
    replace(free, std::lower_bound(free.begin(), free.end(), *absorbed), key(joined));
  else
    insert(free, key(joined));
}

}  // namespace tbdsim
