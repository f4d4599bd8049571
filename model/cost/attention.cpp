#include "model/cost/attention.hpp"

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
  for (const double rows : {s.queries, s.keys}) move(2.0 * stack * rows * s.width, means.pointwise);
  for (const double rows : {s.keys, s.queries}) move(2.0 * stack * rows * s.values(), means.pointwise);
  product(s.queries, s.keys, s.width);
  product(s.queries, s.values(), s.keys);
  if (backward) {
    product(s.keys, s.width, s.queries);
    product(s.keys, s.values(), s.queries);
  }
  move(2.0 * scores, means.pointwise, means.vectorized);  // scale
  // The gradient passes a mask unchanged.
  if (s.causal && !backward) move(2.0 * scores, means.pointwise);
  const double again = reread_passes(RowKernel::softmax, s.keys, means.element, means.softmax);
  move(((backward ? means.softmax_backward_passes : 2.0) + again) * scores, means.softmax);
  // The products compute masked scores, too: the units execute them, to no use.
  sum.flop = attention_flop(s, backward);
  return sum;
}

}  // namespace tbdsim
