// Attention as PyTorch 2 exports its single operator: scaled scores of queries and keys, an optional mask, softmax, the
// product with values, between the reshapes that split and join heads. Positions may turn queries and keys, and heads of keys and
// values may be copied for the heads of queries that share them.
#include <algorithm>
#include <array>
#include <optional>

#include "model/workload/onnx/patterns.hpp"

namespace tbdsim::onnx {
namespace {

class AttentionFinder {
 public:
  AttentionFinder(const ValueGraph& graph, const std::vector<Lift>& lifts) : graph_(graph), lifts_(lifts) {}

  /// The group around a softmax: its last node, the others, and what it reads.
  struct Group {
    NodeIndex end = kAbsent;
    std::vector<NodeIndex> inner;
    Lift lift;
  };

  std::optional<Group> around(NodeIndex softmax) {
    Group group;
    group.inner.push_back(softmax);
    const NodeIndex scores = scores_before(softmax, group);
    const NodeIndex context = reader(softmax, "MatMul");
    if (scores == kAbsent || context == kAbsent || graph_.input(context, 0) != graph_.output(softmax)) return std::nullopt;
    const NodeIndex join = reader(context, "Transpose"), end = reader(join, "Reshape");
    if (end == kAbsent) return std::nullopt;
    group.inner.insert(group.inner.end(), {scores, context, join});
    group.end = end;
    bool turns_queries = false, turns_keys = false, turns_values = false;
    const ValueIndex queries = before_heads(graph_.input(scores, 0), scores, group, turns_queries);
    const ValueIndex keys = before_heads(graph_.input(scores, 1), scores, group, turns_keys);
    const ValueIndex values = before_heads(graph_.input(context, 1), context, group, turns_values);
    if (queries == kAbsent || keys == kAbsent || values == kAbsent || turns_values) return std::nullopt;
    group.lift = {Pattern::attention, queries, kAbsent, kAbsent, keys, values, graph_.output(scores), turns_queries, turns_keys};
    return group;
  }

  /// Whether a node is free, or part of a rotation that this group took in.
  [[nodiscard]] bool takes(NodeIndex node) const {
    const Pattern pattern = lifts_[static_cast<std::size_t>(node)].pattern;
    return pattern == Pattern::none || pattern == Pattern::rope;
  }

 private:
  const ValueGraph& graph_;
  const std::vector<Lift>& lifts_;

  [[nodiscard]] bool is_data(ValueIndex value) const { return value != kAbsent && graph_.value(value).origin == Origin::data; }

  /// The only node that reads what `node` makes, if it is of that type.
  [[nodiscard]] NodeIndex reader(NodeIndex node, std::string_view wanted) const {
    if (node == kAbsent || graph_.output(node) == kAbsent) return kAbsent;
    const Value& made = graph_.value(graph_.output(node));
    if (made.is_output || made.readers.size() != 1) return kAbsent;
    return graph_.type(made.readers.front()) == wanted ? made.readers.front() : kAbsent;
  }

  /// The node that makes `value` for `user` alone.
  [[nodiscard]] NodeIndex maker(ValueIndex value, NodeIndex user) const {
    if (!is_data(value)) return kAbsent;
    const Value& v = graph_.value(value);
    const bool alone = !v.is_output && v.readers.size() == 1 && v.readers.front() == user;
    return alone ? v.producer : kAbsent;
  }

  /// The one input that is data.
  [[nodiscard]] ValueIndex data_input(NodeIndex node) const {
    const ValueIndex a = graph_.input(node, 0), b = graph_.input(node, 1);
    if (is_data(a) == is_data(b)) return kAbsent;
    return is_data(a) ? a : b;
  }

  /// Back from the softmax over a mask and a scale to the product.
  NodeIndex scores_before(NodeIndex softmax, Group& group) const {
    NodeIndex user = softmax;
    ValueIndex value = graph_.input(softmax, 0);
    for (int hops = 0; hops < 3; ++hops) {
      const NodeIndex node = maker(value, user);
      if (graph_.type(node) == "MatMul") return node;
      if (graph_.type(node) != "Add" && graph_.type(node) != "Mul" && graph_.type(node) != "Div") return kAbsent;
      group.inner.push_back(node);
      user = node;
      value = data_input(node);
    }
    return kAbsent;
  }

