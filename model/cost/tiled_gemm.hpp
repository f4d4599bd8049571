#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Rows or columns for which libraries have kernels of their own (DeepBench: cuBLAS 8 takes longer for 16 rows than for 32).
inline constexpr double kFewRows = 16.0;

/// `count` independent products C[m,n] = A[m,k] B[k,n].
struct GemmShape {
  double m = 1, n = 1, k = 1;
  double count = 1;
  bool transposed_b = false;  ///< B[k,n] is stored as [n,k], as the weights of a forward pass are
  int weight_copies = 0;      ///< of B, that a benchmark takes in turns and may find in the cache; 0: B comes from memory
  double rows_held = 0;       ///< numbers that all rows of A are gathered from, which overlap in a convolution; 0: m k count
  double weights_held = 0;    ///< the same of B's columns; 0: k n count
};

/// Bytes a product moves. `operands` once; each further column of tiles reads a part of A (`rows`) again from
/// memory because it no longer fits the cache; a split of k writes and reads `partial` per part.
struct GemmTraffic {
  Bytes operands, rows, partial;
  double missed_translations = 0.0;  ///< of each row of A and B that a tile reads, over all of k
};

/// The tiling with the least time.
struct TiledGemm {
  Seconds time;            ///< without the launch
  Seconds compute;         ///< compute part of the chosen tiling
  Seconds memory;          ///< memory part
  Seconds first;           ///< of the compute part: first loads fill a tile, results drain it
  Flop executed;           ///< of whole tiles
  double busy_part = 1.0;  ///< of the multiprocessors, in the waves that run
  int tile_m = 0, tile_n = 0, split = 1;
};

/// Time of a tiled matrix product: over tiles {128,64,32}^2 and splits of k, whole waves of thread blocks
/// against bytes moved, joined by a 3-norm (a sum is too pessimistic, a maximum too optimistic).
///
///   C = ceil(tiles s / SMs) 2 tm tn (k/s + o prologue) SMs / F (1 + o (a (tm + tn)/(tm tn) + [B transposed] at/tm)) scale
///       x [tm < 128] short x [tn < 128] narrow
///   with o the rates' `step_overhead`
///   M = (operands + reread rows (column tiles - 1) + [s > 1] 2 s partial) / B
///   T = tiles (tm + tn) missed / translations a second
///   t = min over tile, s of (C^3 + M^3 + T^3)^(1/3)
///
/// Neglects: cache reuse between blocks beyond `reread`, clock changes, tail of unequal blocks.
/// Worked example: model/cost/README.md, tests/closed_form/gemm_test.cpp.
[[nodiscard]] TiledGemm tiled_gemm(const GemmShape& shape, const GemmTraffic& traffic, const TileConstants& constants,
                                   const KernelRates& rates);

}  // namespace tbdsim
