#include "model/cost/memory_bound.hpp"

namespace tbdsim {

std::optional<Passes> memory_passes(const Op& op, const Stack& stack) {
  // Forward: operands read, result written. Backward: what each definition reads again (operands, result, mask) plus
  // incoming and outgoing gradient. Softmax and layer norm reach 0.7 of the elementwise bandwidth (fitted: published
  // row-wise kernels of P100, V100, A100).
  switch (op.kind) {
    case OpKind::batch_norm: {
      const double forward = stack.batch_norm_forward_passes, backward = stack.batch_norm_backward_passes;
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
    case OpKind::concat:
    case OpKind::slice:
    case OpKind::channel_shuffle:
    case OpKind::pad:
      return Passes{1, 1, 1, 1};
    case OpKind::dropout:
      return Passes{1, 2, 1, 2};
    case OpKind::local_response_norm:
      return Passes{1, 2, 2, 3};
    case OpKind::softmax_loss:
      // Log-softmax, and a gradient of the picked entries that is dense.
      return Passes{1, 1, 1, 2};
    case OpKind::embedding:
      // Rows read and written; backward adds them into a table of gradients that was set to zero.
      return Passes{0, 2, 0, 3, 1};
    case OpKind::layer_norm:
      return Passes{1, 1, 2, 2, 0, 0.7};
    case OpKind::softmax:
      return Passes{1, 1, 1, 2, 0, 0.7};
    default:
      return std::nullopt;
  }
}

KernelTimeModel memory_bound_time(Bytes bytes, double bandwidth_share, const KernelRates& rates) {
  KernelTimeModel result;
  const Seconds moving = bytes / (rates.bandwidth * bandwidth_share);
  result.time = rates.launch + moving;
  result.launch = rates.launch;
  result.bytes = bytes;
  result.bound = rates.launch > moving ? Bound::launch : Bound::memory;
  return result;
}

}  // namespace tbdsim
