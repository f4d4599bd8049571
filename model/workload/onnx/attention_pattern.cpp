// Attention as PyTorch 2 exports its single operator: scaled scores of queries and keys, an optional mask, softmax, the
// product with values, between the reshapes that split and join heads.
#include <algorithm>
#include <array>
#include <optional>

#include "model/workload/onnx/patterns.hpp"

namespace tbdsim::onnx {
namespace {

class AttentionFinder {
 public:
  explicit AttentionFinder(const ValueGraph& graph) : graph_(graph) {}

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
    const ValueIndex queries = before_heads(graph_.input(scores, 0), scores, group);
    const ValueIndex keys = before_heads(graph_.input(scores, 1), scores, group);
    const ValueIndex values = before_heads(graph_.input(context, 1), context, group);
    if (queries == kAbsent || keys == kAbsent || values == kAbsent) return std::nullopt;
    group.lift = {Pattern::attention, queries, kAbsent, kAbsent, keys, values, graph_.output(scores)};
    return group;
  }

 private:
  const ValueGraph& graph_;

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

  /// Back over transposes and scales to what the heads were split from.
  ValueIndex before_heads(ValueIndex value, NodeIndex user, Group& group) const {
    bool turned = false;
    for (int hops = 0; hops < 4; ++hops) {
      const NodeIndex node = maker(value, user);
      if (node == kAbsent) return kAbsent;
      group.inner.push_back(node);
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
  AttentionFinder finder(graph);
  const auto lift_of = [&](NodeIndex node) -> Lift& { return lifts[static_cast<std::size_t>(node)]; };
  for (const NodeIndex node : graph.order) {
    if (graph.node(node).text->type != "Softmax") continue;
    const auto group = finder.around(node);
    if (!group) continue;
    const bool free = lift_of(group->end).pattern == Pattern::none &&
                      std::all_of(group->inner.begin(), group->inner.end(),
                                  [&](NodeIndex inner) { return lift_of(inner).pattern == Pattern::none; });
    if (!free) continue;
    for (const NodeIndex inner : group->inner) lift_of(inner).pattern = Pattern::inner;
    lift_of(group->end) = group->lift;
  }
}

}  // namespace tbdsim::onnx
