#include "model/workload/onnx_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/input/digest.hpp"
#include "model/support/quote.hpp"
#include "model/workload/onnx/patterns.hpp"
#include "model/workload/onnx/rules.hpp"

namespace tbdsim {
namespace {

using namespace onnx;

constexpr int kDefaultBatch = 32;
constexpr std::int64_t kNewestOpset = 21;
// Half of the operators of a step taken by their bytes alone: such kernels reach a third to all of the bandwidth
// (assumed, from the spread of memory-bound kernels between libraries).
constexpr double kUnknownSpread = 0.5;

bool counts_tokens(const Value& input) { return input.type == kInt64 || input.type == kInt32; }

/// PyTorch has attention as one operator since release 2, and exports its parts.
bool has_fused_attention(const ModelText& model) {
  return model.producer == "pytorch" && !model.producer_version.empty() && model.producer_version.front() >= '2' &&
         model.producer_version.front() <= '9';
}

/// What one sample is called.
std::string input_unit(const Value& input, const Shape& shape) {
  if (counts_tokens(input)) return "sequence";
  return shape.size() == 3 ? "image" : "sample";
}

Result<GraphBuilder> start(const ValueGraph& graph, const std::string& name, const std::string& file, const OnnxSizes& sizes) {
  Errors errors;
  if ((sizes.image && !graph.used_image) || (sizes.seq_len && !graph.used_seq_len))
    return fail(fmt::format("{}: {} fixes the {} of its inputs", sizes.image && !graph.used_image ? "--image" : "--seq-len", file,
                            sizes.image && !graph.used_image ? "size" : "length"));
  for (const ValueIndex index : graph.inputs) {
    const Value& input = graph.value(index);
    if (!per_sample(*input.dims))
      errors.push_back(
          Error{fmt::format("input {}: one sample of {} is too large to simulate", quoted(input.name), to_text(*input.dims)),
                SourceRef{file, 0, 0}});
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  const Value& first = graph.value(graph.inputs.front());
  const Shape shape = *per_sample(*first.dims);
  GraphBuilder builder(name, "onnx", input_unit(first, shape), shape, kDefaultBatch);
  if (counts_tokens(first)) builder.counts_in("token", static_cast<double>(elements(shape)));
  return builder;
}

/// Queries, keys and values as sequences of all heads side by side.
void emit_attention(Lowering& l, NodeIndex node, const Lift& lift) {
  const auto& scores = l.dims(lift.parts);
  const auto width = l.dims(lift.input) ? per_sample(*l.dims(lift.input)) : std::nullopt;
  if (!scores || scores->size() != 4 || !(*scores)[1].known || (*scores)[1].batch || !width || width->size() != 2)
    return l.refuse(node, "cannot tell the heads of this attention");
  AttentionAttributes a{static_cast<std::int64_t>((*scores)[1].value), false};
  // Fewer features of keys than of queries: fewer heads, each as wide.
  const auto shared = l.dims(lift.keys) ? per_sample(*l.dims(lift.keys)) : std::nullopt;
  if (shared && shared->size() == 2 && shared->back() != width->back()) {
    if (shared->back() * a.heads % width->back() != 0) return l.refuse(node, "cannot tell the heads of keys of this attention");
    a.kv_heads = shared->back() * a.heads / width->back();
  }
  std::vector<TensorId> operands{l.tensor(lift.input), l.tensor(lift.keys), l.tensor(lift.values)};
  if (lift.turns_queries) operands[0] = l.emit(node, OpKind::rope, {operands[0]}, {});
  if (lift.turns_keys) operands[1] = l.emit(node, OpKind::rope, {operands[1]}, {});
  l.bind(node, l.output(node), l.emit(node, OpKind::attention, operands, a));
}

void emit_lifted(Lowering& l, NodeIndex node, const Lift& lift) {
  const ValueIndex out = l.output(node);
  if (lift.pattern == Pattern::attention) return emit_attention(l, node, lift);
  if (!l.dims(lift.input)) return emit_unknown(l, node);
  l.set_dims(out, *l.dims(lift.input));
  const TensorId x = l.tensor(lift.input);
  const auto activation = [&](ActivationKind kind) { return l.emit(node, OpKind::activation, {x}, ActivationAttributes{kind}); };
  switch (lift.pattern) {
    case Pattern::layer_norm:
      return l.bind(node, out, l.emit(node, OpKind::layer_norm, {x}, {}, {lift.gamma, lift.beta}));
    case Pattern::rms_norm:
      return l.bind(node, out, l.emit(node, OpKind::rms_norm, {x}, RmsNormAttributes{}, {lift.gamma}));
    case Pattern::rope:
      return l.bind(node, out, l.emit(node, OpKind::rope, {x}, {}));
    case Pattern::group_norm: {
      const Number groups = l.dims(lift.parts) ? product(*l.dims(lift.parts)) : Number{1.0};
      constexpr double kMostGroups = 1e9;
      if (!(groups.value >= 1.0 && groups.value <= kMostGroups)) return l.refuse(node, "cannot tell the groups of this norm");
      const GroupNormAttributes a{static_cast<std::int64_t>(groups.value)};
      return l.bind(node, out, l.emit(node, OpKind::group_norm, {x}, a, {lift.gamma, lift.beta}));
    }
    case Pattern::gelu:
      return l.bind(node, out, activation(ActivationKind::gelu));
    case Pattern::silu:
      return l.bind(node, out, activation(ActivationKind::silu));
    case Pattern::hardswish:
      return l.bind(node, out, activation(ActivationKind::hardswish));
    default:
      return;
  }
}

/// What is picked of states stays a state: nothing runs until something computes with it.
void pass_state_on(Lowering& l, NodeIndex node) {
  TensorId source;
  for (const ValueIndex input : l.graph.node(node).inputs)
    if (l.is(input, Origin::state)) source = l.state(input);
  for (const ValueIndex out : l.graph.node(node).outputs)
    if (out != kAbsent) l.bind_state(out, source);
}

Origin origin_of(const Lowering& l, NodeIndex node) {
  Origin origin = Origin::constant;
  for (const ValueIndex out : l.graph.node(node).outputs)
    if (out != kAbsent) origin = std::max(origin, l.graph.value(out).origin);
  return origin;
}

bool is_recurrent(std::string_view type) { return type == "LSTM" || type == "GRU" || type == "RNN"; }

void run_node(Lowering& l, NodeIndex node, const Lift& lift) {
  const NodeText& text = *l.graph.node(node).text;
  const bool standard = text.domain.empty() || text.domain == "ai.onnx";
  const Rule* rule = standard ? find_rule(text.type) : nullptr;
  if (rule != nullptr) {
    if (const std::string trouble = misuse(l, node); !trouble.empty()) return l.refuse(node, "{}", trouble);
  }
  const bool follows = !l.graph.node(node).inputs.empty() || text.type == "Constant";
  if (rule != nullptr && rule->infer != nullptr && follows) rule->infer(l, node);
  if (lift.pattern == Pattern::inner) return;
  if (lift.pattern != Pattern::none) return emit_lifted(l, node, lift);
  const Origin origin = origin_of(l, node);
  if (origin == Origin::state && !is_recurrent(text.type)) return pass_state_on(l, node);
  if (origin < Origin::state) return;
  if (rule == nullptr || rule->emit == nullptr) return emit_unknown(l, node);
  rule->emit(l, node);
}

/// The network's ends: outputs of data that nothing reads get a loss, the first, the main one, last.
void add_losses(Lowering& l) {
  std::vector<ValueIndex> ends;
  for (const ValueIndex output : l.graph.outputs)
    if (l.is(output, Origin::data) && l.graph.value(output).readers.empty() && l.is_bound(output)) ends.push_back(output);
  std::reverse(ends.begin(), ends.end());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const bool last = i + 1 == ends.size();
    (void)l.builder.softmax_loss(l.tensor(ends[i]),
                                 last ? "loss" : fmt::format("loss_{}", printable(l.graph.value(ends[i]).name)));
  }
}

void note_unknown(const Lowering& l, std::size_t ops, ImportedNetwork& network) {
  std::size_t count = 0;
  for (const auto& [type, nodes] : l.unknown()) {
    count += nodes.size();
    network.notices.push_back(
        fmt::format("{} has no model of its own and is taken by the bytes it moves: {}{}; the range is wider", type,
                    nodes.front(), nodes.size() > 1 ? fmt::format(" and {} more", nodes.size() - 1) : ""));
  }
  if (count > 0)
    network.extra_spread = kUnknownSpread * std::min(1.0, 2.0 * static_cast<double>(count) / static_cast<double>(ops));
}

Errors with_file(const std::vector<std::string>& problems, const std::string& file) {
  Errors errors;
  for (const std::string& text : problems) errors.push_back(Error{text, SourceRef{file, 0, 0}});
  return errors;
}

}  // namespace

Result<ImportedNetwork> import_onnx(std::string_view bytes, const std::string& file, const std::string& name,
                                    const OnnxSizes& sizes) {
  const auto model = decode(bytes, file);
  if (!model) return tl::make_unexpected(model.error());
  auto values = value_graph(*model, {sizes.image, sizes.seq_len}, file);
  if (!values) return tl::make_unexpected(values.error());
  auto builder = start(*values, name, file, sizes);
  if (!builder) return tl::make_unexpected(builder.error());
  ImportedNetwork network;
  if (model->opset > kNewestOpset)
    network.notices.push_back(
        fmt::format("operator set {} is newer than {}: rules of {} are used", model->opset, kNewestOpset, kNewestOpset));
  if (values->fixed_batch)
    network.notices.push_back(
        fmt::format("the file fixes the first dimension of its inputs to {}: taken as the batch", *values->fixed_batch));
  Lowering l(*model, std::move(*values), std::move(*builder));
  l.bind_outputs(l.graph.inputs.front(), l.builder.input());
  for (std::size_t i = 1; i < l.graph.inputs.size(); ++i) {
    const Value& input = l.graph.value(l.graph.inputs[i]);
    if (input.readers.empty()) continue;
    l.bind_outputs(l.graph.inputs[i], l.builder.another_input(*per_sample(*input.dims), printable(input.name)));
  }
  const std::vector<Lift> lifts = find_patterns(l.graph, has_fused_attention(*model));
  for (const NodeIndex node : l.graph.order) {
    run_node(l, node, lifts[static_cast<std::size_t>(node)]);
    if (l.failed()) return tl::make_unexpected(with_file(l.problems(), file));
  }
  add_losses(l);
  if (l.failed()) return tl::make_unexpected(with_file(l.problems(), file));
  auto graph = std::move(l.builder).finish();
  if (!graph) return tl::make_unexpected(graph.error());
  if (std::none_of(graph->ops.begin(), graph->ops.end(), [](const Op& op) { return is_loss(op.kind); }))
    return tl::make_unexpected(with_file({"no output depends on an input: there is nothing to train"}, file));
  network.graph = std::move(*graph);
  note_unknown(l, network.graph.ops.size(), network);
  network.sha256 = sha256_hex(without_weights(bytes));
  return network;
}

}  // namespace tbdsim
