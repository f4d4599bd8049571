#pragma once
#include "model/workload/saved_by_op.hpp"

namespace tbdsim {

constexpr Bytes kSavedIndex{8.0};      ///< PyTorch's int64
constexpr Bytes kSavedStatistic{4.0};  ///< means and deviations are fp32 whatever the data

/// Everything that a rule of what backward keeps needs to know about one operator.
struct SavingContext {
  const OpGraph& graph;
  const Op& op;
  SavingRules rules;
  Bytes element;
  bool fused_attention;

  [[nodiscard]] const Shape& input() const { return graph.input_shape(op); }
  [[nodiscard]] const Shape& output() const { return graph.output_shape(op); }
  [[nodiscard]] TensorId first() const { return op.inputs.front(); }
  [[nodiscard]] bool mxnet() const { return rules == SavingRules::mxnet || rules == SavingRules::mxnet_later; }
};

[[nodiscard]] inline double saved_count(const Shape& shape) { return static_cast<double>(elements(shape)); }

[[nodiscard]] inline SavedByOp keep_input(const SavingContext& c) { return {{c.first()}, {}, {}}; }
[[nodiscard]] inline SavedByOp keep_output(const SavingContext& c) { return {{c.op.output}, {}, {}}; }
[[nodiscard]] inline SavedByOp keep_both(const SavingContext& c) { return {{c.first(), c.op.output}, {}, {}}; }
[[nodiscard]] inline SavedByOp keep_inputs(const SavingContext& c) { return {c.op.inputs, {}, {}}; }

/// A product keeps the operand whose partner needs a gradient; scaling by a constant keeps at most that (a double).
[[nodiscard]] SavedByOp keep_operands(const SavingContext& c);

}  // namespace tbdsim
