#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/workload/graph_builder.hpp"
#include "model/workload/onnx/value_graph.hpp"

namespace tbdsim::onnx {

/// The network under construction: which tensor stands for which value, and what operators append.
///
/// Shapes and small integers are worked out node by node in running order (`infer`), so that one walk folds all shape
/// arithmetic. A node that computes with data then appends operators (`emit_*`).
class Lowering {
 public:
  Lowering(const ModelText& model, ValueGraph graph, GraphBuilder builder);

  const ModelText& model;
  ValueGraph graph;
  GraphBuilder builder;

  // What a node is and holds.
  [[nodiscard]] std::string_view type(NodeIndex node) const { return graph.node(node).text->type; }
  [[nodiscard]] ValueIndex input(NodeIndex node, std::size_t i) const;
  [[nodiscard]] ValueIndex output(NodeIndex node, std::size_t i = 0) const;
  [[nodiscard]] bool has_input(NodeIndex node, std::size_t i) const { return input(node, i) != kAbsent; }
  [[nodiscard]] bool is(ValueIndex value, Origin origin) const { return value != kAbsent && graph.value(value).origin == origin; }
  /// Computed with data: data itself or a state.
  [[nodiscard]] bool is_data(ValueIndex value) const { return value != kAbsent && graph.value(value).origin >= Origin::state; }
  [[nodiscard]] const AttributeText* attribute(NodeIndex node, std::string_view name) const;
  [[nodiscard]] std::int64_t integer(NodeIndex node, std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] double real(NodeIndex node, std::string_view name, double fallback) const;
  /// Numbers that are an attribute in old operator sets and an input in new ones; none when left out or unknown.
  [[nodiscard]] std::optional<std::vector<Number>> list(NodeIndex node, std::string_view name, std::size_t input_index) const;
  /// The one element of a constant.
  [[nodiscard]] std::optional<double> scalar(ValueIndex value) const;
  [[nodiscard]] const std::optional<std::vector<Number>>& numbers(ValueIndex value) const { return graph.value(value).numbers; }
  [[nodiscard]] const std::optional<Extents>& dims(ValueIndex value) const { return graph.value(value).dims; }
  /// The only node that reads a value which is no output of the network.
  [[nodiscard]] std::optional<NodeIndex> only_reader(ValueIndex value) const;

  // What inference finds.
  /// Refuses the node where an extent is negative, infinite or no whole number, or where there are too many.
  void set_dims(ValueIndex value, Extents dims);
  void set_numbers(ValueIndex value, std::vector<Number> numbers);

  // Appending operators.
  /// The tensor of a value of data; of a state, rows picked from what the recurrent layer put out.
  [[nodiscard]] TensorId tensor(ValueIndex value);
  /// The same elements in whatever shape they were made.
  [[nodiscard]] TensorId elements_of(ValueIndex value);
  [[nodiscard]] const Shape& shape(TensorId tensor) const { return builder.shape(tensor); }
  /// Appends an operator that trains the arrays of `weights` (shared where they are another operator's already).
  TensorId emit(NodeIndex node, OpKind kind, const std::vector<TensorId>& inputs, const OpAttributes& attributes = {},
                const std::vector<ValueIndex>& weights = {}, bool inplace = false);
  /// `x` with the dimensions `to`: itself when it has them.
  TensorId reshaped(TensorId x, const Shape& to);
  /// Says that the elements of `x` are those of `value`; `tensor` gives them its dimensions where they are wanted.
  void bind(NodeIndex node, ValueIndex value, TensorId x);
  /// The same for a value whose last two dimensions `x` holds the other way round.
  void bind_swapped(ValueIndex value, TensorId x);
  [[nodiscard]] bool is_swapped(ValueIndex value) const { return swapped_[static_cast<std::size_t>(value)]; }
  /// Whether a value was made already, by a node before that took it along.
  [[nodiscard]] bool is_bound(ValueIndex value) const { return made_[static_cast<std::size_t>(value)].value >= 0; }
  /// Says the same of a recurrent layer, whose dimensions may not be known yet.
  void bind_outputs(ValueIndex value, TensorId x) { made_[static_cast<std::size_t>(value)] = x; }
  /// What the last states of a recurrent layer are picked from.
  void bind_state(ValueIndex value, TensorId outputs) { states_[static_cast<std::size_t>(value)] = outputs; }
  [[nodiscard]] TensorId state(ValueIndex value) const { return states_[static_cast<std::size_t>(value)]; }
  /// Padding that the pool after a Pad node takes into its own window.
  void set_pending_pad(ValueIndex value, std::int64_t h, std::int64_t w);
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> pending_pad(ValueIndex value) const;
  /// Whether another operator owns the arrays of `weight` already.
  [[nodiscard]] bool is_taken(ValueIndex weight) const;

  // What went wrong or deserves saying.
  template <class... Args>
  void refuse(NodeIndex node, fmt::format_string<Args...> format, Args&&... args) {
    add_problem(node, fmt::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] bool failed() const { return !problems_.empty(); }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  /// A node without a rule, taken by the bytes that it moves.
  void note_unknown(NodeIndex node);
  /// Names of nodes without a rule, by operator type.
  [[nodiscard]] const std::vector<std::pair<std::string, std::vector<std::string>>>& unknown() const { return unknown_; }

 private:
  void check_dims(ValueIndex value, const Extents& dims);
  void add_problem(NodeIndex node, std::string text);
  [[nodiscard]] std::string op_name(NodeIndex node, const std::vector<ValueIndex>& weights) const;
  [[nodiscard]] GraphBuilder::Weights claim(const std::vector<ValueIndex>& weights);
  void check_size(NodeIndex node, OpKind kind, const OpAttributes& attributes, const std::vector<TensorId>& inputs,
                  TensorId output);

  std::vector<TensorId> made_, tensors_, states_;  ///< by value: as made, in its own shape, what it is picked from
  std::vector<bool> swapped_;
  std::vector<std::pair<std::int64_t, std::int64_t>> pads_;
  std::vector<std::string> problems_;
  std::vector<std::pair<std::string, std::vector<std::string>>> unknown_;
  std::unordered_map<std::string, std::size_t> unknown_places_;  ///< in `unknown_`
  std::size_t numbers_kept_ = 0;
  double macs_ = 0.0;
};

}  // namespace tbdsim::onnx
