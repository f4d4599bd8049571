#include "model/workload/parallelism.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/workload/recompute.hpp"

namespace tbdsim {
namespace {

template <class Id>
std::size_t index(Id id) {
  return static_cast<std::size_t>(id.value);
}

std::int64_t rounded_up(std::int64_t extent, int ways) { return (extent + ways - 1) / ways; }

bool has_attention(const OpGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return info(op.kind).multiplies_activations; });
}

/// Divides the tensors and arrays of a graph in place.
class TensorDivider {
 public:
  TensorDivider(OpGraph& graph, int ways) : graph_(graph), ways_(ways), divided_(graph.tensors.size()) {}

  Result<void> run() {
    for (Op& op : graph_.ops) {
      const auto dimension = divided_dimension(op);
      if (!dimension) continue;
      if (const auto* attention = std::get_if<AttentionAttributes>(&op.attributes);
          attention != nullptr && attention->kv_heads % ways_ != 0)
        return fail(fmt::format("--tensor-parallel {}: the {} heads of keys and values of {} do not divide over {} GPUs", ways_,
                                attention->kv_heads, graph_.name, ways_));
      auto& extent = graph_.tensors[index(op.output)].shape[*dimension];
      // Whole heads go to a GPU; other extents are padded.
      const bool heads = op.kind == OpKind::reshape && graph_.output_shape(op).size() > graph_.input_shape(op).size();
      if (heads && extent % ways_ != 0)
        return fail(fmt::format("--tensor-parallel {}: the {} attention heads of {} do not divide over {} GPUs", ways_, extent,
                                graph_.name, ways_));
      extent = rounded_up(extent, ways_);
      divided_[index(op.output)] = dimension;
      divide_attributes(op);
    }
    return {};
  }

 private:
  void divide_array(const Op& op, std::size_t which, std::size_t dimension) {
    if (which >= op.parameters.size()) return;
    Shape& shape = graph_.parameters[index(op.parameters[which])].shape;
    if (dimension < shape.size()) shape[dimension] = rounded_up(shape[dimension], ways_);
  }

  void divide_attributes(Op& op) const {
    if (auto* linear = std::get_if<LinearAttributes>(&op.attributes)) linear->out_features = graph_.output_shape(op).back();
    if (auto* experts = std::get_if<GroupedLinearAttributes>(&op.attributes))
      experts->out_features = graph_.output_shape(op).back();
    if (auto* keys = std::get_if<LatentKeysAttributes>(&op.attributes)) keys->heads = rounded_up(keys->heads, ways_);
    if (auto* attention = std::get_if<AttentionAttributes>(&op.attributes))
      attention->heads = rounded_up(attention->heads, ways_), attention->kv_heads /= ways_;
  }

  /// The dimension in which the output is divided; none: every GPU has all of it.
  std::optional<std::size_t> divided_dimension(const Op& op) {
    const Placement placement = info(op.kind).placement;
    if (placement == Placement::vocabulary) divide_array(op, 0, 0);
    if (op.inputs.empty()) return std::nullopt;
    const std::optional<std::size_t> input = divided_[index(op.inputs.front())];
    switch (placement) {
      case Placement::product:
        return product(op, input, 0);
      case Placement::experts:
        return product(op, input, 1);
      case Placement::sum: {
        const bool all =
            std::all_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) { return divided_[index(id)] == input; });
        return all ? input : std::nullopt;
      }
      case Placement::permuted:
        return input ? moved(std::get<TransposeAttributes>(op.attributes), *input) : input;
      case Placement::follows:
      case Placement::heads:
        return input;
      case Placement::replicated:
      case Placement::sequence:
      case Placement::vocabulary:
      case Placement::routed:
        return std::nullopt;
    }
    return std::nullopt;
  }

  /// `stacked`: dimensions of the arrays before rows and columns.
  std::optional<std::size_t> product(const Op& op, std::optional<std::size_t> input, std::size_t stacked) {
    if (input) {
      divide_array(op, 0, stacked + 1);
      return std::nullopt;
    }
    divide_array(op, 0, stacked);
    divide_array(op, 1, stacked);
    return graph_.output_shape(op).size() - 1;
  }

  static std::size_t moved(const TransposeAttributes& transpose, std::size_t dimension) {
    const auto found = std::find(transpose.order.begin(), transpose.order.end(), static_cast<std::int64_t>(dimension));
    return static_cast<std::size_t>(found - transpose.order.begin());
  }

  OpGraph& graph_;
  int ways_;
  std::vector<std::optional<std::size_t>> divided_;  ///< of each tensor
};

