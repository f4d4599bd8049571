#include "model/cost/pipelined_gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace tbdsim {
namespace {

/// Tiles in the names of cuBLAS kernels for Ampere and Hopper, one array for each of their numbers: bounds are computed of all at
/// once.
constexpr std::size_t kTiles = 11;
struct Tiles {
  std::array<double, kTiles> m{256, 128, 128, 256, 64, 128, 64, 64, 32, 32, 16},
      n{128, 256, 128, 64, 256, 64, 128, 64, 128, 64, 64};
  std::array<double, kTiles> area{}, perimeter{}, per_m{}, per_n{};
  std::array<double, kTiles> occupancy{}, share{};  ///< blocks of this size that a multiprocessor holds, and 1 over it
};
constexpr Tiles all_tiles() {
  Tiles t;
  for (std::size_t i = 0; i < kTiles; ++i) {
    t.area[i] = t.m[i] * t.n[i];
    t.per_m[i] = 1.0 / t.m[i];
    t.per_n[i] = 1.0 / t.n[i];
    t.perimeter[i] = t.per_m[i] + t.per_n[i];
    t.occupancy[i] = std::clamp(32768.0 / t.area[i], 1.0, 4.0);
    t.share[i] = 1.0 / t.occupancy[i];
  }
  return t;
}
constexpr Tiles kTile = all_tiles();
constexpr std::array<double, 7> kSplits{1, 2, 3, 4, 6, 8, 16};
constexpr double kShortestPart = 128.0;  // of a split of k
constexpr double kMostSplitWaves = 2.0;  // of blocks that are parts of a split
constexpr double kDepth = 32.0;          // k-steps come in multiples of it
constexpr double kFewestRows = 16.0;
constexpr Bytes kPartial(8.0);              // of a split: fp32, written and read
constexpr Seconds kMemoryLatency(0.13e-6);  // fitted together with the constants of the kernels
// Of the copies that a benchmark cycles through, those that fit: all below 0.8 of the cache, none above 1.2 of it.
constexpr double kCacheEnd = 1.2, kCacheRange = 0.4;

/// std::ceil of a number from zero to 2^51, of several at once where a compiler sees them side by side.
double whole(double x) {
  constexpr double kWhole = 0x1p52;
  const double near = (x + kWhole) - kWhole;
  return near + (near < x ? 1.0 : 0.0);
}

double cube(double x) { return x * x * x; }

/// (1 + r)^(1/3) for r from 0 to 1, without a call into the library: two steps of Newton's from a parabola that is off by 0.002
/// at most; correct to 1e-11.
double root_of_one_and(double r) {
  const double sum = 1.0 + r;
  double y = 1.0 + r * (0.3196 - 0.0608 * r);
  for (int i = 0; i < 2; ++i) y -= (cube(y) - sum) / (3.0 * y * y);
  return y;
}

/// (a^3 + b^3)^(1/3).
double norm3(double a, double b) {
  const double most = std::max(a, b), least = std::min(a, b);
  return most == 0.0 ? 0.0 : most * root_of_one_and(cube(least / most));
}

/// Bytes of a product that a benchmark finds in the cache.
double cached_bytes(const GemmShape& shape, double rows, double weights, double results, const KernelRates& rates) {
  if (shape.weight_copies == 0 || rates.cache <= Bytes(0.0)) return 0.0;
  const double held = (shape.weight_copies * weights + rows + results) / rates.cache.base();
  return (rows + weights + results) * std::clamp((kCacheEnd - held) / kCacheRange, 0.0, 1.0);
}

/// Tile that a library takes for so many rows, and how many of them it multiplies together.
struct RowsTile {
  double most = INFINITY;  ///< rows
  double m = 0, n = 0, together = 1;
};
// CUTLASS as SGLang calls it: the jumps of its times over rows.
constexpr std::array<RowsTile, 8> kHopperTiles{{{16, 16, 64},
                                                {32, 32, 64},
                                                {64, 64, 64},
                                                {128, 64, 64},
                                                {256, 128, 128},
                                                {512, 128, 128, 2},
                                                {1024, 128, 128},
                                                {INFINITY, 128, 128, 2}}};
constexpr std::array<RowsTile, 5> kAdaTiles{{{16, 16, 64}, {64, 32, 64}, {128, 64, 64}, {256, 64, 128}, {INFINITY, 128, 128}}};

RowsTile tile_by_rows(TileRule rule, double rows) {
  const std::span<const RowsTile> classes =
      rule == TileRule::cutlass_hopper ? std::span<const RowsTile>(kHopperTiles) : kAdaTiles;
  for (const RowsTile& c : classes) {
    if (rows <= c.most) return c;
  }
  return {};
}

/// Bytes that waves of blocks fetch again of an operand that the cache cannot hold. A wave walks down a column of tiles and on to
/// the next; each needs all rows again, but waves that hold several columns need them once.
class Rereads {
 public:
  Rereads() = default;
  /// `rows`, `weights`: bytes of one product's operands.
  Rereads(const PipelinedConstants& constants, double rows, double weights, Bytes cache)
      : rows_first_(info(constants.tiles).rows_first),
        rows_(constants.reread * rows * beyond(rows, cache)),
        weights_(constants.reread * weights * beyond(weights, cache)) {}
  [[nodiscard]] bool any() const { return rows_first_ ? rows_ > 0.0 : rows_ > 0.0 && weights_ > 0.0; }
  /// `waves` of one product of so many tiles down and across.
  [[nodiscard]] double bytes(double down, double across, double waves) const {
    const double again = std::max(waves, 1.0);
    const double rows = rows_ * (std::min(across, again) - 1.0);
    return rows_first_ ? rows : std::min(rows, weights_ * (std::min(down, again) - 1.0));
  }

