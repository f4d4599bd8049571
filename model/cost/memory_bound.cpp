#include "model/cost/memory_bound.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {

namespace {
constexpr Bytes kSingle(4.0);
}

std::optional<Passes> memory_passes(const Op& op, const Stack& stack) {
  // Forward: operands read, result written. Backward: what each definition reads again (operands, result, mask) plus
  // incoming and outgoing gradient. What a framework composes of several kernels comes from its stack.
  switch (op.kind) {
    case OpKind::batch_norm: {
      const double forward = stack.operators.batch_norm_forward_passes, backward = stack.operators.batch_norm_backward_passes;
      return Passes{forward - 1, 1, backward - 2, 2};
    }
    case OpKind::activation:
      return Passes{1, 1, 1, 2};
    case OpKind::pool:
      return Passes{1, 1, 2, 2};
    case OpKind::global_average_pool:
      return Passes{1, 1, 1, 1};
    case OpKind::add:
      return Passes{1, 1, 0, 0};
    case OpKind::multiply:
      // By a constant: only the gradient comes back. By another tensor: both operands and both gradients.
      return op.inputs.size() == 1 ? Passes{1, 1, 0, 2} : Passes{1, 1, 2, 2};
    // A part is a view where kernels are issued eagerly; graphs copy it. The gradients of all parts are joined.
    case OpKind::slice:
      return Passes{0, stack.host.eager ? 0.0 : 2.0, 0, 2};
    case OpKind::concat:
    case OpKind::channel_shuffle:
    case OpKind::pad:
      return Passes{1, 1, 1, 1};
    case OpKind::dropout: {
      // A part of a pass is a mask of bytes, counted against numbers of 32 bits.
      const double forward = std::floor(stack.operators.dropout_forward_passes),
                   backward = std::floor(stack.operators.dropout_backward_passes);
      return Passes{1,
                    forward - 1,
                    1,
                    backward - 1,
                    0,
                    1.0,
                    RowKernel::none,
                    (stack.operators.dropout_forward_passes - forward) * kSingle,
                    (stack.operators.dropout_backward_passes - backward) * kSingle};
    }
    case OpKind::local_response_norm:
      return Passes{1, 2, 2, 3};
    case OpKind::softmax_loss:
      // Log-softmax, whose kernels read long rows again as softmax's do, and a gradient of the picked entries that is dense;
      // where kernels are issued one by one, another one reads it (aten NLLLoss.cu, SoftMax.cu).
      return Passes{1, 1, 1, stack.host.eager ? 3.0 : 2.0, 0, 1.0, RowKernel::softmax};
    case OpKind::embedding:
      // Rows read and written; backward adds them into a table of gradients that was set to zero.
      return Passes{0, 2, 0, 3, 1};
    case OpKind::layer_norm:
      // Backward: x and dy read and dx written, then both read again for the gradients of scale and shift.
      return Passes{1, 1, 2, 3, 0, 1.0, RowKernel::layer_norm};
    case OpKind::softmax:
      return Passes{1, 1, 1, stack.operators.softmax_backward_passes - 1, 0, 1.0, RowKernel::softmax};
    case OpKind::transpose:
    case OpKind::sequence_reverse:
    case OpKind::prepend_token:
    case OpKind::upsample:
    case OpKind::reduce:
      return Passes{1, 1, 1, 1};
    case OpKind::gather:
      return Passes{0, 2, 1, 1};
    // Operands read and results written; backward, operands and the gradient read and the operands' gradients written.
    case OpKind::by_bytes:
      return Passes{1, 1, 2, 1};
    case OpKind::mask: {
      const auto* a = std::get_if<MaskAttributes>(&op.attributes);
      return a != nullptr && a->selects ? Passes{1, 1, 0, 2} : Passes{1, 1, 0, 0};
    }
    // The gradient of what was broadcast is a sum over the rest.
    case OpKind::learned_bias:
      return Passes{1, 1, 0, 1};
    case OpKind::pairwise_add:
      return Passes{1, 1, 1, 2};
    case OpKind::group_norm:
      return Passes{1, 1, 2, 3, 0, 1.0, RowKernel::layer_norm};
    case OpKind::proposals:
      return Passes{2, 2, 0, 0};
    // A region's window of the map is read once per output; gradients are scattered into the whole map.
    case OpKind::roi_pool:
      return Passes{1, 2, 1, 2};
    case OpKind::element_loss:
      return Passes{2, 0, 2, 0};
    // Forward and backward variables of the alignment, as long as the input.
    case OpKind::ctc_loss:
      return Passes{2, 1, 2, 1};
    default:
      return std::nullopt;
  }
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
  if (stack.operators.compiles_kernels) return false;
  switch (kind) {
    case OpKind::activation:
    case OpKind::add:
    case OpKind::multiply:
    case OpKind::dropout:
    case OpKind::element_loss:
    case OpKind::slice:
    case OpKind::concat:
    case OpKind::by_bytes:
    case OpKind::softmax:
    case OpKind::softmax_loss:
    case OpKind::layer_norm:
      return !stack.operators.vectorizes_16_bit;
    case OpKind::batch_norm:
      return !stack.operators.channels_last;
    default:
      return true;
  }
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
