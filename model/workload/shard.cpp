// Long because every operator, on every axis, goes through one record of how its inputs are held.
#include "model/workload/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tbdsim {
namespace {

template <class Id>
std::size_t index(Id id) {
  return static_cast<std::size_t>(id.value);
}

std::int64_t rounded_up(std::int64_t extent, int ways) { return (extent + ways - 1) / ways; }

/// How a rank of the tensor axis holds a tensor.
struct Held {
  TensorId id;                         ///< in the share
  std::optional<std::size_t> divided;  ///< dimension of which it has a share
  bool rows = false;                   ///< of which it has a share of the positions (sequence parallelism)
  TensorId whole;                      ///< with all positions, where something needed them; else -1
};

/// Rewrites a graph operator by operator.
class Sharder {
 public:
  Sharder(const OpGraph& graph, const Layout& layout) : graph_(graph), layout_(layout), held_(graph.tensors.size()) {
    share_.name = graph.name;
    share_.variant = graph.variant;
    share_.input_unit = graph.input_unit;
    share_.default_batch = graph.default_batch;
    share_.part_unit = graph.part_unit;
    share_.parts_per_sample = graph.parts_per_sample;
    share_.label_elements = graph.label_elements / layout.context;
    share_.default_optimizer = graph.default_optimizer;
    share_.ops.reserve(graph.ops.size() + graph.ops.size() / 4);
    share_.tensors.reserve(share_.ops.capacity());
    share_.parameters.reserve(graph.parameters.size());
  }

  Result<OpGraph> run() {
    for (const Op& op : graph_.ops) {
      add(op);
      if (!errors_.empty()) return tl::make_unexpected(std::move(errors_));
    }
    return std::move(share_);
  }

 private:
  void refuse(std::string message) {
    Error error;
    error.message = std::move(message);
    errors_.push_back(std::move(error));
  }

  TensorId append(Op op, Shape shape, const Tensor& like, const std::string& name) {
    const OpId id{static_cast<std::int32_t>(share_.ops.size())};
    for (const TensorId input : op.inputs) share_.tensors[index(input)].consumers.push_back(id);
    const TensorId made{static_cast<std::int32_t>(share_.tensors.size())};
    op.output = made;
    share_.tensors.push_back({name, std::move(shape), id, {}, like.needs_gradient});
    share_.ops.push_back(std::move(op));
    return made;
  }

  /// A collective between the ranks of an axis; `shape` of its result.
  TensorId exchange(TensorId of, Shape shape, const CollectiveAttributes& how, const std::string& name) {
    Op op;
    op.name = name;
    op.kind = OpKind::collective;
    op.attributes = how;
    op.inputs = {of};
    const Tensor like = share_.tensor(of);
    return append(std::move(op), std::move(shape), like, name);
  }

  [[nodiscard]] bool tensor_divided() const { return layout_.tensor > 1; }

  /// The tensor with all positions that a product by columns reads; once for all its readers.
  TensorId whole(Held& held, const std::string& name) {
    if (!tensor_divided() || held.divided) return held.id;
    if (held.whole.value >= 0) return held.whole;
    Shape shape = share_.tensor(held.id).shape;
    if (held.rows) {
      shape.front() *= layout_.tensor;
      held.whole = exchange(held.id, std::move(shape),
                            {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, Axis::tensor, layout_.regathers},
                            name + ".gather");
    } else {
      held.whole =
          exchange(held.id, std::move(shape), {std::nullopt, CollectiveKind::all_reduce, Axis::tensor, false}, name + ".copy");
    }
    return held.whole;
  }

  /// The tensor with all positions, for an operator that needs each of them (not a product, whose gradient is a part of a sum).
  TensorId all_positions(Held& held, const std::string& name) {
    if (!held.rows) return held.id;
    if (held.whole.value >= 0) return held.whole;
    return whole(held, name);
  }

