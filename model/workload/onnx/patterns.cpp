#include "model/workload/onnx/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

namespace tbdsim::onnx {
namespace {

class Finder {
 public:
  explicit Finder(const ValueGraph& graph) : graph_(graph), lifts_(graph.nodes.size()) {}

  std::vector<Lift> find() {
    for (const NodeIndex node : graph_.order) {
      const std::string_view type = graph_.type(node);
      if (type == "ReduceMean") layer_norm(node);
      if (type == "ReduceMean") rms_norm(node);
      if (type == "Neg") rope(node);
      if (type == "InstanceNormalization") group_norm(node);
      if (type == "Erf") gelu_by_erf(node);
      if (type == "Tanh") gelu_by_tanh(node);
      if (type == "Sigmoid") gated(node, Pattern::silu);
      if (type == "HardSigmoid") gated(node, Pattern::hardswish);
    }
    return std::move(lifts_);
  }

 private:
  const ValueGraph& graph_;
  std::vector<Lift> lifts_;

  [[nodiscard]] NodeIndex producer(ValueIndex value) const { return value == kAbsent ? kAbsent : graph_.value(value).producer; }

  /// The only node that reads what `node` makes, if it is of `wanted` type.
  [[nodiscard]] NodeIndex next(NodeIndex node, std::string_view wanted) const {
    if (node == kAbsent || graph_.output(node) == kAbsent) return kAbsent;
    const Value& made = graph_.value(graph_.output(node));
    if (made.is_output || made.readers.size() != 1 || graph_.type(made.readers.front()) != wanted) return kAbsent;
    return made.readers.front();
  }

  /// The input of a node with two inputs that is not `known`.
  [[nodiscard]] ValueIndex other(NodeIndex node, ValueIndex known) const {
    if (node == kAbsent || graph_.node(node).inputs.size() != 2) return kAbsent;
    return graph_.input(node, 0) == known ? graph_.input(node, 1) : graph_.input(node, 0);
  }

  [[nodiscard]] bool is(ValueIndex value, Origin origin) const {
    return value != kAbsent && graph_.value(value).origin == origin;
  }

  /// The next node, where its other input is of that origin.
  [[nodiscard]] NodeIndex next_with(NodeIndex node, std::string_view wanted, Origin origin) const {
    const NodeIndex found = next(node, wanted);
    return found != kAbsent && is(other(found, graph_.output(node)), origin) ? found : kAbsent;
  }

  void lift(NodeIndex end, Lift what, std::initializer_list<NodeIndex> inner) {
    for (const NodeIndex node : inner)
      if (node != kAbsent && node != end) lifts_[static_cast<std::size_t>(node)].pattern = Pattern::inner;
    lifts_[static_cast<std::size_t>(end)] = what;
  }

  [[nodiscard]] bool is_free(NodeIndex node) const {
    return node == kAbsent || lifts_[static_cast<std::size_t>(node)].pattern == Pattern::none;
  }

  /// Scale and shift by trained arrays after `node`.
  struct Affine {
    NodeIndex scale = kAbsent, shift = kAbsent;
    ValueIndex gamma = kAbsent, beta = kAbsent;
  };
  [[nodiscard]] Affine affine_after(NodeIndex node) const {
    Affine a;
    a.scale = next_with(node, "Mul", Origin::parameter);
    if (a.scale == kAbsent) return a;
    a.gamma = other(a.scale, graph_.output(node));
    a.shift = next_with(a.scale, "Add", Origin::parameter);
    if (a.shift != kAbsent) a.beta = other(a.shift, graph_.output(a.scale));
    return a;
  }

