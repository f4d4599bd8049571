#include "model/cost/fused_attention.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/attention_blocks.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kHalf(2.0), kSingle(4.0);
// Scale, mask, maximum, sum and rescaling, on the lanes.
constexpr double kOperationsPerScore = 6.0;
// Keys that the mask of a window costs a block backward (fitted: cuDNN on H200, widths 64).
constexpr double kWindowKeysBackward = 250.0;
constexpr double kWide = 128.0;
// Beside the kernel itself: row sums, and the cast of the gradient of queries.
constexpr Seconds kBackwardStart(9e-6);

/// Width that the kernel computes with.
double run_width(double width, const AttentionKernelInfo& kernel) {
  if (width <= 64.0) return 64.0;
  if (width <= 96.0) return 96.0;
  if (width <= 128.0) return 128.0;
  if (width <= 192.0 && kernel.width_192) return 192.0;
  return 256.0 * std::ceil(width / 256.0);
}

struct Compute {
  Seconds time;
  double unused = 1.0;  ///< time over that of evenly spread blocks
};

Compute compute_time(const AttentionShape& s, bool backward, const FusedAttention& means, const KernelRates& rates) {
  const AttentionKernelInfo& kernel = *means.kernel;
  const AttentionPass& pass = backward ? means.constants.backward : means.constants.forward;
  const AttentionBlocks work = attention_blocks(s, backward, kernel);
  const double width = run_width(s.width, kernel), values = run_width(s.values(), kernel);
  const bool eight = means.element < kHalf;
  const double share = eight ? 2.0 * pass.share_8_bit : pass.share;
  const double wide = !backward && s.width > kWide ? means.constants.wide : 1.0;
  const double rate =
      wide * share * (kernel.warp_products ? rates.warp_products : 1.0) * rates.flops.base() / rates.multiprocessors;
  const double products = 2.0 * (backward ? 3.0 * width + 2.0 * values : width + values) / rate;
  const double softmax = (1.0 / rates.exponentials + kOperationsPerScore / rates.fp32_lanes) / (rates.clock.base() * rates.share);
  const double together = backward ? 1.0 : kernel.blocks_together;
  const auto* tile = kernel.tiles.data();
  while (tile != &kernel.tiles.back() && s.width > tile->width) ++tile;
  constexpr double kGradientRows = 128.0;
  const double rows = backward ? kGradientRows : tile->queries;
  const double places = rates.multiprocessors * together, n = work.blocks;
  const double window = s.window > 0 ? (backward ? kWindowKeysBackward : means.constants.window) : 0.0,
               prologue = pass.prologue + window;
  double parts = 1.0;
  constexpr double kFew = 0.8;
  if (kernel.splits_keys && !backward && n < kFew * places)
    parts = std::max(1.0, std::min(means.constants.split * places / n, work.longest / (2.0 * tile->keys)));
  // What power takes from the clock it takes from a device at work: few blocks run at the full one.
  const double at_work = std::min(1.0, n * parts / places);
  const double kept = rates.share < 1.0 ? rates.share / (1.0 - at_work * (1.0 - rates.share)) : 1.0;
  const double per_key = rows * (products + kernel.exposed_softmax * softmax) * together * kept / means.constants.rate;
  double alone = 1.0;
  if (together > 1.0 && n < places)
    alone = n <= rates.multiprocessors
                ? means.constants.few_blocks
                : means.constants.few_blocks +
                      (1.0 - means.constants.few_blocks) * (n - rates.multiprocessors) / (places - rates.multiprocessors);
  const double even = (work.visits + n * prologue) * per_key / places;
  const double chain = (work.longest / parts + prologue) * per_key * alone;
  const double time = std::max(even + pass.tail * chain * at_work, chain);
  return {Seconds(time), time / even};
}

