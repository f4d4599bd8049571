#include "model/cost/attention.hpp"

#include <cmath>

namespace tbdsim {

KernelTimeModel fused_attention_time(const AttentionShape& s, bool backward, Bytes element, const KernelRates& rates) {
  constexpr double kQueriesPerBlock = 128.0, kExponentialsPerClock = 16.0, kOperationsPerScore = 6.0;
  const double products = backward ? 5.0 : 2.0;
  const double scores = s.batch * s.heads * s.queries * s.keys * (s.causal ? 0.5 : 1.0);
  const double blocks = s.batch * s.heads * std::ceil(s.queries / kQueriesPerBlock);
  const double unused = std::ceil(blocks / rates.multiprocessors) * rates.multiprocessors / blocks;
  KernelTimeModel result;
  result.flop = Flop(2.0 * products * scores * s.width);
  const double clocks_per_score = 1.0 / kExponentialsPerClock + kOperationsPerScore / rates.fp32_lanes;
  const Seconds beside(scores * clocks_per_score / (rates.multiprocessors * rates.clock.base()));
  const Seconds compute = unused * (result.flop / rates.flops + beside);
  // Forward: q, k, v read, output written. Backward: they and the output's gradient read, three gradients written.
  const double query_rows = backward ? 4.0 : 2.0, key_rows = backward ? 4.0 : 2.0;
  result.bytes = s.batch * s.heads * s.width * (query_rows * s.queries + key_rows * s.keys) * element;
  const Seconds memory = result.bytes / rates.bandwidth;
  const double c = compute.base(), m = memory.base();
  const Seconds busy(std::cbrt(c * c * c + m * m * m));
  result.time = rates.launch + busy;
  result.launch = rates.launch;
  result.bound = rates.launch > busy ? Bound::launch : compute > memory ? Bound::compute : Bound::memory;
  return result;
}

}  // namespace tbdsim