 private:
  static double beyond(double bytes, Bytes cache) {
    if (cache <= Bytes(0.0)) return 1.0;
    return 1.0 - std::clamp((kCacheEnd - bytes / cache.base()) / kCacheRange, 0.0, 1.0);
  }
  bool rows_first_ = false;
  double rows_ = 0.0, weights_ = 0.0;
};

/// What a tiling's arithmetic takes: `multiply` and the waiting for `load` overlap, `first` does not.
struct Work {
  double waves, multiply, load, first;
};

Work work(std::size_t t, double blocks, double depth, double per_step, double latency, double per_result,
          const PipelinedConstants& c) {
  const double busy = std::max(blocks, 1.0), resident = whole(blocks * kTile.share[t]);
  const double together = blocks <= 1.0 ? 1.0 : kTile.occupancy[t] * resident;
  const double x = c.wave_smoothing, y = c.resident_waves;
  const double waves = (1.0 - y) * ((1.0 - x) * whole(blocks) + x * busy) + y * together;
  return {waves, waves * per_step * depth, resident * latency * depth, busy * per_result};
}

}  // namespace

ProductElements product_elements(Bytes operand) {
  constexpr Bytes kHalf(2.0);
  return {operand, std::max(operand, kHalf)};
}

Seconds quantize_time(double elements, const PipelinedConstants& constants, const KernelRates& rates) {
  constexpr Bytes kMoved(3.0);
  const Bytes moved = elements * kMoved;
  const bool cached = moved < rates.cache / 2.0;
  const double faster = cached ? std::max<double>(1.0, rates.cache_bandwidth / rates.bandwidth) : 1.0;
  return constants.quantize_launch + constants.quantize_passes * moved / (rates.quantize_bandwidth * faster);
}

