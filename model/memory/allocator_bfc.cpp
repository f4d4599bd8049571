#include "model/memory/allocator_bfc.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace tbdsim {
namespace {

constexpr std::int64_t kUnit = 256;
constexpr std::int64_t kFirstRegion = std::int64_t{1} << 20;
constexpr std::int64_t kMostWaste = std::int64_t{128} << 20;
constexpr Bytes kSystemLeast{300.0 * 1024 * 1024};
constexpr double kBackOff = 0.9;  // a region that the device cannot give is tried again at nine tenths

std::int64_t rounded(std::int64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

}  // namespace

Bytes bfc_limit(Bytes free_memory, double system_share) {
  return std::max(free_memory - std::max(kSystemLeast, system_share * free_memory), Bytes(0.0));
}

Bytes bfc_free_memory(Bytes limit, double system_share) {
  return std::max(limit + kSystemLeast, 1.0 / (1.0 - system_share) * limit);
}

BfcAllocator::BfcAllocator(std::optional<Bytes> capacity)
    : capacity_(capacity ? counted(*capacity) : std::numeric_limits<std::int64_t>::max()),
      next_region_(std::min(capacity_, kFirstRegion)) {}

std::size_t BfcAllocator::bin_of(std::int64_t bytes) {
  const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, kUnit) / kUnit);
  return std::min<std::size_t>(kBins - 1, static_cast<std::size_t>(std::bit_width(units)) - 1);
}

BfcAllocator::Free BfcAllocator::key(std::int32_t block) const { return {heap_.at(block).bytes, heap_.at(block).address, block}; }

std::int32_t BfcAllocator::take(std::int64_t bytes) {
  for (std::size_t bin = bin_of(bytes); bin < kBins; ++bin) {
    const auto found = bins_[bin].lower_bound(Free{bytes, 0, -1});
    if (found == bins_[bin].end()) continue;
    const std::int32_t block = found->block;
    bins_[bin].erase(found);
    return block;
  }
  return -1;
}

bool BfcAllocator::extend(std::int64_t bytes) {
  const std::int64_t available = (capacity_ - heap_.obtained()) / kUnit * kUnit;
  if (bytes > available) return false;
  bool grew = false;
  while (next_region_ < bytes) {
    next_region_ *= 2;
    grew = true;
  }
  std::int64_t region = next_region_;
  while (region > available)
    region = std::max(bytes, static_cast<std::int64_t>(static_cast<double>(region) * kBackOff) / kUnit * kUnit);
  if (!grew) next_region_ *= 2;
  const std::int32_t block = heap_.obtain(region);
  bins_[bin_of(region)].insert(key(block));
  return true;
}

std::optional<BfcAllocator::Handle> BfcAllocator::allocate(Bytes bytes) {
  const std::int64_t size = rounded(std::max<std::int64_t>(1, counted(bytes)));
  std::int32_t block = take(size);
  if (block < 0) {
    if (!extend(size)) return std::nullopt;
    block = take(size);
  }
  const std::int64_t has = heap_.at(block).bytes;
  if (has >= 2 * size || has - size >= kMostWaste) {
    const std::int32_t rest = heap_.split(block, size);
    bins_[bin_of(heap_.at(rest).bytes)].insert(key(rest));
  }
  heap_.at(block).used = true;
  allocated_ += heap_.at(block).bytes;
  return block;
}

void BfcAllocator::free(Handle handle) {
  BlockHeap::Block& block = heap_.at(handle);
  assert(block.used);
  block.used = false;
  allocated_ -= block.bytes;
  const std::int32_t joined =
      heap_.merge(handle, [&](std::int32_t neighbour) { bins_[bin_of(heap_.at(neighbour).bytes)].erase(key(neighbour)); });
  bins_[bin_of(heap_.at(joined).bytes)].insert(key(joined));
}

}  // namespace tbdsim
