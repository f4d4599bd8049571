#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/hardware/architecture.hpp"
#include "model/stack/fp8_recipe.hpp"
#include "model/units/quantity.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// Whether the products of an operator run in 8 bits under fp8: those of a linear layer, but for the one whose result a loss
/// reads (the head), where rows and features are multiples of 16, as tensor cores take them. Sources: torchao (module filters of
/// torchtitan: `output` stays), Transformer Engine's documentation; shapes: torch._scaled_mm.
[[nodiscard]] bool runs_in_8_bits(const OpGraph& graph, const Op& op, double batch);

/// Kernels beside one pass of a linear layer that make or turn its 8-bit operands.
struct OperandCasts {
  Bytes moved;   ///< in order
  Bytes turned;  ///< read along one order and written along another
  int kernels = 0;
  Bytes scratch;  ///< of the 8-bit operands, while the product runs
};

/// Casts of `pass`. Forward casts inputs and weights. The first pass backward casts the gradient of the result, for both
/// products; where the recipe keeps no 8-bit operands, weights are cast again by backward data and inputs by backward weights.
/// Both gradients reduce along another dimension than forward, so that weights, inputs and (for those of the weights) the
/// gradient are turned as the recipe says. `compiled`: casts are kernels of a compiler, which
/// casts once what several layers read.
/// Neglects: maxima that a compiler takes inside the kernel before; what the cache keeps from one kernel to the next.
/// Expects a linear layer.
[[nodiscard]] OperandCasts operand_casts(const OpGraph& graph, const Op& op, Pass pass, double batch, const Fp8RecipeInfo& recipe,
                                         bool compiled, const Architecture& chip);

/// Time of those kernels, t = kernels x launch + (moved + 2 turned)/bandwidth: what is turned reaches half the bandwidth, since
/// one side of every element lies apart (assumed). Expects at least one kernel.
[[nodiscard]] KernelTimeModel cast_time(const OperandCasts& casts, const KernelRates& rates);

/// What a recipe that keeps 8-bit operands holds for backward in the place of a linear layer's input: input and weights, once for
/// each product that will read them. Zero under the others.
[[nodiscard]] Bytes kept_operands(const OpGraph& graph, const Op& op, double batch, const Fp8RecipeInfo& recipe);

}  // namespace tbdsim