/// Copies the operators of one stage into a graph of their own.
class StageCutter {
 public:
  StageCutter(const OpGraph& graph, const std::vector<int>& stage, int which)
      : graph_(graph), stage_(stage), which_(which), tensors_(graph.tensors.size()) {}

  OpGraph run() {
    part_.name = graph_.name;
    part_.variant = graph_.variant;
    part_.input_unit = graph_.input_unit;
    part_.default_batch = graph_.default_batch;
    part_.default_optimizer = graph_.default_optimizer;
    if (which_ == stage_.back()) part_.label_elements = graph_.label_elements;
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (stage_[i] == which_) receive(graph_.ops[i]);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (stage_[i] == which_) copy(graph_.ops[i]);
    return std::move(part_);
  }

 private:
  TensorId append(const Tensor& tensor, Op op) {
    const OpId id{static_cast<std::int32_t>(part_.ops.size())};
    for (const TensorId input : op.inputs) part_.tensors[index(input)].consumers.push_back(id);
    const TensorId made{static_cast<std::int32_t>(part_.tensors.size())};
    op.output = made;
    part_.tensors.push_back({tensor.name, tensor.shape, id, {}, tensor.needs_gradient});
    part_.ops.push_back(std::move(op));
    return made;
  }

  void receive(const Op& op) {
    for (const TensorId input : op.inputs) {
      const Tensor& tensor = graph_.tensor(input);
      if (stage_[index(tensor.producer)] == which_ || tensors_[index(input)].value >= 0) continue;
      Op received;
      received.name = tensor.name;
      tensors_[index(input)] = append(tensor, std::move(received));
    }
  }

  void copy(const Op& op) {
    Op own = op;
    for (TensorId& input : own.inputs) input = tensors_[index(input)];
    own.parameters.clear();
    const OpId id{static_cast<std::int32_t>(part_.ops.size())};
    for (const ParameterId old : op.parameters) own.parameters.push_back(take(graph_.parameter(old), id));
    if (auto* linear = std::get_if<LinearAttributes>(&own.attributes); linear != nullptr && linear->tied) {
      const Shape table{linear->out_features, graph_.input_shape(op).back()};
      if (!holds(elements(table))) {
        linear->tied = false;
        own.parameters.push_back(take({own.name + ".copy", table, id}, id));
      }
    }
    tensors_[index(op.output)] = append(graph_.tensor(op.output), std::move(own));
  }

  ParameterId take(Parameter parameter, OpId op) {
    parameter.op = op;
    part_.parameters.push_back(std::move(parameter));
    return ParameterId{static_cast<std::int32_t>(part_.parameters.size()) - 1};
  }

  [[nodiscard]] bool holds(std::int64_t count) const {
    return std::any_of(part_.parameters.begin(), part_.parameters.end(),
                       [&](const Parameter& parameter) { return elements(parameter.shape) == count; });
  }

  const OpGraph& graph_;
  const std::vector<int>& stage_;
  int which_;
  std::vector<TensorId> tensors_;  ///< in the part; -1: not there
  OpGraph part_;
};

}  // namespace

Result<OpGraph> tensor_share(const OpGraph& graph, int ways) {
  if (!has_attention(graph))
    return fail(fmt::format("--tensor-parallel {}: modelled for networks with attention, {} has none", ways, graph.name));
  OpGraph share = graph;
  if (const auto divided = TensorDivider(share, ways).run(); !divided) return tl::make_unexpected(divided.error());
  return share;
}

Result<std::vector<int>> even_stages(const OpGraph& graph, int stages) {
  const std::vector<OpId> segments = recompute_segments(graph, Recompute::layer);
  const bool head = segments.size() > 1 && is_loss(graph.ops.back().kind);
  const auto layers = static_cast<int>(segments.size()) - (head ? 1 : 0);
  if (layers < stages) {
    // Without attention a segment is a block, of which a network has fewer than layers with parameters.
    const char* const counted =
        has_attention(graph) ? "layers" : "parts that can be stages (residual units, layers up to a pooling)";
    return fail(fmt::format("--pipeline {}: {} has {} {}, fewer than stages", stages, graph.name, layers, counted));
  }
  std::vector<int> stage(graph.ops.size(), 0);
  for (int layer = 0; layer < static_cast<int>(segments.size()); ++layer)
    std::fill(stage.begin() + segments[static_cast<std::size_t>(layer)].value, stage.end(),
              std::min(layer * stages / layers, stages - 1));
  return stage;
}

OpGraph stage_share(const OpGraph& graph, const std::vector<int>& stage, int which) {
  return StageCutter(graph, stage, which).run();
}

}  // namespace tbdsim
