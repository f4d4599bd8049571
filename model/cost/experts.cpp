#include "model/cost/experts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/cost/row_kernel.hpp"

namespace tbdsim {
namespace {

constexpr std::array<double, 4> kTileRows{16, 32, 64, 128};
constexpr std::array<double, 3> kTileColumns{64, 128, 256};
constexpr Bytes kHalf(2.0);

struct Product {
  Seconds time, compute;
};

Product product_time(double experts, double m, double n, double k, Bytes weight, BytesPerSecond rate, const ExpertConstants& c,
                     const KernelRates& rates) {
  constexpr double kSharpness = 4.0;
  const Bytes matrix = n * k * weight;
  const double speed = (weight < kHalf ? 2.0 : 1.0) * c.share * rates.flops.base() / rates.multiprocessors;
  const double cached = std::pow(rates.cache_reach * rates.cache / matrix, kSharpness);
  const double once = (experts * matrix / rate).base(),
               again = c.reread * (experts * matrix / rates.bandwidth).base() / (1.0 + cached);
  Product best{Seconds(INFINITY), Seconds(0.0)};
  for (const double tm : kTileRows) {
    const double tiles_m = std::ceil(m / tm);
    const double memory = once + again * (tiles_m - 1.0);
    for (const double tn : kTileColumns) {
      const double waves = std::ceil(experts * tiles_m * std::ceil(n / tn) / rates.multiprocessors);
      const double compute = waves * 2.0 * tm * tn * (k + c.prologue) * (1.0 + c.tile_penalty * (tm + tn) / (tm * tn)) / speed;
      const double time = std::cbrt(compute * compute * compute + memory * memory * memory);
      if (time < best.time.base()) best = {Seconds(time), Seconds(compute)};
    }
  }
  return best;
}

}  // namespace

KernelTimeModel expert_time(const ExpertShape& s, Bytes weight, const ExpertConstants& c, const KernelRates& rates) {
  // Weights that stay in the cache come eight times as fast (assumed); activations at what row kernels get from it.
  constexpr double kCachedWeights = 8.0, kCacheBytes = 18.0, kWeightSharpness = 8.0, kActivationSharpness = 4.0;
  const double experts = std::max(1.0, std::min(s.experts, s.rows)), m = s.rows / experts, wide = (s.gated ? 2.0 : 1.0) * s.inner;
  const Bytes weights = experts * (wide + s.inner) * s.hidden * weight;
  const BytesPerSecond rate = resident_rate(weights, rates.bandwidth, kCachedWeights * rates.bandwidth, kWeightSharpness, rates);
  const Product in = product_time(experts, m, wide, s.hidden, weight, rate, c, rates),
                out = product_time(experts, m, s.hidden, s.inner, weight, rate, c, rates);
  const Bytes four(4.0);
  const Bytes moved = s.tokens * s.hidden * four + s.rows * s.hidden * (2.0 * weight + four) +
                      s.rows * s.inner * ((s.gated ? 2.0 : 1.0) * four + 2.0 * weight);
  const BytesPerSecond cache(kCacheBytes * rates.multiprocessors * rates.clock.base());
  const Seconds between = c.activations * moved / resident_rate(moved, rates.bandwidth, cache, kActivationSharpness, rates);
  KernelTimeModel result;
  result.kernels = 5;  // routing, product, activation, product, combination
  result.flop = Flop(2.0 * s.rows * (wide + s.inner) * s.hidden);
  result.bytes = weights + moved;
  result.launch = rates.launch + c.start;
  result.time = result.launch + in.time + out.time + between;
  const Seconds busy = result.time - result.launch, compute = in.compute + out.compute;
  result.bound = result.launch > busy ? Bound::launch : 2.0 * compute > busy ? Bound::compute : Bound::memory;
  result.executing = std::min(result.flop / rates.peak, busy);
  split_issue(result, std::min(compute, busy), Seconds(0.0), result.executing);
  return result;
}

}  // namespace tbdsim
