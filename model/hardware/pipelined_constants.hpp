#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// How a library chooses the tile of a product.
enum class TileRule { fastest, cutlass_ada, cutlass_hopper };

struct TileRuleInfo {
  TileRule rule;
  std::string_view name;  ///< in kernels.toml
  bool rows_first;        ///< blocks walk down the rows of a column of tiles, however many there are; else along the shorter side
};
inline constexpr std::array<TileRuleInfo, 3> kTileRules{{{TileRule::fastest, "fastest", false},
                                                         {TileRule::cutlass_ada, "cutlass-ada", true},
                                                         {TileRule::cutlass_hopper, "cutlass-hopper", false}}};
[[nodiscard]] constexpr const TileRuleInfo& info(TileRule rule) { return kTileRules[static_cast<std::size_t>(rule)]; }

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
      2.9e12};                 ///< of the boards of the samples, in 16 bits: other kernels' latencies scale with it
  double compute_scale = 1.0;  ///< arithmetic time against the kernels that a board's share of peak is of
  bool splits = true;          ///< whether the library splits k
  TileRule tiles = TileRule::fastest;
  double reread = 0.0;           ///< of an operand that the cache cannot hold, what each wave of blocks fetches again
  double split_cycles = 2760.0;  ///< cycles of the boost clock that a split of k takes beside its traffic
};

}  // namespace tbdsim
