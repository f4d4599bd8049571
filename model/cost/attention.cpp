#include "model/cost/attention.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/gemm.hpp"
#include "model/cost/memory_bound.hpp"

namespace tbdsim {

KernelTimeModel separate_attention_time(const AttentionShape& s, bool backward, const SeparateAttention& means) {
  const double stack = s.batch * s.heads, scores = stack * s.queries * s.keys;
  KernelTimeModel sum;
  sum.kernels = 0;
  const auto product = [&](double m, double n, double k) {
    append(sum, gemm_time({m, n, k, stack}, means.element, means.tiles, means.products));
  };
  const auto move = [&](double elements, const KernelRates& rates, bool vectorized = false) {
    const Bytes bytes = elements * means.element;
    append(sum, vectorized ? memory_bound_time(bytes, 1.0, rates) : single_access_time(bytes, means.element, 1.0, rates));
  };
  // Each of the four is read and written once.
  for (const double rows : {s.queries, s.keys, s.keys, s.queries}) move(2.0 * stack * rows * s.width, means.pointwise);
  product(s.queries, s.keys, s.width);
  product(s.queries, s.width, s.keys);
  if (backward) {
    product(s.keys, s.width, s.queries);
    product(s.keys, s.width, s.queries);
  }
  move(2.0 * scores, means.pointwise, means.vectorized);  // scale
  // The gradient passes a mask unchanged.
  if (s.causal && !backward) move(2.0 * scores, means.pointwise);
  const double again = reread_passes(RowKernel::softmax, s.keys, means.element, means.softmax);
  move(((backward ? means.softmax_backward_passes : 2.0) + again) * scores, means.softmax);
  return sum;
}

KernelTimeModel fused_attention_time(const AttentionShape& s, bool backward, Bytes element, const KernelRates& rates) {
  constexpr double kQueriesPerBlock = 128.0, kExponentialsPerClock = 16.0, kOperationsPerScore = 6.0;
  const double products = backward ? 5.0 : 2.0;
  const double scores = s.batch * s.heads * s.queries * s.keys * (s.causal ? 0.5 : 1.0);
  const double blocks = s.batch * s.heads * std::ceil(s.queries / kQueriesPerBlock);
  const double unused = std::ceil(blocks / rates.multiprocessors) * rates.multiprocessors / blocks;
  KernelTimeModel result;
  const Flop arithmetic(2.0 * products * scores * s.width);
  // Scores that are computed again are no useful work.
  result.flop = backward ? arithmetic * 0.8 : arithmetic;
  const double clocks_per_score = 1.0 / kExponentialsPerClock + kOperationsPerScore / rates.fp32_lanes;
  const Seconds beside(scores * clocks_per_score / (rates.multiprocessors * rates.clock.base()));
  const Seconds compute = unused * (arithmetic / rates.flops + beside);
  // Forward: q, k, v read, output written. Backward: they and the output's gradient read, three gradients written.
  const double query_rows = backward ? 4.0 : 2.0, key_rows = backward ? 4.0 : 2.0;
  result.bytes = s.batch * s.heads * s.width * (query_rows * s.queries + key_rows * s.kv_heads / s.heads * s.keys) * element;
  const Seconds memory = result.bytes / rates.bandwidth;
  const double c = compute.base(), m = memory.base();
  const Seconds busy(std::cbrt(c * c * c + m * m * m));
  result.time = rates.launch + busy;
  result.launch = rates.launch;
  result.bound = rates.launch > busy ? Bound::launch : compute > memory ? Bound::compute : Bound::memory;
  result.executing = std::min(arithmetic / rates.peak, busy);
  split_issue(result, compute, Seconds(0.0), unused * result.executing);
  return result;
}

}  // namespace tbdsim
