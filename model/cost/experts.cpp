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
// Weights that stay in the cache come eight times as fast (assumed); activations at what row kernels get from it.
constexpr double kCachedWeights = 8.0, kCacheBytes = 18.0, kWeightSharpness = 8.0, kActivationSharpness = 4.0;
// Routing, product, activation, product, combination.
constexpr int kKernels = 5;

struct Product {
  Seconds time, compute;
};

/// `matrix`: of one expert, read or written once, beside what further rows of tiles read again of it.
Product product_time(double experts, double m, double n, double k, Bytes matrix, Bytes weight, BytesPerSecond rate,
                     const ExpertConstants& c, const KernelRates& rates) {
  constexpr double kSharpness = 4.0;
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

BytesPerSecond weight_rate(Bytes weights, const KernelRates& rates) {
  return resident_rate(weights, rates.bandwidth, kCachedWeights * rates.bandwidth, kWeightSharpness, rates);
}

Seconds activation_time(Bytes moved, const ExpertConstants& c, const KernelRates& rates) {
  const BytesPerSecond cache(kCacheBytes * rates.multiprocessors * rates.clock.base());
  return c.activations * moved / resident_rate(moved, rates.bandwidth, cache, kActivationSharpness, rates);
}

/// Tells of a kernel whose start, useful FLOP and bytes are known how it spends its time.
void describe(KernelTimeModel& kernel, Seconds busy, Seconds compute, const KernelRates& rates) {
  kernel.time = kernel.launch + busy;
  kernel.bound = kernel.launch > busy ? Bound::launch : 2.0 * compute > busy ? Bound::compute : Bound::memory;
  kernel.executing = std::min(kernel.flop / rates.peak, busy);
  split_issue(kernel, std::min(compute, busy), Seconds(0.0), kernel.executing);
}

}  // namespace

KernelTimeModel grouped_product_time(const GroupedProduct& p, bool weight_gradient, Bytes element, const ExpertConstants& c,
                                     const KernelRates& rates) {
  const double experts = std::max(1.0, std::min(p.experts, p.rows)), m = p.rows / experts;
  const Bytes matrix = p.n * p.k * element, weights = experts * matrix;
  const BytesPerSecond rate = weight_gradient ? rates.bandwidth : weight_rate(weights, rates);
  ExpertConstants own = c;
  if (weight_gradient) own.reread = 0.0;  // results are written once
  const Product product = weight_gradient ? product_time(experts, p.n, p.k, m, matrix, element, rate, own, rates)
                                          : product_time(experts, m, p.n, p.k, matrix, element, rate, own, rates);
  const Bytes moved = p.rows * (p.n + p.k) * element;
  KernelTimeModel result;
  result.flop = Flop(2.0 * p.rows * p.n * p.k);
  result.bytes = weights + moved;
  result.launch = rates.launch + c.start / kKernels;
  describe(result, product.time + activation_time(moved, c, rates), product.compute, rates);
  return result;
}

KernelTimeModel expert_time(const ExpertShape& s, Bytes weight, const ExpertConstants& c, const KernelRates& rates) {
  const double experts = std::max(1.0, std::min(s.experts, s.rows)), m = s.rows / experts, wide = (s.gated ? 2.0 : 1.0) * s.inner;
  const Bytes weights = experts * (wide + s.inner) * s.hidden * weight;
  const BytesPerSecond rate = weight_rate(weights, rates);
  const Product in = product_time(experts, m, wide, s.hidden, wide * s.hidden * weight, weight, rate, c, rates),
                out = product_time(experts, m, s.hidden, s.inner, s.hidden * s.inner * weight, weight, rate, c, rates);
  const Bytes four(4.0);
  const Bytes moved = s.tokens * s.hidden * four + s.rows * s.hidden * (2.0 * weight + four) +
                      s.rows * s.inner * ((s.gated ? 2.0 : 1.0) * four + 2.0 * weight);
  KernelTimeModel result;
  result.kernels = kKernels;
  result.flop = Flop(2.0 * s.rows * (wide + s.inner) * s.hidden);
  result.bytes = weights + moved;
  result.launch = rates.launch + c.start;
  describe(result, in.time + out.time + activation_time(moved, c, rates), in.compute + out.compute, rates);
  return result;
}

}  // namespace tbdsim
