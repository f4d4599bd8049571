#pragma once
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// What runs beside the collectives of the tensor axis.
enum class TensorOverlap {
  none,         ///< nothing: each is waited for
  pieces,       ///< in pieces the product that makes what is divided, or reads what is gathered (asynchronous tensor parallelism)
  one_product,  ///< the same, but what several products make a sum of is divided after them (torch/_inductor/fx_passes/
                ///< micro_pipeline_tp.py, fuse_matmul_reduce_scatter: the operator before is a product, or nothing is fused)
  weights,  ///< backward: gradients of weights run beside the sum of the input's gradient, and the input is gathered beside that
};

/// Under which recipes of fp8 (fp8_recipe.hpp) the tensor axis gathers in 8 bits what products read in 8 bits.
enum class EightBitGathers {
  none,
  one_scale,  ///< those with one scale for a tensor
  all,        ///< all; a gradient that is cast once for each order travels in both
};

/// How a framework runs what the tensor axis divides.
struct TensorAxisSettings {
  bool sequence = true;    ///< sequence parallelism where tensor parallelism is asked for
  bool regathers = false;  ///< what it gathers is gathered again for backward
  bool copies = false;  ///< positions follow samples in memory: kernels join the pieces that it gathers, and cut what it divides;
                        ///< not beside a product
  TensorOverlap overlap = TensorOverlap::none;
  EightBitGathers eight_bit_gathers = EightBitGathers::none;
  [[nodiscard]] bool pieces() const { return overlap == TensorOverlap::pieces || overlap == TensorOverlap::one_product; }
};

/// Its keys of a [parallel] table.
[[nodiscard]] TensorAxisSettings read_tensor_axis(TomlTable& table);

}  // namespace tbdsim