/// Rate of bytes that memory and cache deliver together, by how much of the operands the cache holds.
BytesPerSecond delivered(Bytes operands, const KernelRates& rates) {
  if (rates.cache <= Bytes(0.0)) return rates.bandwidth;
  // Fitted: A100, H100, L40S. B a clock and multiprocessor of the last-level cache.
  constexpr double kHalfHeld = 0.96, kSharpness = 6.0, kCacheBytes = 12.0;
  const double held = 1.0 / (1.0 + std::pow(operands / (kHalfHeld * rates.cache), kSharpness));
  const double cache = kCacheBytes * rates.multiprocessors * rates.clock.base();
  return BytesPerSecond(1.0 / ((1.0 - held) / rates.bandwidth.base() + held / std::max(cache, rates.bandwidth.base())));
}

}  // namespace

KernelTimeModel fused_attention_time(const AttentionShape& s, bool backward, const FusedAttention& means,
                                     const KernelRates& rates) {
  const double rows = s.batch * s.heads * s.queries, columns = s.batch * s.heads / s.groups() * s.keys;
  const double q = rows * s.width, o = rows * s.values(), kv = columns * (s.width + s.values());
  const Bytes result = std::max(means.element, kHalf);
  const Compute compute = compute_time(s, backward, means, rates);
  const Bytes operands = (q + kv) * means.element + o * result;
  const BytesPerSecond rate = delivered(operands, rates);
  KernelTimeModel kernel;
  Seconds memory, beside;
  if (backward) {
    // Operands and their gradients, and the gradient of queries added up in 32 bits; then row sums and its cast.
    kernel.bytes = 2.0 * operands + 2.0 * q * kSingle;
    memory = kernel.bytes / rates.bandwidth;
    const Bytes after = q * (kSingle + kHalf);
    beside = after / rates.bandwidth;
    kernel.bytes += after;
  } else {
    kernel.bytes = operands;
    memory = operands / rate;
    const Bytes copied = kHalf + means.element;
    const Bytes before = (means.writes_cache ? kv : 0.0) * copied + (means.rotates ? q : 0.0) * copied;
    beside = before / rate;
    kernel.bytes += before;
  }
  const double scores = attention_scores(s);
  kernel.flop = attention_flop(s, backward);
  const Flop executed(2.0 * scores * (backward ? 3.0 * s.width + 2.0 * s.values() : s.width + s.values()));
  const double c = compute.time.base(), m = memory.base();
  const Seconds busy = Seconds(std::cbrt(c * c * c + m * m * m)) + beside;
  constexpr double kShortest = 64.0, kDoublings = 3.0;
  const double doublings = std::clamp(std::log2(s.queries / kShortest), 0.0, kDoublings);
  // Kernels of a graph start and drain in a number of cycles: those of the L40S in half of the time that they take on an A100.
  constexpr Hertz kStartClock(1.41e9);
  const double slower = kStartClock / rates.boost;
  kernel.launch = rates.launch +
                  (backward ? kBackwardStart : slower * (means.constants.start + doublings * means.constants.start_per_doubling));
  kernel.time = kernel.launch + busy;
  kernel.bound = kernel.launch > busy ? Bound::launch : compute.time > memory ? Bound::compute : Bound::memory;
  kernel.executing = std::min(executed / rates.peak, busy);
  split_issue(kernel, compute.time, Seconds(0.0), compute.unused * kernel.executing);
  return kernel;
}

AttentionConstants attention_constants(AttentionKernel kernel, const KernelConstants& constants) {
  double rate = 1.0;
  // Kernels that are like each other must not send us around.
  for (std::size_t i = 0; i < attention_kernels().size(); ++i) {
    const AttentionKernelInfo& row = info(kernel);
    const auto found = constants.attention.find(row.name);
    if (found != constants.attention.end()) {
      AttentionConstants result = found->second;
      result.borrowed = i > 0;
      result.rate = rate;
      return result;
    }
    if (row.like == kernel) break;
    rate *= row.rate_of_like;
    kernel = row.like;
  }
  return {};
}

}  // namespace tbdsim
