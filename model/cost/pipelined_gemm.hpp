#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/tiled_gemm.hpp"
#include "model/hardware/pipelined_constants.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Bytes of a product's elements: those that tensor cores read, and those of the result.
struct ProductElements {
  Bytes operand, result;
};
/// Results of 8-bit products have 16 bits; all others are as wide as their operands.
[[nodiscard]] ProductElements product_elements(Bytes operand);

/// Time of a matrix product on tensor cores of NVIDIA's boards since Ampere, whose kernels load the operands of several k-steps
/// ahead. Over tiles tm x tn of 16 to 256 rows and columns and over splits s of k:
///
///   kk = k/s rounded up to 32, q = tiles s / SMs, occ = clamp(32768/(tm tn), 1, 4)
///   E  = (1-y)[(1-x) ceil(q) + x max(q,1)] + y [q <= 1 ? 1 : occ ceil(q/occ)]                        waves of blocks
///   C  = norm3(E 2 tm tn kk SMs/F (1 + a (1/tm + 1/tn)), ceil(q/occ) lam kk b/2) + ep max(q,1) tm tn out
///   M  = ((A + B + C)(1 - hit + hit/R) + reread again)/bandwidth + 0.13 us,   R = cache bandwidth/bandwidth, at least 1
///   t  = min over tile, s of norm3(C, M) + [s > 1](split + 8 m n s/(bandwidth R))
///   t += t/(t + 0.9 ms) max(0, 2 m n k/sustained - t)
///
/// `hit` is the part of the operands that a benchmark finds in the cache: 0 in a training step (`GemmShape::weight_copies`).
/// The last line is power: the longer a product runs, the nearer it comes to the rate that the power limit sustains.
/// Neglects: what libraries choose worse than the best tile, the order of operands, alignment.
/// Worked example: model/cost/README.md, tests/closed_form/pipelined_gemm_test.cpp.
[[nodiscard]] TiledGemm pipelined_gemm(const GemmShape& shape, Bytes element, const PipelinedConstants& constants,
                                       const KernelRates& rates);

/// Time of the passes that turn `elements` 16-bit activations into fp8 before a product: a start and the bytes read (16 bits) and
/// written (8 bits) once, times the passes that the library makes of it. Half a cache of them is read again from there.
[[nodiscard]] Seconds quantize_time(double elements, const PipelinedConstants& constants, const KernelRates& rates);

}  // namespace tbdsim
