#pragma once
#include "model/cost/kernel_time.hpp"
#include "model/cost/tiled_gemm.hpp"

namespace tbdsim {

/// Time of one library call for `shape` with elements of `element` bytes: launch + tiled product of compulsory
/// traffic A + B + C.
[[nodiscard]] KernelTimeModel gemm_time(const GemmShape& shape, Bytes element, const TileConstants& constants,
                                        const KernelRates& rates);

}  // namespace tbdsim