  /// A part of a sum over the tensor axis becomes the sum, or this rank's positions of it.
  Held summed(TensorId part, const std::string& name) {
    const Shape& shape = share_.tensor(part).shape;
    const bool rows = layout_.sequence && shape.size() == 2 && shape.front() % layout_.tensor == 0;
    Held held;
    held.rows = rows;
    Shape own = shape;
    if (rows) own.front() /= layout_.tensor;
    held.id =
        exchange(part, std::move(own),
                 rows ? CollectiveAttributes{CollectiveKind::reduce_scatter, CollectiveKind::all_gather, Axis::tensor, false}
                      : CollectiveAttributes{CollectiveKind::all_reduce, std::nullopt, Axis::tensor, false},
                 name + ".sum");
    return held;
  }

  /// Copies the arrays of an operator, with `extent` of dimension `dimension` of the array `which` divided.
  void take_arrays(const Op& op, Op& own, const std::vector<std::pair<std::size_t, std::size_t>>& divided) {
    own.parameters.clear();
    const OpId id{static_cast<std::int32_t>(share_.ops.size())};
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
      Parameter parameter = graph_.parameter(op.parameters[i]);
      parameter.op = id;
      for (const auto& [which, dimension] : divided)
        if (which == i && dimension < parameter.shape.size())
          parameter.shape[dimension] = rounded_up(parameter.shape[dimension], layout_.tensor);
      own.parameters.push_back(ParameterId{static_cast<std::int32_t>(share_.parameters.size())});
      share_.parameters.push_back(std::move(parameter));
    }
    for (const auto& [which, dimension] : divided)
      if (which < own.frozen.size() && dimension < own.frozen[which].size())
        own.frozen[which][dimension] = rounded_up(own.frozen[which][dimension], layout_.tensor);
  }

