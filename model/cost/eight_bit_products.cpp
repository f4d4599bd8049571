#include "model/cost/eight_bit_products.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/memory_bound.hpp"

namespace tbdsim {
namespace {

/// Elements of what a linear layer's products read and write.
struct Sizes {
  double input = 0, weight = 0, result = 0;
};

Sizes sizes(const OpGraph& graph, const Op& op, double batch) {
  const Shape& x = graph.input_shape(op);
  const Shape& y = graph.output_shape(op);
  return {batch * static_cast<double>(elements(x)), static_cast<double>(x.back()) * static_cast<double>(y.back()),
          batch * static_cast<double>(elements(y))};
}

/// Whether a loss reads a tensor, or what operators with a single input make of it without products or statistics.
bool reaches_loss(const OpGraph& graph, TensorId tensor) {
  const auto& consumers = graph.tensor(tensor).consumers;
  return std::any_of(consumers.begin(), consumers.end(), [&](OpId id) {
    const Op& op = graph.op(id);
    const OperatorRow& row = info(op.kind);
    if (row.loss) return true;
    const bool passes = op.inputs.size() == 1 && !row.normalizes && row.macs == nullptr;
    return passes && reaches_loss(graph, op.output);
  });
}

/// Adds up the kernels of one pass.
class Casts {
 public:
  /// `wants_turned`: tensor cores read operands in one order alone.
  Casts(const Fp8RecipeInfo& recipe, bool compiled, bool wants_turned)
      : recipe_(recipe),
        kernels_(compiled ? recipe.compiled : recipe.eager),
        turned_(compiled ? recipe.cast_turned : recipe.eager),
        copies_(recipe.turned == Turned::copied && !compiled),
        turns_(wants_turned || recipe.turned != Turned::together) {}

  /// One as the forward product reads it; `both`: and in the other order, where the same kernel can write it.
  void straight(double numbers, bool both) {
    add(numbers, kernels_, 0.0);
    if (!both || !turns_ || copies_ || recipe_.turned == Turned::cast) return;
    casts_.turned += numbers * kByte;
    casts_.scratch += numbers * kByte;
  }

  /// One as a product reads it that reduces along its other dimension. `there`: it was cast in the first order.
  void turned(double numbers, bool there) {
    if (recipe_.turned == Turned::cast) {
      add(numbers, turned_, turned_.bytes);
    } else if (copies_) {
      if (!there) add(numbers, kernels_, 0.0);
      constexpr CastKernels kCopy{2.0, 1};
      add(numbers, kCopy, kCopy.bytes);
    } else if (!there) {
      constexpr double kWritten = 1.0;
      add(numbers, kernels_, turns_ ? kWritten : 0.0);
    }
  }

  [[nodiscard]] OperandCasts sum() const { return casts_; }

 private:
  static constexpr Bytes kByte{1.0};

  /// `scattered`: so many of the bytes of each number are read or written in the other order.
  void add(double numbers, const CastKernels& kernels, double scattered) {
    casts_.moved += numbers * Bytes(kernels.bytes - scattered);
    casts_.turned += numbers * Bytes(scattered);
    casts_.kernels += kernels.kernels;
    casts_.scratch += numbers * kByte;
  }

  const Fp8RecipeInfo& recipe_;
  CastKernels kernels_, turned_;
  bool copies_, turns_;
  OperandCasts casts_;
};

/// Whether a layer casts its input itself. What several layers read a compiler casts once, and Transformer Engine makes one layer
/// of them: the first of them pays.
bool casts_input(const OpGraph& graph, const Op& op, double batch, const Fp8RecipeInfo& recipe, bool compiled) {
  if (!compiled && !recipe.keeps_narrow) return true;
  const auto& readers = graph.tensor(op.inputs.front()).consumers;
  const auto first =
      std::find_if(readers.begin(), readers.end(), [&](OpId id) { return runs_in_8_bits(graph, graph.op(id), batch); });
  return first == readers.end() || &graph.op(*first) == &op;
}

}  // namespace

bool runs_in_8_bits(const OpGraph& graph, const Op& op, double batch) {
  if (op.kind != OpKind::linear) return false;
  constexpr double kAligned = 16.0;
  const auto in = static_cast<double>(graph.input_shape(op).back()), out = static_cast<double>(graph.output_shape(op).back());
  const double rows = batch * static_cast<double>(elements(graph.output_shape(op))) / out;
  for (const double size : {in, out, rows})
    if (std::fmod(size, kAligned) != 0.0) return false;
  return !reaches_loss(graph, op.output);
}

OperandCasts operand_casts(const OpGraph& graph, const Op& op, Pass pass, double batch, const Fp8RecipeInfo& recipe,
                           bool compiled, const Architecture& chip) {
  const Sizes n = sizes(graph, op, batch);
  const bool data_gradient = graph.tensor(op.inputs.front()).needs_gradient;
  const bool own_input = casts_input(graph, op, batch, recipe, compiled);
  Casts casts(recipe, compiled, !chip.either_order_8_bit);
  if (pass == Pass::forward) {
    if (own_input) casts.straight(n.input, recipe.keeps_narrow);
    casts.straight(n.weight, recipe.keeps_narrow && data_gradient);
  } else if (pass == Pass::backward_data) {
    casts.straight(n.result, true);
    if (!recipe.keeps_narrow) casts.turned(n.weight, false);
  } else {
    casts.turned(n.result, data_gradient);
    if (!recipe.keeps_narrow && own_input) casts.turned(n.input, false);
  }
  return casts.sum();
}

KernelTimeModel cast_time(const OperandCasts& casts, const KernelRates& rates) {
  constexpr double kScattered = 0.5;
  KernelTimeModel kernel = memory_bound_time(casts.moved + casts.turned / kScattered, 1.0, rates);
  kernel.bytes = casts.moved + casts.turned;
  kernel.kernels = casts.kernels;
  kernel.time += (casts.kernels - 1) * rates.launch;
  kernel.launch = casts.kernels * rates.launch;
  return kernel;
}

Bytes kept_operands(const OpGraph& graph, const Op& op, double batch, const Fp8RecipeInfo& recipe) {
  if (!recipe.keeps_narrow) return Bytes(0.0);
  const Sizes n = sizes(graph, op, batch);
  const bool data_gradient = graph.tensor(op.inputs.front()).needs_gradient;
  const double input = casts_input(graph, op, batch, recipe, false) ? n.input : 0.0;
  return (input + (data_gradient ? n.weight : 0.0)) * Bytes(1.0);
}

}  // namespace tbdsim
