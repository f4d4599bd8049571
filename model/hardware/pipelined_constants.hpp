#pragma once
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Constants of a library's tensor-core products for one architecture since Ampere (model/cost/pipelined_gemm.hpp). They belong
/// to the kernels: boards of one architecture agree in them.
struct PipelinedConstants {
  double tile_penalty = 10.0;    ///< loss of small tiles: 1 + penalty (1/tm + 1/tn)
  double wave_smoothing = 0.6;   ///< 0: waves of blocks are whole; 1: blocks follow one another without a gap
  double resident_waves = 0.2;   ///< part of the blocks that start and end together with all others resident beside them
  Seconds load_latency{4e-9};    ///< of a k-step of one 16-bit element over the loads in flight; by byte, so half in fp8
  Seconds epilogue{80e-12};      ///< of a byte of a tile's results: stores and the filling of the loads that nothing hides
  Seconds quantize_launch{0.0};  ///< of the kernels that turn 16-bit activations into fp8 before a product
  double quantize_passes = 1.0;  ///< what those move, against reading 16 bits and writing 8 of each element once
  FlopPerSecond multiprocessor_rate{
      2.9e12};                   ///< of the boards of the samples, in 16 bits: other kernels' latencies scale with it
  double compute_scale = 1.0;    ///< arithmetic time against the kernels that a board's share of peak is of
  bool splits = true;            ///< whether the library splits k
  bool tiles_by_rows = false;    ///< the library takes its tile by the number of rows, not by the time that it will take
  double split_cycles = 2760.0;  ///< cycles of the boost clock that a split of k takes beside its traffic
};

}  // namespace tbdsim