  void add(const Op& op) {
    Op own = op;
    Held made;
    Shape shape = graph_.output_shape(op);
    std::vector<std::pair<std::size_t, std::size_t>> arrays;
    if (op.kind == OpKind::input) {
      divide_context(op, own, shape);
      made.id = append(std::move(own), std::move(shape), graph_.tensor(op.output), graph_.tensor(op.output).name);
      held_[index(op.output)] = made;
      return;
    }
    const Placement placement = placement_of(op);
    bool partial = false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) own.inputs[i] = held_[index(op.inputs[i])].id;
    if (layout_.expert > 1 && op.kind == OpKind::combine)
      own.inputs.front() = all_to_all(own.inputs.front(), op.name + ".return");
    if (tensor_divided()) partial = divide_tensor(op, placement, own, made, arrays);
    divide_context(op, own, shape);
    if (!errors_.empty()) return;
    if (made.divided) shape[*made.divided] = rounded_up(shape[*made.divided], layout_.tensor);
    if (made.rows) shape.front() /= layout_.tensor;
    divide_attributes(own, shape);
    const bool experts = placement == Placement::experts && layout_.expert > 1;
    if (experts) divide_experts(own);
    if (!errors_.empty()) return;
    take_arrays(op, own, arrays);
    if (experts) {
      for (const ParameterId id : own.parameters) share_.parameters[index(id)].shape.front() /= layout_.expert;
      for (Shape& frozen : own.frozen) frozen.front() /= layout_.expert;
    }
    const std::string name = op.name;
    made.id = append(std::move(own), std::move(shape), graph_.tensor(op.output), graph_.tensor(op.output).name);
    if (layout_.expert > 1 && op.kind == OpKind::route) {
      choice_ = choice_of(graph_, op);
      made.id = all_to_all(made.id, name + ".send");
    }
    if (exchanges_heads(op)) made.id = heads_to_positions(made.id, name + ".return");
    held_[index(op.output)] = partial ? summed(made.id, name) : made;
  }

  /// Rows go to the ranks of their experts, or come back.
  TensorId all_to_all(TensorId rows, const std::string& name) {
    Shape shape = share_.tensor(rows).shape;
    return exchange(rows, std::move(shape),
                    {CollectiveKind::all_to_all, CollectiveKind::all_to_all, Axis::expert, false, choice_}, name);
  }

  /// Whether a rank of the context axis computes this operator for all positions and a share of the heads.
  [[nodiscard]] bool exchanges_heads(const Op& op) const {
    return layout_.context > 1 && layout_.by_heads && info(op.kind).placement == Placement::heads;
  }
  TensorId positions_to_heads(TensorId of, const std::string& name) {
    Shape shape = share_.tensor(of).shape;
    shape.front() *= layout_.context;
    shape.back() /= layout_.context;
    return exchange(of, std::move(shape), {CollectiveKind::all_to_all, CollectiveKind::all_to_all, Axis::context, false}, name);
  }
  TensorId heads_to_positions(TensorId of, const std::string& name) {
    Shape shape = share_.tensor(of).shape;
    shape.front() /= layout_.context;
    shape.back() *= layout_.context;
    return exchange(of, std::move(shape), {CollectiveKind::all_to_all, CollectiveKind::all_to_all, Axis::context, false}, name);
  }

  void divide_experts(Op& own) {
    auto& experts = std::get<GroupedLinearAttributes>(own.attributes);
    if (experts.experts % layout_.expert != 0)
      refuse(fmt::format("--expert-parallel {}: the {} experts of {} do not divide over {} GPUs", layout_.expert, experts.experts,
                         graph_.name, layout_.expert));
    experts.experts /= layout_.expert;
  }

  /// Whether a product's result is read by something that needs all its features: scores of experts, or a norm of a latent, but
  /// no norm of each head.
  [[nodiscard]] bool read_whole(TensorId made) const {
    const std::vector<OpId>& readers = graph_.tensor(made).consumers;
    return std::any_of(readers.begin(), readers.end(), [&](OpId id) {
      const Op& reader = graph_.op(id);
      if (reader.kind == OpKind::slice) return read_whole(reader.output);
      const auto* norm = std::get_if<RmsNormAttributes>(&reader.attributes);
      const bool of_heads = norm != nullptr && norm->width > 0;
      return info(reader.kind).placement == Placement::routed || (info(reader.kind).normalizes && !of_heads);
    });
  }
  /// A product of shares is a part of a sum, which is whole whoever reads it.
  [[nodiscard]] Placement placement_of(const Op& op) const {
    const Placement placement = info(op.kind).placement;
    const bool columns = placement == Placement::product && !held_[index(op.inputs.front())].divided;
    return columns && read_whole(op.output) ? Placement::sequence : placement;
  }

  /// Sets how the output is held and what the operator reads; whether the output is a part of a sum.
  bool divide_tensor(const Op& op, Placement placement, Op& own, Held& made,
                     std::vector<std::pair<std::size_t, std::size_t>>& arrays) {
    Held& first = held_[index(op.inputs.front())];
    switch (placement) {
      case Placement::vocabulary:
        arrays = {{0, 0}};
        return true;
      case Placement::product:
        if (first.divided) {
          arrays = {{0, 1}};
          return true;
        }
        own.inputs.front() = whole(first, op.name);
        arrays = {{0, 0}, {1, 0}};
        made.divided = graph_.output_shape(op).size() - 1;
        return false;
      case Placement::experts:
        if (layout_.expert_tensor == 1) {
          made.rows = first.rows;
          return false;
        }
        if (first.divided) {
          arrays = {{0, 2}};
          return true;
        }
        own.inputs.front() = whole(first, op.name);
        arrays = {{0, 1}, {1, 1}};
        made.divided = graph_.output_shape(op).size() - 1;
        return false;
      case Placement::sum:
      case Placement::sequence:
      case Placement::routed:
        join(op, own, made);
        return false;
      case Placement::permuted:
        if (first.divided) made.divided = moved(std::get<TransposeAttributes>(op.attributes), *first.divided);
        made.rows = first.rows;
        return false;
      case Placement::follows:
      case Placement::heads:
        made.divided = first.divided;
        made.rows = first.rows;
        // Beside shares of features, what all of them share is there with all positions.
        for (std::size_t i = 1; i < op.inputs.size(); ++i)
          if (!first.rows) own.inputs[i] = all_positions(held_[index(op.inputs[i])], op.name);
        check_heads(op, first);
        return false;
      case Placement::replicated:
        for (std::size_t i = 0; i < op.inputs.size(); ++i) own.inputs[i] = all_positions(held_[index(op.inputs[i])], op.name);
        return false;
    }
    return false;
  }

  /// Divided as all inputs are; positions of one that has them all are taken where another has a share.
  void join(const Op& op, Op& own, Held& made) {
    const Held& first = held_[index(op.inputs.front())];
    const auto same = [&](TensorId id) {
      return held_[index(id)].divided == first.divided && held_[index(id)].rows == first.rows;
    };
    if (std::all_of(op.inputs.begin(), op.inputs.end(), same)) {
      made.divided = first.divided;
      made.rows = first.rows;
      return;
    }
    for (std::size_t i = 0; i < op.inputs.size(); ++i) own.inputs[i] = all_positions(held_[index(op.inputs[i])], op.name);
  }

  void check_heads(const Op& op, const Held& first) {
    if (const auto* attention = std::get_if<AttentionAttributes>(&op.attributes); attention != nullptr && first.divided) {
      const std::int64_t shared = attention->kv_heads > 0 ? attention->kv_heads : attention->heads;
      if (shared % layout_.tensor != 0)
        refuse(fmt::format("--tensor-parallel {}: the {} heads of {}{} do not divide over {} GPUs", layout_.tensor, shared,
                           attention->kv_heads > 0 ? "keys and values of " : "", graph_.name, layout_.tensor));
    }
    const bool heads = op.kind == OpKind::reshape && graph_.output_shape(op).size() > graph_.input_shape(op).size();
    if (!heads || !first.divided) return;
    const std::int64_t extent = graph_.output_shape(op)[*first.divided];
    if (extent % layout_.tensor != 0)
      refuse(fmt::format("--tensor-parallel {}: the {} attention heads of {} do not divide over {} GPUs", layout_.tensor, extent,
                         graph_.name, layout_.tensor));
  }

  static void divide_attributes(Op& own, const Shape& output) {
    if (auto* linear = std::get_if<LinearAttributes>(&own.attributes)) linear->out_features = output.back();
    if (auto* experts = std::get_if<GroupedLinearAttributes>(&own.attributes)) experts->out_features = output.back();
  }

  /// Every position-wise tensor holds a share of the positions; attention gathers keys and values.
  void divide_context(const Op& op, Op& own, Shape& shape) {
    if (layout_.tensor > 1)
      if (auto* attention = std::get_if<AttentionAttributes>(&own.attributes);
          attention != nullptr && held_[index(op.inputs.front())].divided) {
        attention->heads /= layout_.tensor;
        attention->kv_heads /= layout_.tensor;
      }
    if (auto* keys = std::get_if<LatentKeysAttributes>(&own.attributes);
        keys != nullptr && layout_.tensor > 1 && held_[index(op.inputs.front())].divided)
      keys->heads /= layout_.tensor;
    if (layout_.context == 1) return;
    if (shape.empty() || shape.size() > 2) {
      refuse(
          fmt::format("--context-parallel {}: the attention of {} is not one operator under this stack; modelled for fused "
                      "attention",
                      layout_.context, graph_.name));
      return;
    }
    if (shape.front() % layout_.context != 0) {
      refuse(fmt::format("--context-parallel {}: the {} positions of {} do not divide over {} GPUs", layout_.context,
                         shape.front(), graph_.name, layout_.context));
      return;
    }
    if (exchanges_heads(op)) {
      divide_heads(own, shape);
      for (TensorId& input : own.inputs) input = positions_to_heads(input, op.name + ".exchange");
      return;
    }
    shape.front() /= layout_.context;
    if (info(op.kind).placement != Placement::heads) return;
    if (auto* attention = std::get_if<AttentionAttributes>(&own.attributes)) attention->both_ends = true;
    for (std::size_t i = 1; i < own.inputs.size(); ++i) {
      Shape all = share_.tensor(own.inputs[i]).shape;
      all.front() *= layout_.context;
      own.inputs[i] =
          exchange(own.inputs[i], std::move(all),
                   {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, Axis::context, true}, op.name + ".ring");
    }
  }

  /// Expects heads that the tensor axis has divided.
  void divide_heads(Op& own, Shape& shape) {
    auto& attention = std::get<AttentionAttributes>(own.attributes);
    const std::int64_t shared = attention.kv_heads > 0 ? attention.kv_heads : attention.heads;
    if (shared % layout_.context != 0)
      refuse(
          fmt::format("--context-parallel {}: exchanges heads, and the {} heads of {}{}{} do not divide over {} GPUs; "
                      "--set stack.parallel.context_exchange=gather or ring",
                      layout_.context, shared, attention.kv_heads > 0 ? "keys and values of " : "", graph_.name,
                      layout_.tensor > 1 ? " on each GPU of the tensor axis" : "", layout_.context));
    attention.heads /= layout_.context;
    attention.kv_heads /= layout_.context;
    shape.back() /= layout_.context;
  }

  static std::size_t moved(const TransposeAttributes& transpose, std::size_t dimension) {
    const auto found = std::find(transpose.order.begin(), transpose.order.end(), static_cast<std::int64_t>(dimension));
    return static_cast<std::size_t>(found - transpose.order.begin());
  }

  const OpGraph& graph_;
  const Layout& layout_;
  OpGraph share_;
  ExpertChoice choice_;     ///< of the last rows that were sent
  std::vector<Held> held_;  ///< of each tensor of the whole graph
  Errors errors_;
};

