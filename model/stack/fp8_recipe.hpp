#pragma once
#include <span>
#include <string_view>

namespace tbdsim {

/// How a library trains with products of 8-bit numbers: what shares a scale, and who casts when.
enum class Fp8Recipe {
  tensorwise,  ///< one scale for a tensor, of its present values (torchao)
  rowwise,     ///< one for a row of the left, a column of the right operand (torchao)
  blockwise,   ///< one for 128 numbers of an activation, for 128 x 128 of a weight (DeepSeek-V3)
  mxfp8,       ///< one for 32 numbers, multiplied by the tensor cores themselves (OCP Microscaling)
  delayed,     ///< one for a tensor, of the values of steps before (Transformer Engine)
};

/// How an operand comes to lie as a product wants it that reduces along its other dimension.
enum class Turned {
  copied,    ///< a kernel of its own turns the 8-bit numbers; a compiler joins it with the cast
  cast,      ///< a cast of its own from 16 bits, since the scales are others
  together,  ///< the one cast writes both, where the tensor cores want it
};

/// Kernels that make 8-bit numbers of 16-bit ones.
struct CastKernels {
  double bytes = 0;  ///< moved for each number
  int kernels = 0;
};

/// One row of the table of recipes.
struct Fp8RecipeInfo {
  Fp8Recipe kind;
  std::string_view name;     ///< in stack files: "tensorwise"
  std::string_view library;  ///< of its products, as kernels.toml names it; empty: the stack's own
  CastKernels compiled;      ///< of one cast, by a compiler or written by hand
  CastKernels eager;         ///< the same where the framework's operators run one by one
  CastKernels cast_turned;   ///< compiled, of `Turned::cast`; eagerly as `eager`
  Turned turned;
  bool keeps_narrow;   ///< forward's 8-bit operands stay for backward; else these are cast again from 16 bits, which stay
  bool scales_blocks;  ///< needs tensor cores that scale blocks
};

/// Every recipe, in the order of their enumerators.
///
/// tensorwise, rowwise: torchao/float8/float8_linear.py and float8_utils.py. A cast is an absolute maximum (read; a second, tiny
/// kernel joins its parts) and a scaled cast (read, written). A row's maximum and cast are one kernel; a column's are not.
/// Eagerly abs, max, four kernels of a single number, widening, product, clamp and cast, the last four in fp32. Backward casts
/// inputs and weights again; `_scaled_mm` wants one order, so that 8-bit numbers are turned (float8_ops.py: preprocess_addmm).
/// blockwise: DeepSeek-V3, arXiv:2412.19437, section 3.3, and DeepGEMM: maximum and cast of a block in one kernel.
/// mxfp8: OCP Microscaling Formats 1.0; torchao/prototype/mx_formats: one kernel for each direction; a byte of scale for 32.
/// delayed: TransformerEngine, cast_transpose kernels: one kernel casts, takes the maximum for later steps, and writes both
/// orders.
[[nodiscard]] std::span<const Fp8RecipeInfo> fp8_recipes();
[[nodiscard]] const Fp8RecipeInfo& info(Fp8Recipe recipe);

}  // namespace tbdsim
