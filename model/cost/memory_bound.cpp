#include "model/cost/memory_bound.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {

namespace {
constexpr Bytes kSingle(4.0);
}

std::optional<Passes> memory_passes(const Op& op, const Stack& stack, Bytes element, bool broadcasts) {
  const OperatorRow& row = info(op.kind);
  if (row.family != OpFamily::memory_bound) return std::nullopt;
  if (row.framework_passes == nullptr) return row.passes;
  return row.framework_passes(
      op,
      {stack.host.eager, stack.operators.passes.batch_norm_forward, stack.operators.passes.batch_norm_backward,
       stack.operators.passes.dropout_forward, stack.operators.passes.dropout_backward, stack.operators.passes.softmax_backward,
       stack.operators.fusion.composes_rows, stack.operators.fusion.composes_rotary, element < kSingle, broadcasts});
}

double reread_passes(RowKernel rows, double row_elements, Bytes element, const KernelRates& rates) {
  constexpr double kInRegisters = 1024.0, kLargestBlock = 1024.0, kPerThread = 4.0;
  if (rows != RowKernel::softmax || row_elements <= kInRegisters) return 0.0;
  constexpr double kReductions = 2.0, kCacheShare = 0.5, kSharpness = 3.4;
  const double blocks = rates.multiprocessors * rates.resident_threads / std::min(kLargestBlock, row_elements / kPerThread);
  const Bytes work = blocks * row_elements * element;
  return kReductions / (1.0 + std::pow(kCacheShare * rates.cache / work, kSharpness));
}

KernelTimeModel memory_bound_time(Bytes bytes, double bandwidth_share, const KernelRates& rates) {
  KernelTimeModel result;
  const Seconds moving = bytes / (rates.bandwidth * bandwidth_share);
  result.time = rates.launch + moving;
  result.launch = rates.launch;
  result.issue.memory = moving;
  result.bytes = bytes;
  result.bound = rates.launch > moving ? Bound::launch : Bound::memory;
  return result;
}

bool moves_single_numbers(OpKind kind, const Stack& stack) {
  // A compiler's kernels load several at once wherever rows allow it.
  if (stack.operators.loads.compiles_kernels) return false;
  const ElementAccess access = info(kind).access;
  if (access == ElementAccess::vectors) return !stack.operators.loads.vectorizes_16_bit;
  return access == ElementAccess::single || !stack.operators.order.channels_last;
}

KernelTimeModel single_access_time(Bytes bytes, Bytes element, double bandwidth_share, const KernelRates& rates) {
  KernelTimeModel result = memory_bound_time(bytes, bandwidth_share, rates);
  constexpr double kLanes = 64.0;
  const double moving = (result.time - result.launch).base();
  const double issuing =
      bytes / element * (kFewestInstructions / rates.issue_share) / (kLanes * rates.multiprocessors * rates.clock.base());
  const double bytes_alone = moving * (kSingle / element);
  const double in_32_bits = rates.slow_integers ? std::max(bytes_alone, issuing) : bytes_alone;
  const double together = std::cbrt(moving * moving * moving + issuing * issuing * issuing);
  result.time = result.launch + Seconds(std::min(together, in_32_bits));
  result.issue.dependency = result.time - result.launch - Seconds(moving);
  return result;
}

}  // namespace tbdsim