  /// The node that makes `value` for the nodes of a rotation alone.
  [[nodiscard]] NodeIndex maker_of_turned(ValueIndex value) const {
    const Value& v = graph_.value(value);
    const bool alone = !v.is_output && std::all_of(v.readers.begin(), v.readers.end(), [&](NodeIndex reader) {
      return lifts_[static_cast<std::size_t>(reader)].pattern == Pattern::inner;
    });
    return alone ? v.producer : kAbsent;
  }

  /// Heads that are copied for several of queries: what they are copied from; `kAbsent` where `joined` copies none.
  ValueIndex before_copies(NodeIndex joined, Group& group) const {
    const NodeIndex copies = maker(graph_.input(joined, 0), joined);
    if (graph_.type(copies) != "Expand") return kAbsent;
    const NodeIndex apart = maker(graph_.input(copies, 0), copies);
    if (graph_.type(apart) != "Unsqueeze") return kAbsent;
    group.inner.insert(group.inner.end(), {copies, apart});
    return graph_.input(apart, 0);
  }

  /// Back over transposes, scales, copies and one rotation (`rotated`) to what the heads were split from.
  ValueIndex before_heads(ValueIndex value, NodeIndex user, Group& group, bool& rotated) const {
    bool turned = false, after_rotation = false;
    for (int hops = 0; hops < 8; ++hops) {
      const NodeIndex node = after_rotation ? maker_of_turned(value) : maker(value, user);
      if (node == kAbsent) return kAbsent;
      after_rotation = false;
      group.inner.push_back(node);
      if (const Lift& lift = lifts_[static_cast<std::size_t>(node)]; lift.pattern == Pattern::rope && !rotated) {
        rotated = after_rotation = true;
        value = lift.input;
        continue;
      }
      if (graph_.type(node) == "Reshape") {
        if (const ValueIndex copied = before_copies(node, group); copied != kAbsent) {
          user = group.inner.back();
          value = copied;
          continue;
        }
      }
      if (graph_.type(node) == "Reshape") {
        constexpr std::array<std::string_view, 5> kFlat{"Add", "MatMul", "Gemm", "Split", "Slice"};
        const ValueIndex whole = graph_.input(node, 0);
        const std::string_view made_by = whole == kAbsent ? "" : graph_.type(graph_.value(whole).producer);
        const bool flat = std::find(kFlat.begin(), kFlat.end(), made_by) != kFlat.end();
        return turned && flat && is_data(whole) ? whole : kAbsent;
      }
      if (graph_.type(node) != "Transpose" && graph_.type(node) != "Mul" && graph_.type(node) != "Div") return kAbsent;
      turned = turned || graph_.type(node) == "Transpose";
      user = node;
      value = graph_.type(node) == "Transpose" ? graph_.input(node, 0) : data_input(node);
    }
    return kAbsent;
  }
};

}  // namespace

void find_attention(const ValueGraph& graph, std::vector<Lift>& lifts) {
  AttentionFinder finder(graph, lifts);
  const auto lift_of = [&](NodeIndex node) -> Lift& { return lifts[static_cast<std::size_t>(node)]; };
  for (const NodeIndex node : graph.order) {
    if (graph.node(node).text->type != "Softmax") continue;
    const auto group = finder.around(node);
    if (!group) continue;
    const bool free = lift_of(group->end).pattern == Pattern::none &&
                      std::all_of(group->inner.begin(), group->inner.end(), [&](NodeIndex inner) { return finder.takes(inner); });
    if (!free) continue;
    for (const NodeIndex inner : group->inner) lift_of(inner).pattern = Pattern::inner;
    lift_of(group->end) = group->lift;
  }
}

}  // namespace tbdsim::onnx
