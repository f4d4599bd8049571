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
constexpr double kLarge = 128.0;        // rows and columns of a large tile
constexpr double kMinimumDepth = 32.0;  // of a split part: shorter ones take as long

/// std::ceil of a number from zero on; that one is a call into the library where SSE 4.1 is not assumed, a sixth of the time
/// here.
double whole(double x) {
  constexpr double kAllWhole = 0x1p52;  // doubles from here on have no fraction
  if (!(x < kAllWhole)) return x;
  const auto down = static_cast<double>(static_cast<std::int64_t>(x));
  return down < x ? down + 1.0 : down;
}

double cube(double x) { return x * x * x; }

/// FLOP that a k-step of a tile takes as long as; `overhead`: what is no product, against the boards of the samples.
double tile_flop(const Tile& tile, bool transposed_b, const TileConstants& constants, double overhead) {
  const double area = tile.m * tile.n;
  // Turning an element of B costs the same however many rows then use it.
  const double turning = transposed_b ? constants.transpose_penalty * tile.n : 0.0;
  const double cost = (tile.m < kLarge ? constants.short_tiles : 1.0) * (tile.n < kLarge ? constants.narrow_tiles : 1.0);
  return 2.0 * (area + overhead * (constants.tile_penalty * (tile.m + tile.n) + turning)) * cost;
}

/// Share of the bandwidth that a product reaches. Kernels for few rows wait for their loads; what has more rows holds those few,
/// so it moves its bytes in no less time, unless the library (`few_rows_until`) changes to kernels that are faster even so.
double few_rows_share(const GemmShape& s, const TileConstants& constants) {
  const double few = s.transposed_b ? constants.few_rows_transposed : constants.few_rows_bandwidth;
  const double most = std::max(s.m, s.n), least = std::min(s.m, s.n);
  if (least <= kFewRows) return few;
  if (few >= 1.0 || least > constants.few_rows_until) return 1.0;
  const double beside = most * s.k, of_few = kFewRows * (most + s.k) + beside, all = least * (most + s.k) + beside;
  return std::min(1.0, few * all / of_few);
}

}  // namespace

TiledGemm tiled_gemm(const GemmShape& shape, const GemmTraffic& traffic, const TileConstants& constants,
                     const KernelRates& rates) {
  const double sms = rates.multiprocessors;
  const double per_flop = constants.compute_scale * sms / rates.flops.base();
  const double share = few_rows_share(shape, constants);
  const double per_byte = 1.0 / (rates.bandwidth.base() * share);
  const double per_row = traffic.missed_translations > 0.0 ? traffic.missed_translations / rates.translations.base() : 0.0;
  const double partial = 2.0 * traffic.partial.base() * per_byte;
  const double prologue = rates.step_overhead * constants.prologue_depth;
  double best = INFINITY;
  TiledGemm result;
  double best_compute = 0.0, best_memory = 0.0, best_steps = 1.0, best_blocks = 1.0;
  const std::size_t menu = constants.largest_tile_only ? 1 : kTiles.size();
  const int max_split = constants.max_split;
  for (std::size_t i = 0; i < menu; ++i) {
    const Tile tile = kTiles[i];
    const double columns = whole(shape.n / tile.n);
    const double tiles = whole(shape.m / tile.m) * columns * shape.count;
    const double blocks = tiles / sms;  // on one multiprocessor, if they could be shared evenly
    const double step = tile_flop(tile, shape.transposed_b, constants, rates.step_overhead) * per_flop;
    const double translation = tiles * (tile.m + tile.n) * per_row;
    const double fixed = cube(translation);
    const double once = (traffic.operands.base() + constants.reread * traffic.rows.base() * (columns - 1.0)) * per_byte;
    double parts = 1.0, depth = shape.k;  // of a split: powers of two, so these are exact
    for (int split = 1; split <= max_split; split *= 2, parts *= 2.0, depth *= 0.5) {
      if (split > 1 && 2.0 * depth <= kMinimumDepth) break;
      const double steps = split > 1 ? std::max(depth, kMinimumDepth) : depth;
      const double memory = split > 1 ? once + parts * partial : once;
      const double rest = cube(memory) + fixed;
      // Even without idle multiprocessors this and every further split take longer.
      if (cube(blocks * step * (shape.k + parts * prologue)) + rest >= best) break;
      const double compute = whole(blocks * parts) * step * (steps + prologue);
      const double cubed = cube(compute) + rest;
      if (cubed < best) {
        best = cubed;
        best_compute = compute;
        best_memory = memory;
        best_steps = steps;
        best_blocks = blocks * parts;
        result.tile_m = static_cast<int>(tile.m);
        result.tile_n = static_cast<int>(tile.n);
        result.split = split;
      }
      // More parts than whole waves can use only add traffic.
      if (blocks * parts > 8.0) break;
    }
  }
  result.time = Seconds(std::cbrt(best));
  result.compute = Seconds(best_compute);
  result.memory = Seconds(best_memory);
  result.first = Seconds(best_compute * prologue / (best_steps + prologue));
  result.busy_part = best_blocks / whole(best_blocks);
  result.executed = Flop(2.0 * result.tile_m * result.tile_n * best_steps * best_blocks * sms);
  return result;
}

}  // namespace tbdsim