  void layer_norm(NodeIndex mean) {
    const NodeIndex difference = next(mean, "Sub");
    if (difference == kAbsent || graph_.input(difference, 0) != graph_.input(mean, 0) || !is(graph_.input(mean, 0), Origin::data))
      return;
    const auto& readers = graph_.value(graph_.output(difference)).readers;
    NodeIndex square = kAbsent, ratio = kAbsent;
    for (const NodeIndex reader : readers) {
      if (graph_.type(reader) == "Pow" || graph_.type(reader) == "Mul") square = reader;
      if (graph_.type(reader) == "Div" && graph_.input(reader, 0) == graph_.output(difference)) ratio = reader;
    }
    if (square == kAbsent || ratio == kAbsent || graph_.value(graph_.output(difference)).is_output) return;
    const std::size_t expected = graph_.type(square) == "Mul" ? 3 : 2;  // squaring by a product reads it twice
    const NodeIndex variance = next(square, "ReduceMean");
    const NodeIndex guarded = variance == kAbsent ? kAbsent : next_with(variance, "Add", Origin::constant);
    const NodeIndex root = next(guarded, "Sqrt");
    if (readers.size() != expected || root == kAbsent || next(root, "Div") != ratio) return;
    const Affine a = affine_after(ratio);
    const NodeIndex end = a.shift != kAbsent ? a.shift : a.scale != kAbsent ? a.scale : ratio;
    lift(end, {Pattern::layer_norm, graph_.input(mean, 0), a.gamma, a.beta},
         {mean, difference, square, variance, guarded, root, ratio, a.scale, a.shift});
  }

  /// x times the reciprocal root of the mean of its squares, or over that root.
  void rms_norm(NodeIndex mean) {
    const NodeIndex square = producer(graph_.input(mean, 0));
    if ((graph_.type(square) != "Pow" && graph_.type(square) != "Mul") || next(square, "ReduceMean") != mean || !is_free(mean))
      return;
    const ValueIndex x = graph_.input(square, 0);
    const bool squares =
        graph_.type(square) == "Pow" ? is(graph_.input(square, 1), Origin::constant) : graph_.input(square, 1) == x;
    if (!squares || !is(x, Origin::data)) return;
    const NodeIndex guarded = next_with(mean, "Add", Origin::constant), root = next(guarded, "Sqrt");
    NodeIndex inverse = next(root, "Reciprocal"), ratio = next(root, "Div");
    if (ratio != kAbsent && is(graph_.input(ratio, 0), Origin::constant)) inverse = ratio;
    if (inverse != kAbsent) ratio = next(inverse, "Mul");
    if (root == kAbsent || ratio == kAbsent || other(ratio, graph_.output(inverse != kAbsent ? inverse : root)) != x) return;
    const NodeIndex scale = next_with(ratio, "Mul", Origin::parameter);
    if (scale == kAbsent) return;
    lift(scale, {Pattern::rms_norm, x, other(scale, graph_.output(ratio))}, {square, mean, guarded, root, inverse, ratio});
  }

  /// x cos + (-second half, first half) sin, as Hugging Face's transformers write it.
  void rope(NodeIndex negative) {
    const NodeIndex second = producer(graph_.input(negative, 0)), halves = next(negative, "Concat");
    if (graph_.type(second) != "Slice" || next(second, "Neg") != negative || halves == kAbsent) return;
    const ValueIndex x = graph_.input(second, 0);
    const NodeIndex first = producer(graph_.input(halves, 1));
    if (graph_.type(first) != "Slice" || graph_.input(first, 0) != x || next(first, "Concat") != halves || !is(x, Origin::data))
      return;
    const NodeIndex sine = next(halves, "Mul"), sum = next(sine, "Add");
    if (sum == kAbsent || is(other(sine, graph_.output(halves)), Origin::data)) return;
    const NodeIndex cosine = producer(other(sum, graph_.output(sine)));
    if (graph_.type(cosine) != "Mul" || next(cosine, "Add") != sum) return;
    const ValueIndex angles = graph_.input(cosine, 0) == x ? graph_.input(cosine, 1) : graph_.input(cosine, 0);
    if (other(cosine, angles) != x || is(angles, Origin::data)) return;
    lift(sum, {Pattern::rope, x}, {negative, second, first, halves, sine, cosine});
  }