// Long because the bounds that spare tiles and splits read every term of the time; it runs for each product of each step.
TiledGemm pipelined_gemm(const GemmShape& shape, Bytes element, const PipelinedConstants& constants, const KernelRates& rates) {
  constexpr Bytes kHalf(2.0);
  const ProductElements bytes = product_elements(element);
  const double sms = rates.multiprocessors, bandwidth = rates.bandwidth.base();
  const double rows = (shape.rows_held > 0.0 ? shape.rows_held : shape.m * shape.k * shape.count) * bytes.operand.base();
  const double weights = (shape.weights_held > 0.0 ? shape.weights_held : shape.k * shape.n * shape.count) * bytes.operand.base();
  const double results = shape.m * shape.n * shape.count * bytes.result.base();
  const double faster = std::max(1.0, rates.cache_bandwidth.base() / bandwidth);
  const double cached = cached_bytes(shape, rows, weights, results, rates);
  const double memory = (rows + weights + results - cached * (1.0 - 1.0 / faster)) / bandwidth + kMemoryLatency.base();
  const double cubed_memory = cube(memory);
  const double per_flop = constants.compute_scale * sms / rates.flops.base(),
               latency = constants.load_latency.base() * (element / kHalf);
  const double per_partial = kPartial.base() * shape.m * shape.n * shape.count / (bandwidth * faster);
  const double split_time = constants.split_cycles / rates.boost.base();
  const double most_rows = 2.0 * std::max(shape.m, kFewestRows);
  const bool ruled = constants.tiles != TileRule::fastest;
  const RowsTile by_rows = ruled ? tile_by_rows(constants.tiles, shape.m) : RowsTile{};
  const Rereads rereads =
      constants.reread > 0.0 ? Rereads(constants, rows / shape.count, weights / shape.count, rates.cache) : Rereads();
  const bool reread = rereads.any();
  const double per_together = 1.0 / by_rows.together, per_sm = 1.0 / sms, per_depth = shape.k / kDepth;
  // Of each tile: tiles down, across and in all, and what whole tiles take even without idle multiprocessors and waiting loads.
  std::array<double, kTiles> down, across, tiles, per_step, per_result, least;
  std::array<Work, kTiles> undivided;
  const double whole_depth = kDepth * whole(per_depth), epilogue = constants.epilogue.base() * bytes.result.base();
  const double step = 2.0 * per_flop, penalty = constants.tile_penalty;
  for (std::size_t i = 0; i < kTiles; ++i) {
    down[i] = whole(shape.m * kTile.per_m[i] * per_together) * by_rows.together;
    across[i] = whole(shape.n * kTile.per_n[i]);
    tiles[i] = down[i] * across[i] * shape.count;
    per_step[i] = step * kTile.area[i] * (1.0 + penalty * kTile.perimeter[i]);
    per_result[i] = epilogue * kTile.area[i];
    const Work w = work(i, tiles[i] * per_sm, whole_depth, per_step[i], latency, per_result[i], constants);
    undivided[i] = w;
    least[i] = std::max(w.multiply, w.load) + w.first;
  }
  std::size_t first = 0;
  for (std::size_t i = 1; i < kTiles; ++i) first = least[i] < least[first] ? i : first;
  TiledGemm result;
  double best = INFINITY, best_moved = memory, best_steps = 0.0, best_blocks = 1.0;
  const auto taken = [&](std::size_t i) {
    return ruled ? kTile.m[i] == by_rows.m && kTile.n[i] == by_rows.n : kTile.m[i] <= most_rows;
  };
  // Of each split: its k-steps, and what the parts cost beside. Parts beyond whole waves only add traffic.
  std::array<double, kSplits.size()> depth, beside;
  std::size_t splits = 0;
  for (; splits < kSplits.size() && !(kSplits[splits] > 1.0 && (!constants.splits || shape.k < kShortestPart * kSplits[splits]));
       ++splits) {}
  for (std::size_t i = 0; i < kSplits.size(); ++i) {
    depth[i] = kDepth * whole(per_depth / kSplits[i]);
    beside[i] = i > 0 ? split_time + kSplits[i] * per_partial : 0.0;
  }
  const auto try_tiling = [&](std::size_t t, std::size_t split, double blocks, const Work& w) {
    const double room = best - beside[split], larger = std::max(w.multiply, w.load);
    const double moved =
        reread ? memory + shape.count * rereads.bytes(down[t], across[t], blocks / shape.count) / bandwidth : memory;
    const double cubed_moved = reread ? cube(moved) : cubed_memory, most = cube(room) - cubed_moved;
    // A 3-norm lies above the chord between its ends: most tilings need no cube root to lose.
    constexpr double kChord = 0.2599;  // below 2^(1/3) - 1
    const double part = cube(std::min(w.multiply, w.load) / larger);
    if (cube(larger * (1.0 + kChord * part) + w.first) >= most) return;
    const double compute = larger * root_of_one_and(part) + w.first;
    if (!(cube(compute) < most)) return;
    best = norm3(compute, moved) + beside[split];
    best_moved = moved;
    best_steps = depth[split];
    best_blocks = blocks;
    result.compute = Seconds(compute);
    result.first = Seconds(w.first);
    result.busy_part = std::min(1.0, blocks / w.waves);
    result.tile_m = static_cast<int>(kTile.m[t]);
    result.tile_n = static_cast<int>(kTile.n[t]);
    result.split = static_cast<int>(kSplits[split]);
  };
  const auto try_tile = [&](std::size_t t) {
    const double alone = tiles[t] * per_sm;
    if (least[t] < best) try_tiling(t, 0, alone, undivided[t]);
    if (alone > 1.0) return;
    for (std::size_t s = 1; s < splits; ++s) {
      const double blocks = alone * kSplits[s], room = best - beside[s];
      if (blocks > kMostSplitWaves || room <= memory) break;  // further splits write more
      // Even without idle multiprocessors and waiting loads this takes longer.
      if (std::max(blocks, 1.0) * (per_step[t] * depth[s] + per_result[t]) >= room) continue;
      try_tiling(t, s, blocks, work(t, blocks, depth[s], per_step[t], latency, per_result[t], constants));
    }
  };
  if (taken(first)) try_tile(first);
  for (std::size_t i = 0; i < kTiles; ++i)
    if (i != first && taken(i)) try_tile(i);
  const double flop = 2.0 * shape.m * shape.n * shape.k * shape.count;
  const double sustained = flop / rates.sustained.base();
  if (sustained > best) best += best / (best + rates.power_time.base()) * (sustained - best);
  result.time = Seconds(best);
  result.memory = Seconds(best_moved);
  result.executed = Flop(2.0 * result.tile_m * result.tile_n * best_steps * best_blocks * sms);
  return result;
}

}  // namespace tbdsim
