#include "model/cost/autocast.hpp"

#include <algorithm>
#include <variant>

namespace tbdsim {
namespace {

constexpr Bytes kSingle{4.0};

Bytes width_of(std::span<const Bytes> widths, TensorId tensor) { return widths[static_cast<std::size_t>(tensor.value)]; }

bool feeds_softmax(const OpGraph& graph, const Op& op) {
  const auto& readers = graph.tensor(op.output).consumers;
  return std::any_of(readers.begin(), readers.end(), [&](OpId id) { return converts_as_it_reads(graph.op(id)); });
}

}  // namespace

bool converts_as_it_reads(const Op& op) { return op.kind == OpKind::softmax || op.kind == OpKind::softmax_loss; }

AutocastRule autocast_rule(const OpGraph& graph, const Op& op, const AutocastHabits& habits) {
  if (habits.narrow_norms && op.kind == OpKind::layer_norm) return AutocastRule::narrow;
  if (const auto* table = std::get_if<EmbeddingAttributes>(&op.attributes); table != nullptr && table->joint)
    return AutocastRule::narrow;
  const auto* activation = std::get_if<ActivationAttributes>(&op.attributes);
  if (activation != nullptr && activation->kind == ActivationKind::power) return AutocastRule::wide;
  // The reciprocal root of a frozen batch norm's variances is fp32 (list of fp32 operators), and so is what it scales.
  const auto* multiply = std::get_if<MultiplyAttributes>(&op.attributes);
  if (multiply != nullptr && multiply->per_channel) return AutocastRule::joined;
  const auto* mask = std::get_if<MaskAttributes>(&op.attributes);
  const bool adds = op.kind == OpKind::mask && !op.inplace && (mask == nullptr || !mask->selects);
  if (adds && feeds_softmax(graph, op)) return AutocastRule::joined;
  return info(op.kind).autocast;
}

std::vector<Bytes> autocast_widths(const OpGraph& graph, Bytes narrow, const AutocastHabits& habits) {
  std::vector<Bytes> widths(graph.tensors.size(), narrow);
  for (const Op& op : graph.ops) {
    const AutocastRule rule = autocast_rule(graph, op, habits);
    Bytes& width = widths[static_cast<std::size_t>(op.output.value)];
    if (rule == AutocastRule::wide || rule == AutocastRule::joined) width = kSingle;
    if (rule != AutocastRule::widest) continue;
    for (const TensorId input : op.inputs) {
      width = std::max(width, width_of(widths, input));
      if (op.inplace) break;
    }
  }
  return widths;
}

TensorCasts tensor_casts(const OpGraph& graph, const Op& op, Pass pass, std::span<const Bytes> widths,
                         const AutocastHabits& habits) {
  const AutocastRule rule = autocast_rule(graph, op, habits);
  const bool forward = pass == Pass::forward, wide = width_of(widths, op.output) == kSingle;
  TensorCasts casts;
  if (pass == Pass::backward_weights || converts_as_it_reads(op)) return casts;
  for (const TensorId input : op.inputs) {
    const bool single = width_of(widths, input) == kSingle;
    const bool copied = rule == AutocastRule::narrow ? single : rule == AutocastRule::wide && !single;
    const bool promoted = rule != AutocastRule::narrow && rule != AutocastRule::wide && wide && !single;
    if (forward ? !(copied || (promoted && habits.copies_promoted))
                : !((copied || promoted) && graph.tensor(input).needs_gradient))
      continue;
    casts.numbers += static_cast<double>(elements(graph.tensor(input).shape));
    ++casts.kernels;
  }
  return casts;
}

}  // namespace tbdsim
