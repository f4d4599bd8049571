#include "model/cost/tiled_gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace tbdsim {
namespace {

struct Tile {
  double m, n;
};
// Tiles seen in the names of the vendor libraries' kernels (published kernel names of P100, V100, A100).
constexpr std::array<Tile, 8> kTiles{{{128, 128}, {128, 64}, {64, 128}, {64, 64}, {128, 32}, {32, 128}, {64, 32}, {32, 32}}};
constexpr double kMinimumDepth = 32.0;  // a split part shorter than this is not offered
// Libraries have kernels of their own for products this thin (DeepBench: cuBLAS 8 takes longer for 16 rows than for 32).
constexpr double kFewRows = 16.0;

/// std::ceil of a number from zero on; that one is a call into the library where SSE 4.1 is not assumed, a sixth of the time
/// here.
double whole(double x) {
  constexpr double kAllWhole = 0x1p52;  // doubles from here on have no fraction
  if (!(x < kAllWhole)) return x;
  const auto down = static_cast<double>(static_cast<std::int64_t>(x));
  return down < x ? down + 1.0 : down;
}

}  // namespace

TiledGemm tiled_gemm(const GemmShape& shape, const GemmTraffic& traffic, const TileConstants& constants,
                     const KernelRates& rates) {
  const double sms = rates.multiprocessors;
  const double per_flop = constants.compute_scale * sms / rates.flops.base();
  const bool few_rows = std::min(shape.m, shape.n) <= kFewRows;
  const double per_byte = 1.0 / (rates.bandwidth.base() * (few_rows ? constants.few_rows_bandwidth : 1.0));
  const double per_row = traffic.missed_translations > 0.0 ? traffic.missed_translations / rates.translations.base() : 0.0;
  double best = INFINITY;
  TiledGemm result;
  double best_compute = 0.0, best_memory = 0.0;
  const std::size_t menu = constants.largest_tile_only ? 1 : kTiles.size();
  const int max_split = constants.largest_tile_only ? 1 : constants.max_split;
  for (std::size_t i = 0; i < menu; ++i) {
    const Tile tile = kTiles[i];
    const double columns = whole(shape.n / tile.n);
    const double tiles = whole(shape.m / tile.m) * columns * shape.count;
    const double reuse = constants.tile_penalty * (tile.m + tile.n) / (tile.m * tile.n);
    // Turning an element of B costs the same however many rows then use it.
    const double turning = shape.transposed_b ? constants.transpose_penalty / tile.m : 0.0;
    const double tile_flop = 2.0 * tile.m * tile.n * (1.0 + reuse + turning);
    const double translation = tiles * (tile.m + tile.n) * per_row;
    const double fixed = translation * translation * translation;
    const double fixed_bytes = traffic.operands.base() + constants.reread * traffic.rows.base() * (columns - 1.0);
    for (int split = 1; split <= max_split; split *= 2) {
      if (split > 1 && shape.k / split < kMinimumDepth) break;
      const double waves = whole(tiles * split / sms);
      const double compute = waves * tile_flop * (shape.k / split + constants.prologue_depth) * per_flop;
      const double bytes = fixed_bytes + (split > 1 ? 2.0 * split * traffic.partial.base() : 0.0);
      const double memory = bytes * per_byte;
      const double cubed = compute * compute * compute + memory * memory * memory + fixed;
      if (cubed < best) {
        best = cubed;
        best_compute = compute;
        best_memory = memory;
        result.tile_m = static_cast<int>(tile.m);
        result.tile_n = static_cast<int>(tile.n);
        result.split = split;
      }
      // More parts than whole waves can use only add traffic.
      if (tiles * split > 8.0 * sms) break;
    }
  }
  result.time = Seconds(std::cbrt(best));
  result.compute = Seconds(best_compute);
  result.memory = Seconds(best_memory);
  return result;
}

}  // namespace tbdsim
