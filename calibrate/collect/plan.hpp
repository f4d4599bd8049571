#pragma once
#include <string>
#include <vector>

#include "calibrate/collect/stopping_rule.hpp"
#include "calibrate/decode/sample_table.hpp"

namespace tbdsim::calibrate {

/// One kernel to measure: the columns of a sample that say what runs.
struct Measurement {
  Sample sample;           ///< family, op, precision, pass, shape, kind; algorithm where the plan names one
  std::string shape_text;  ///< of the sample, keys in the order of the family
  bool cold = true;        ///< the L2 cache is overwritten before each repetition
};

/// Flag of a sample whose algorithm the plan named; otherwise the library chose it.
inline constexpr std::string_view kNamedAlgorithm = "named-algorithm";

/// Text that tells measurements apart: "gemm matmul fp32 forward b=1;... cold", and the algorithm that the plan names.
[[nodiscard]] std::string key(const Measurement& measurement);

/// What `collect` measures. One file holds one plan.
struct Plan {
  std::string name;
  Seconds budget;  ///< wall time after which nothing new is started
  StoppingRule stop;
  std::vector<Measurement> measurements;  ///< one of each block in turn, so that a spent budget leaves no family out
};

/// Reads a plan:
///
///     name = "mine"          budget = "2 min"
///     [stop]                 relative_error = "0.5 %"  least = 10  most = 500  longest = "0.2 s"
///     [[measure]]            family, op; precision, pass, shape, cache: lists, every combination is measured
///                            algorithm: of convolutions, a list; without it the fastest that the library ranks
///
/// Errors, all at once: unknown families, precisions, passes, shape keys, algorithms (of a pass that none of the block's
/// passes has, or of another family); a block without shapes; the same measurement twice.
[[nodiscard]] Result<Plan> read_plan(const std::string& path);
[[nodiscard]] Result<Plan> parse_plan(std::string text, const std::string& name);

}  // namespace tbdsim::calibrate
