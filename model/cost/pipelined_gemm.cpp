#include "model/cost/pipelined_gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace tbdsim {
namespace {

struct Tile {
  double m, n;
  double occupancy;     ///< blocks of this size that a multiprocessor holds
  double share;         ///< 1/occupancy
  double per_m, per_n;  ///< 1/m, 1/n
};
constexpr Tile tile(double m, double n) {
  const double occupancy = std::clamp(32768.0 / (m * n), 1.0, 4.0);
  return {m, n, occupancy, 1.0 / occupancy, 1.0 / m, 1.0 / n};
}
// Tiles in the names of cuBLAS kernels for Ampere and Hopper.
constexpr std::array<Tile, 11> kTiles{{tile(256, 128), tile(128, 256), tile(128, 128), tile(256, 64), tile(64, 256),
                                       tile(128, 64), tile(64, 128), tile(64, 64), tile(32, 128), tile(32, 64), tile(16, 64)}};
constexpr std::array<double, 7> kSplits{1, 2, 3, 4, 6, 8, 16};
constexpr double kShortestPart = 128.0;  // of a split of k
constexpr double kMostSplitWaves = 2.0;  // of blocks that are parts of a split
constexpr double kDepth = 32.0;          // k-steps come in multiples of it
constexpr double kFewestRows = 16.0;
constexpr Bytes kPartial(8.0);              // of a split: fp32, written and read
constexpr Seconds kMemoryLatency(0.13e-6);  // fitted together with the constants of the kernels
// Of the copies that a benchmark cycles through, those that fit: all below 0.8 of the cache, none above 1.2 of it.
constexpr double kCacheEnd = 1.2, kCacheRange = 0.4;

/// std::ceil of a number from zero on, without a call into the library.
double whole(double x) {
  constexpr double kAllWhole = 0x1p52;
  if (!(x < kAllWhole)) return x;
  const auto down = static_cast<double>(static_cast<std::int64_t>(x));
  return down < x ? down + 1.0 : down;
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

/// What a tiling takes. `memory` and `cubed_memory` are the same for all.
struct Candidate {
  double waves, compute, first;
};

/// `most`: the cube of the arithmetic from which on the tiling loses.
Candidate candidate(const Tile& t, double blocks, double depth, double per_step, double latency, double per_result,
                    const PipelinedConstants& c, double most) {
  const double busy = std::max(blocks, 1.0), resident = whole(blocks * t.share);
  const double together = blocks <= 1.0 ? 1.0 : t.occupancy * resident;
  const double x = c.wave_smoothing, y = c.resident_waves;
  Candidate result{};
  result.waves = (1.0 - y) * ((1.0 - x) * whole(blocks) + x * busy) + y * together;
  const double multiply = result.waves * per_step * depth, load = resident * latency * depth;
  result.first = busy * per_result;
  // A 3-norm lies above the chord between its ends: most tilings need no cube root to lose.
  constexpr double kChord = 0.2599;  // below 2^(1/3) - 1
  const double larger = std::max(multiply, load), part = cube(std::min(multiply, load) / larger);
  const bool loses = cube(larger * (1.0 + kChord * part) + result.first) >= most;
  result.compute = loses ? INFINITY : larger * root_of_one_and(part) + result.first;
  return result;
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
  const double rows = shape.m * shape.k * shape.count * bytes.operand.base();
  const double weights = shape.k * shape.n * shape.count * bytes.operand.base();
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
  TiledGemm result;
  double best = INFINITY, best_moved = memory, best_steps = 0.0, best_blocks = 1.0;
  // Small tiles first where there are few large ones: what is likely best early spares most of the rest.
  const bool few = shape.m * shape.n * shape.count < sms * kTiles[2].m * kTiles[2].n;
  for (std::size_t i = 0; i < kTiles.size(); ++i) {
    const Tile& t = kTiles[few ? kTiles.size() - 1 - i : i];
    if (ruled ? t.m != by_rows.m || t.n != by_rows.n : t.m > most_rows) continue;
    const double down = whole(shape.m * t.per_m * per_together) * by_rows.together, across = whole(shape.n * t.per_n);
    const double tiles = down * across * shape.count, area = t.m * t.n;
    const double per_step = 2.0 * area * per_flop * (1.0 + constants.tile_penalty * (t.per_m + t.per_n));
    const double per_result = constants.epilogue.base() * area * bytes.result.base();
    for (const double split : kSplits) {
      const double blocks = tiles * split * per_sm;
      // Parts beyond whole waves only add traffic.
      if (split > 1.0 && (!constants.splits || tiles > sms || blocks > kMostSplitWaves || shape.k < kShortestPart * split)) break;
      const double depth = kDepth * whole(split > 1.0 ? per_depth / split : per_depth);
      const double beside = split > 1.0 ? split_time + split * per_partial : 0.0;
      const double room = best - beside;
      if (room <= memory) break;  // further splits write more
      // Even without idle multiprocessors and waiting loads this takes longer.
      if (std::max(blocks, 1.0) * (per_step * depth + per_result) >= room) continue;
      const double cubed_room = cube(room);
      const double moved = reread ? memory + shape.count * rereads.bytes(down, across, blocks / shape.count) / bandwidth : memory;
      const double cubed_moved = reread ? cube(moved) : cubed_memory;
      const Candidate c = candidate(t, blocks, depth, per_step, latency, per_result, constants, cubed_room - cubed_moved);
      const double cubed = cube(c.compute) + cubed_moved;
      if (!(cubed < cubed_room)) continue;
      best = norm3(c.compute, moved) + beside;
      best_moved = moved;
      best_steps = depth;
      best_blocks = blocks;
      result.compute = Seconds(c.compute);
      result.first = Seconds(c.first);
      result.busy_part = std::min(1.0, blocks / c.waves);
      result.tile_m = static_cast<int>(t.m);
      result.tile_n = static_cast<int>(t.n);
      result.split = static_cast<int>(split);
    }
  }
  const double flop = 2.0 * shape.m * shape.n * shape.k * shape.count;
  const double sustained = flop / rates.sustained.base();
  if (sustained > best) best += best / (best + rates.power_time.base()) * (sustained - best);
  result.time = Seconds(best);
  result.memory = Seconds(best_moved);
  result.executed = Flop(2.0 * result.tile_m * result.tile_n * best_steps * best_blocks * sms);
  return result;
}

}  // namespace tbdsim
