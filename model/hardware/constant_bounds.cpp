#include "model/hardware/constant_bounds.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace tbdsim {
namespace {

// Latencies: dependent loads take some 30 cycles from shared memory, 200 to 300 from L2, up to 1,000 from device memory under
// load (Jia et al., arXiv:1804.06826 and arXiv:1903.07486; loaded memory assumed). A multiprocessor has 32 banks of shared memory
// for 64 to 128 lanes. A k-step of a 64 x 64 tile takes 32 cycles of 128 lanes, 8 of tensor cores.
constexpr std::array<ConstantBounds, 30> kBounds{{
    {"prologue_depth", 1, 64, 256,
     "the first loads of a tile and its last stores take up to 2,000 cycles, a k-step of 64 x 64 32 of them, 8 on tensor cores"},
    {"tile_penalty", 0.5, 16, 16,
     "an operand loaded for a k-step takes the place of four multiply-adds, 128 lanes sharing 32 banks, at four times that in a "
     "bank "
     "conflict"},
    {"reread", 0.001, 1, 1, "a further column of tiles cannot read more of an operand again than all of it"},
    {"transpose_penalty", 0.1, 16, 16,
     "turning an element takes one access to shared memory, the place of four multiply-adds, at four times that in a bank "
     "conflict"},
    {"few_rows_bandwidth", 0.1, 2, 2, "a share of what other products reach, who reach half of the bandwidth or more"},
    {"few_rows_transposed", 0.1, 2, 2, "a share of what other products reach, who reach half of the bandwidth or more"},
    {"short_tiles", 1, 2, 2, "a tile of twice the rows, half of them empty, takes twice the time"},
    {"narrow_tiles", 0.6, 2, 2,
     "a tile of twice the columns, half of them empty, takes twice the time; a large one loses less than half by the registers "
     "it takes"},
    {"gather_penalty", 1, 32, 32, "both operands are turned, each like the one of a transposed product"},
    {"scatter_scale", 1, 4, 4, "the scatter replaces a gather that multiplies 4 positions for one at stride 2"},
    {"scatter_passes", 1, 16, 16, "adding 4 B in memory reads and writes a sector of 32 B"},
    {"winograd_fused_cost", 1, 2, 2, "the transforms have fewer operations than the products"},
    {"winograd_filter_passes", 0.1, 4, 4, "filters and transformed filters are read and written once, twice without the cache"},
    {"winograd_gemm_scale", 0.5, 2, 2, "the products of transformed tiles are matrix products of ordinary sizes"},
    {"transform_bandwidth", 0.2, 1.25, 1.25, "a share of what products reach, who reach eight tenths of the bandwidth"},
    {"transform_bandwidth_weights", 0.2, 1.25, 1.25, "a share of what products reach, who reach eight tenths of the bandwidth"},
    {"fft_scale", 0.5, 2, 2, "the products of transformed tiles are matrix products of ordinary sizes"},
    {"depthwise_bandwidth", 0.1, 1.25, 1.25, "a share of what products reach, who reach eight tenths of the bandwidth"},
    {"scale", 0.5, 4, 4,
     "an implicit product does the work of the plain one, with up to 4 positions multiplied for one at stride 2"},
    {"cycles", 1, 300, 300, "a load that nothing prefetches takes up to 300 cycles from L2"},
    {"attention share", 0.05, 1.4, 1.4,
     "no kernel multiplies faster than the peak; exponentials that hide are a third of the time"},
    {"attention share_8_bit", 0.05, 1.4, 1.4,
     "no kernel multiplies faster than the peak; exponentials that hide are a third of the time"},
    {"attention prologue", 0, 1000, 1000, "a block starts and ends in some thousand cycles"},
    {"attention tail", 0, 4, 4, "blocks of unlike length end within a few times the longest"},
    {"attention few_blocks", 0.25, 1, 1, "a block alone on its multiprocessor is no slower than beside others"},
    {"attention wide", 0.5, 1.5, 1.5, "wide heads leave room for fewer rows of a block, half of them at least"},
    {"attention window", 0, 500, 500, "a block starts and ends in some thousand cycles, once more at the other end of its mask"},
    {"attention split", 0.25, 2, 2, "keys are split until about every place has a block"},
    {"compute_efficiency", 0.02, 1.35, 1.35, "no board runs more than 35 % above the clock that it lists"},
    {"bandwidth_efficiency", 0.02, 1.1, 1.1, "no board moves more than its memory's rate, but for what stays in the cache"},
}};

}  // namespace

std::span<const ConstantBounds> constant_bounds() { return kBounds; }

const ConstantBounds& constant_bounds(std::string_view key) {
  const auto* const found = std::find_if(kBounds.begin(), kBounds.end(), [&](const ConstantBounds& b) { return b.key == key; });
  assert(found != kBounds.end());
  return *found;
}

}  // namespace tbdsim