  void group_norm(NodeIndex norm) {
    const NodeIndex before = producer(graph_.input(norm, 0)), after = next(norm, "Reshape");
    if (graph_.type(before) != "Reshape" || after == kAbsent || next(before, "InstanceNormalization") != norm) return;
    if (!is(graph_.input(before, 0), Origin::data) || !is(graph_.input(norm, 1), Origin::constant)) return;
    const Affine a = affine_after(after);
    if (a.shift == kAbsent) return;
    lift(a.shift, {Pattern::group_norm, graph_.input(before, 0), a.gamma, a.beta, kAbsent, kAbsent, graph_.input(norm, 1)},
         {before, norm, after, a.scale});
  }

  /// (1 + y) of `wave`, times x and a half in whichever order; `inside` are the nodes before `wave`.
  void finish_gelu(NodeIndex wave, ValueIndex x, std::initializer_list<NodeIndex> inside) {
    const NodeIndex plus = next_with(wave, "Add", Origin::constant), gate = next(plus, "Mul");
    if (gate == kAbsent) return;
    const ValueIndex factor = other(gate, graph_.output(plus));
    const NodeIndex halves = producer(factor);
    const bool half_before = factor != x && graph_.type(halves) == "Mul" &&
                             (graph_.input(halves, 0) == x || graph_.input(halves, 1) == x) &&
                             is(other(halves, x), Origin::constant) && next(halves, "Mul") == gate;
    const NodeIndex half_after = factor == x ? next_with(gate, "Mul", Origin::constant) : kAbsent;
    if (factor == kAbsent || (!half_before && half_after == kAbsent)) return;
    const NodeIndex end = half_before ? gate : half_after;
    lift(end, {Pattern::gelu, x}, {wave, plus, gate, half_before ? halves : kAbsent});
    for (const NodeIndex node : inside)
      if (node != kAbsent) lifts_[static_cast<std::size_t>(node)].pattern = Pattern::inner;
  }

  void gelu_by_erf(NodeIndex erf) {
    const NodeIndex scaled = producer(graph_.input(erf, 0));
    if ((graph_.type(scaled) != "Div" && graph_.type(scaled) != "Mul") || next(scaled, "Erf") != erf) return;
    const bool first = is(graph_.input(scaled, 0), Origin::data);
    const ValueIndex x = graph_.input(scaled, first ? 0 : 1);
    if (!is(x, Origin::data) || !is(other(scaled, x), Origin::constant)) return;
    finish_gelu(erf, x, {scaled});
  }

  /// tanh(c (x + d x^3)), the cube as a power or as products.
  void gelu_by_tanh(NodeIndex tanh) {
    const NodeIndex scaled = producer(graph_.input(tanh, 0));
    if (graph_.type(scaled) != "Mul" || next(scaled, "Tanh") != tanh) return;
    const bool first = !is(graph_.input(scaled, 0), Origin::constant);
    const NodeIndex sum = producer(graph_.input(scaled, first ? 0 : 1));
    if (graph_.type(sum) != "Add" || next(sum, "Mul") != scaled) return;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const ValueIndex x = graph_.input(sum, side);
      const NodeIndex term = producer(graph_.input(sum, 1 - side));
      if (graph_.type(term) != "Mul" || next(term, "Add") != sum) continue;
      const bool cube_first = !is(graph_.input(term, 0), Origin::constant);
      const NodeIndex cube = producer(graph_.input(term, cube_first ? 0 : 1));
      if (graph_.type(cube) != "Pow" || graph_.input(cube, 0) != x || next(cube, "Mul") != term) continue;
      return finish_gelu(tanh, x, {scaled, sum, term, cube});
    }
  }

  void gated(NodeIndex gate, Pattern pattern) {
    const NodeIndex product = next(gate, "Mul");
    if (product == kAbsent || other(product, graph_.output(gate)) != graph_.input(gate, 0) || !is_free(gate)) return;
    lift(product, {pattern, graph_.input(gate, 0)}, {gate});
  }
};

}  // namespace

std::vector<Lift> find_patterns(const ValueGraph& graph, bool fused_attention) {
  std::vector<Lift> lifts = Finder(graph).find();
  if (fused_attention) find_attention(graph, lifts);
  return lifts;
}

}  // namespace tbdsim::onnx
