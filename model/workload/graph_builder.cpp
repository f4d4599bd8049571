#include "model/workload/graph_builder.hpp"

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

// Most networks of the zoo have fewer operators: one allocation instead of nine.
constexpr std::size_t kTypicalOps = 256;

/// Trains an array that another operator owns.
bool is_tied(const Op& op) {
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  const auto* embedding = std::get_if<EmbeddingAttributes>(&op.attributes);
  const auto* bias = std::get_if<LearnedBiasAttributes>(&op.attributes);
  return (linear != nullptr && linear->tied) || (embedding != nullptr && embedding->tied) || (bias != nullptr && bias->tied);
}

/// SGD with momentum for convolutional networks, Adam for those of sequences and of vectors alone. Sparse gradients are taken by
/// plain SGD.
std::string usual_optimizer(const OpGraph& graph) {
  if (has_sparse_gradients(graph)) return "sgd";
  bool images = false;
  for (const Op& op : graph.ops) {
    images = images || op.kind == OpKind::convolution;
    const OperatorRow& row = info(op.kind);
    if (row.family == OpFamily::recurrent || row.multiplies_activations || op.kind == OpKind::embedding) return "adam";
  }
  return images ? "sgd-momentum" : "adam";
}

}  // namespace

GraphBuilder::ParameterNames GraphBuilder::parameter_names(std::string_view variant) {
  if (variant == "mxnet") return {"_weight", "_bias", "_gamma", "_beta", "_", true};
  if (variant == "tf") return {"/weights", "/biases", "/gamma", "/beta", "/", false};
  return {".weight", ".bias", ".weight", ".bias", ".", false};
}

GraphBuilder::GraphBuilder(std::string name, std::string variant, std::string input_unit, Shape input_shape, int default_batch)
    : names_(parameter_names(variant)) {
  graph_.name = std::move(name);
  graph_.variant = std::move(variant);
  graph_.input_unit = std::move(input_unit);
  graph_.default_batch = default_batch;
  graph_.ops.reserve(kTypicalOps);
  graph_.tensors.reserve(kTypicalOps);
  graph_.parameters.reserve(kTypicalOps);
  bool positive = !input_shape.empty();
  for (const std::int64_t extent : input_shape) positive = positive && extent > 0;
  if (!positive) problem(fmt::format("input: every dimension must be at least 1, got \"{}\"", to_text(input_shape)));
  append(OpKind::input, {}, {}, "input", false, std::move(input_shape));
}

TensorId GraphBuilder::input() const { return TensorId{0}; }

void GraphBuilder::later_calls_attention() { graph_.later_calls_attention = true; }

void GraphBuilder::counts_in(std::string unit, double per_sample) {
  graph_.part_unit = std::move(unit);
  graph_.parts_per_sample = per_sample;
}

void GraphBuilder::trains_with(std::string optimizer) { graph_.default_optimizer = std::move(optimizer); }

void GraphBuilder::labels(double elements) { graph_.label_elements = elements; }

void GraphBuilder::set_weights(Weights weights) { weights_ = weights; }

TensorId GraphBuilder::another_input(Shape shape, std::string name) {
  append(OpKind::input, {}, {}, std::move(name), false, std::move(shape));
  return graph_.ops.back().output;
}

const Shape& GraphBuilder::shape(TensorId tensor) const { return graph_.tensor(tensor).shape; }

TensorId GraphBuilder::add(OpKind kind, std::vector<TensorId> inputs, OpAttributes attributes, std::string name, bool inplace) {
  if (!problems_.empty()) return graph_.ops.back().output;
  auto& count = kind_counts_[static_cast<std::size_t>(kind)];
  if (name.empty()) name = fmt::format("{}{}", info(kind).name, count);
  ++count;
  std::vector<const Shape*> shapes;
  shapes.reserve(inputs.size());
  for (const TensorId input : inputs) shapes.push_back(&graph_.tensor(input).shape);
  auto output = infer_shape(kind, attributes, shapes);
  if (!output) {
    problem(fmt::format("{}: {}", name, output.error()));
    return graph_.ops.back().output;
  }
  append(kind, std::move(inputs), std::move(attributes), std::move(name), inplace, std::move(*output));
  return graph_.ops.back().output;
}

void GraphBuilder::append(OpKind kind, std::vector<TensorId> inputs, OpAttributes attributes, std::string name, bool inplace,
                          Shape output) {
  const OpId id{static_cast<std::int32_t>(graph_.ops.size())};
  for (const TensorId input : inputs) graph_.tensors[static_cast<std::size_t>(input.value)].consumers.push_back(id);
  const TensorId result{static_cast<std::int32_t>(graph_.tensors.size())};
  graph_.tensors.push_back({name, std::move(output), id, {}, false});
  graph_.ops.push_back({std::move(name), kind, std::move(attributes), std::move(inputs), result, {}, false, inplace, {}});
  if (!info(kind).has_parameters()) return;
  if (weights_ == Weights::own) append_parameters(id);
  Op& op = graph_.ops.back();
  op.shares_weights = weights_ == Weights::shared;
  if (weights_ != Weights::frozen) return;
  for (ParameterSpec& spec : parameters_of(kind, op.attributes, graph_.input_shape(op), names_.keeps_fixed_gamma))
    op.frozen.push_back(std::move(spec.shape));
}

