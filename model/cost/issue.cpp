#include "model/cost/issue.hpp"

#include <algorithm>
#include <variant>

#include "model/workload/operators/operator_row.hpp"

namespace tbdsim {
namespace {

IssueClass class_of(const OperatorRow& row, bool launches) {
  if (row.family == OpFamily::convolution) return IssueClass::convolution;
  if (row.family == OpFamily::gemm || row.family == OpFamily::experts) return IssueClass::product;
  if (row.family == OpFamily::attention) return IssueClass::attention;
  if (row.kind == OpKind::batch_norm) return IssueClass::batch_norm;
  if (row.normalizes) return IssueClass::row_norm;
  if (row.kind == OpKind::dropout) return IssueClass::dropout;
  return launches ? IssueClass::elementwise : IssueClass::view;
}

/// Whether scripts write it as a module of its own rather than as a call.
bool is_module(const OperatorRow& row) {
  return row.has_parameters() || row.kind == OpKind::activation || row.kind == OpKind::dropout || row.kind == OpKind::pool;
}

bool has_bias(const Op& op, const Stack& stack) {
  if (const auto* convolution = std::get_if<ConvolutionAttributes>(&op.attributes))
    return convolution->bias && stack.operators.fusion.separate_bias;
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  return linear != nullptr && linear->bias;
}

/// ReLU6 and its relatives in place keep a copy of their input, a kernel more.
bool copies_input(const Op& op) {
  const auto* activation = std::get_if<ActivationAttributes>(&op.attributes);
  return activation != nullptr && op.inplace && activation->kind == ActivationKind::relu6;
}

/// Views round the copy that turns channels: two of the shape, one of the order (torchvision/models/shufflenetv2.py).
int views_beside(const Op& op) { return op.kind == OpKind::channel_shuffle ? 3 : 0; }

/// Views that the gradient of a concatenation is cut into, one for each input, in whole views' worth: the node is one (measured:
/// 2.5 us + 1.05 us an input, of 1.7 us a view; calibrate/samples/host/reference.csv, cat of 2 to 16 tensors).
double cut_views(const Op& op) {
  constexpr double kNode = 1.5, kPart = 0.62;
  return op.kind == OpKind::concat ? kNode + kPart * static_cast<double>(op.inputs.size()) - 1.0 : 0.0;
}

/// Forward: a call of the library, or a kernel. Convolutions add their bias in a kernel of its own, a linear layer's product
/// adds it. Batch norm counts its batches on the device.
Seconds below_forward(const Op& op, IssueClass kind, const Stack& stack) {
  const IssueSettings& issue = *stack.host.issue;
  switch (kind) {
    case IssueClass::view:
      return Seconds(0.0);
    case IssueClass::convolution:
      return issue.convolution + (has_bias(op, stack) ? 1.0 : 0.0) * issue.kernel;
    case IssueClass::product:
    case IssueClass::attention:
      return op.kind == OpKind::embedding ? issue.kernel : issue.product;
    case IssueClass::batch_norm:
      return issue.batch_norm + issue.kernel;
    case IssueClass::elementwise:
    case IssueClass::dropout:
    case IssueClass::row_norm:
      break;
  }
  return (copies_input(op) ? 2.0 : 1.0) * issue.kernel;
}

/// Backward: `calls` gradients of a library, or kernels; bias gradients are sums in kernels of their own.
Seconds below_backward(const Op& op, IssueClass kind, int calls, bool weights, const Stack& stack) {
  const IssueSettings& issue = *stack.host.issue;
  const Seconds bias = (weights && has_bias(op, stack) ? 1.0 : 0.0) * issue.kernel;
  switch (kind) {
    case IssueClass::view:
      return Seconds(0.0);
    case IssueClass::convolution:
      return static_cast<double>(calls) * issue.convolution + bias;
    case IssueClass::product:
      return static_cast<double>(calls) * issue.product + bias;
    case IssueClass::attention:
      return issue.product + issue.kernel;  // and the row sums that its kernel starts from
    case IssueClass::batch_norm:
      return issue.batch_norm;
    case IssueClass::row_norm:
      return 2.0 * issue.kernel;  // gradients of the input, and of the weights
    case IssueClass::elementwise:
    case IssueClass::dropout:
      break;
  }
  return issue.kernel;
}

}  // namespace

double issued_operators(const OpGraph& graph, const Op& op, Pass pass, bool launches, const Stack& stack) {
  const bool split = pass == Pass::backward_data || pass == Pass::backward_weights;
  const bool both = split && graph.tensor(op.inputs.front()).needs_gradient;
  if (!stack.host.issue) return both ? 0.5 : 1.0;
  const IssueSettings& issue = *stack.host.issue;
  const OperatorRow& row = info(op.kind);
  const IssueClass kind = class_of(row, launches);
  const bool forward = pass == Pass::forward;
  Seconds time = (both ? 0.5 : 1.0) * issue.framework(kind, forward);
  time += (views_beside(op) + (forward ? 0.0 : cut_views(op))) * issue.framework(IssueClass::view, forward);
  if (forward && is_module(row)) time += issue.module;
  // An undivided backward of a product has both of its gradients.
  const int calls = split ? 1 : 2;
  time += forward ? below_forward(op, kind, stack) : below_backward(op, kind, calls, pass != Pass::backward_data, stack);
  return time / issue.unit();
}

double issued_attention(int kernels, bool backward, const HostSettings& host) {
  if (!host.issue) return kernels;
  const IssueSettings& issue = *host.issue;
  // Scores and their product with the values; each has two gradients.
  constexpr double kProducts = 2.0;
  const double calls = backward ? 2.0 * kProducts : kProducts, rest = std::max(0.0, kernels - calls);
  return (kProducts * issue.framework(IssueClass::product, !backward) + calls * issue.product +
          rest * (issue.framework(IssueClass::elementwise, !backward) + issue.kernel)) /
         issue.unit();
}

double issued_sum(const HostSettings& host) { return host.issue ? host.issue->kernel / host.issue->unit() : 1.0; }

double issued_own_norm(Pass pass, const HostSettings& host) {
  if (!host.issue) return 0.0;
  const double kernels = pass == Pass::forward ? 2.0 : 1.0;
  return (host.issue->batch_norm - kernels * host.issue->kernel) / host.issue->unit();
}

double issued_cast(const HostSettings& host) {
  return host.issue ? (host.issue->cast + host.issue->kernel) / host.issue->unit() : 1.0;
}

double listed_array(const HostSettings& host) { return host.issue ? host.issue->listed / host.issue->update : 0.0; }

Seconds replica_array(const HostSettings& host) {
  return host.issue ? host.issue->replica / host.issue->unit() * host.dispatch : host.dispatch;
}

double issue_scale(const Host& host, const HostSettings& stack) {
  return stack.issue ? host.dispatch_scale / single_thread(host) : host.dispatch_scale;
}

}  // namespace tbdsim