bool attends(const OpGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return info(op.kind).multiplies_activations; });
}

}  // namespace

bool positions_divide(const OpGraph& graph, const Layout& layout) {
  if (layout.context < 1 || layout.tensor < 1 || !attends(graph)) return true;
  return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) {
    if (op.kind != OpKind::linear) return false;
    const Shape& shape = graph.input_shape(op);
    return shape.size() == 2 && shape.front() % (std::int64_t{layout.context} * layout.tensor) == 0;
  });
}

std::string undivided_positions(const OpGraph& graph, const Layout& layout) {
  return fmt::format("the positions of {} do not divide over the {} GPUs of --tensor-parallel{}", graph.name, layout.tensor,
                     layout.context > 1 ? fmt::format(" and the {} of --context-parallel", layout.context) : "");
}

Result<OpGraph> shard(const OpGraph& graph, const Layout& layout) {
  if (layout.tensor == 1 && layout.context == 1 && layout.expert == 1) return graph;
  const bool experts =
      std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return op.kind == OpKind::grouped_linear; });
  if (layout.expert > 1 && !experts)
    return fail(fmt::format("--expert-parallel {}: {} has no experts", layout.expert, graph.name));
  if (layout.expert > 1 && layout.expert_tensor != 1 && layout.expert_tensor != layout.tensor)
    return fail(fmt::format("--expert-tensor-parallel {}: modelled are 1 and the {} of --tensor-parallel", layout.expert_tensor,
                            layout.tensor));
  if (layout.expert > 1 && layout.expert_tensor == 1 && layout.tensor > 1 && !layout.sequence)
    return fail(
        "--expert-tensor-parallel 1 beside --tensor-parallel: needs --sequence-parallel on, so that each GPU sends rows of its "
        "own");
  if (!attends(graph))
    return fail(fmt::format("{} {}: modelled for networks with attention, {} has none",
                            layout.tensor > 1 ? "--tensor-parallel" : "--context-parallel",
                            layout.tensor > 1 ? layout.tensor : layout.context, graph.name));
  return Sharder(graph, layout).run();
}

}  // namespace tbdsim
