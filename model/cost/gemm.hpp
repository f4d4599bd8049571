#pragma once
#include "model/cost/kernel_time.hpp"
#include "model/cost/tiled_gemm.hpp"

namespace tbdsim {

/// Time of one library call for `shape` with elements of `element` bytes: launch + tiled product of compulsory
/// traffic A + B + C; in the form of `pipelined_gemm` where `constants` has its constants.
[[nodiscard]] KernelTimeModel gemm_time(const GemmShape& shape, Bytes element, const TileConstants& constants,
                                        const KernelRates& rates);

/// Tells of a kernel whose time after the launch is a tiled product, and what more it moves, how it executes.
void describe_issue(KernelTimeModel& kernel, const TiledGemm& tiled, const KernelRates& rates);

}  // namespace tbdsim