void GraphBuilder::append_parameters(OpId id) {
  Op& op = graph_.ops[static_cast<std::size_t>(id.value)];
  using Role = ParameterSpec::Role;
  for (ParameterSpec& spec : parameters_of(op.kind, op.attributes, graph_.input_shape(op), names_.keeps_fixed_gamma)) {
    std::string name = op.name;
    switch (spec.role) {
      case Role::weight:
        name += names_.weight;
        break;
      case Role::bias:
        name += names_.bias;
        break;
      case Role::gamma:
        name += names_.gamma;
        break;
      case Role::beta:
        name += names_.beta;
        break;
      case Role::recurrent:
        (name += names_.separator) += spec.suffix;
        break;
    }
    op.parameters.push_back(ParameterId{static_cast<std::int32_t>(graph_.parameters.size())});
    graph_.parameters.push_back({std::move(name), std::move(spec.shape), id, spec.rows_read});
  }
}

TensorId GraphBuilder::convolution(TensorId x, ConvolutionAttributes attributes, std::string name) {
  return add(OpKind::convolution, {x}, attributes, std::move(name));
}
TensorId GraphBuilder::linear(TensorId x, std::int64_t out_features, std::string name, bool bias) {
  return add(OpKind::linear, {x}, LinearAttributes{out_features, bias}, std::move(name));
}
TensorId GraphBuilder::batch_norm(TensorId x, std::string name, BatchNormAttributes attributes) {
  return add(OpKind::batch_norm, {x}, attributes, std::move(name));
}
TensorId GraphBuilder::relu(TensorId x, std::string name, bool inplace) {
  return activation(x, ActivationKind::relu, std::move(name), inplace);
}
TensorId GraphBuilder::activation(TensorId x, ActivationKind kind, std::string name, bool inplace) {
  return add(OpKind::activation, {x}, ActivationAttributes{kind}, std::move(name), inplace);
}
TensorId GraphBuilder::pool(TensorId x, PoolAttributes attributes, std::string name) {
  return add(OpKind::pool, {x}, attributes, std::move(name));
}
TensorId GraphBuilder::global_average_pool(TensorId x, std::string name) {
  return add(OpKind::global_average_pool, {x}, {}, std::move(name));
}
TensorId GraphBuilder::plus(TensorId a, TensorId b, std::string name) { return add(OpKind::add, {a, b}, {}, std::move(name)); }
TensorId GraphBuilder::concat(std::vector<TensorId> parts, std::string name) {
  return add(OpKind::concat, std::move(parts), {}, std::move(name));
}
TensorId GraphBuilder::dropout(TensorId x, double probability, std::string name) {
  return add(OpKind::dropout, {x}, DropoutAttributes{probability}, std::move(name));
}
TensorId GraphBuilder::flatten(TensorId x, std::string name) { return add(OpKind::reshape, {x}, {}, std::move(name)); }
TensorId GraphBuilder::reshape(TensorId x, Shape to, std::string name) {
  return add(OpKind::reshape, {x}, ReshapeAttributes{std::move(to)}, std::move(name));
}
TensorId GraphBuilder::transpose(TensorId x, std::vector<std::int64_t> order, std::string name) {
  return add(OpKind::transpose, {x}, TransposeAttributes{std::move(order)}, std::move(name));
}
TensorId GraphBuilder::softmax_loss(TensorId x, std::string name) { return add(OpKind::softmax_loss, {x}, {}, std::move(name)); }

const std::vector<std::string>& GraphBuilder::problems() const { return problems_; }

void GraphBuilder::problem(std::string text) { problems_.push_back(std::move(text)); }

Result<OpGraph> GraphBuilder::finish() && {
  if (!problems_.empty()) {
    Errors errors;
    for (std::string& text : problems_) errors.push_back(Error{std::move(text)});
    return tl::make_unexpected(std::move(errors));
  }
  for (const Op& op : graph_.ops) {
    bool trainable = !op.parameters.empty() || op.shares_weights || is_tied(op);
    for (const TensorId input : op.inputs) trainable = trainable || graph_.tensor(input).needs_gradient;
    trainable = trainable && info(op.kind).gradient != GradientRule::none;
    graph_.tensors[static_cast<std::size_t>(op.output.value)].needs_gradient = trainable;
  }
  if (graph_.default_optimizer.empty()) graph_.default_optimizer = usual_optimizer(graph_);
  return std::move(graph_);
}

}  // namespace tbdsim
