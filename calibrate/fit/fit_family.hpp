#pragma once
#include <span>
#include <string_view>
#include <variant>

#include "calibrate/fit/observations.hpp"
#include "model/cost/kernel_rates.hpp"
#include "model/hardware/device.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim::calibrate {

/// Constants that boards share, as the form of one observation needs them.
using FormConstants = std::variant<std::monostate, TileConstants, ConvolutionConstants, RecurrentConstants, AttentionConstants,
                                   RowConstants, ExpertConstants>;

/// A family of samples that board parameters are fitted to: one row of a table, so that fit and check never differ.
struct FitFamily {
  std::string_view name;                                             ///< family of the parameters: "convolution"
  std::string_view samples;                                          ///< family of the samples: "conv"
  bool computes = true;                                              ///< has a share of peak as unknown; else bytes alone
  Seconds launch;                                                    ///< believed start of its kernels before seeing data
  double bandwidth;                                                  ///< believed share of the memory bandwidth
  std::optional<Observation> (*described)(const Sample&) = nullptr;  ///< nullopt: the form does not describe it
  FormConstants (*form)(const Observation&, const KernelConstants&, const Device&) = nullptr;
  Seconds (*time)(const Observation&, const FormConstants&, const KernelRates&) = nullptr;
  double peak_share = 0.0;   ///< believed share of peak on tensor cores; 0: that of products
  double peak_sigma = 0.15;  ///< how surely, as a standard deviation of the logarithm
  bool own_start = false;    ///< its kernels' starts are constants of theirs, on top of `launch`, which the shared fit keeps
  bool issues =
      false;  ///< its share is of instructions issued (`KernelRates::issue_share`), not of peak; fitted to own samples alone

  /// Nullopt: the form does not describe the sample, its clock was not the board's, or its kernel is not one of frameworks.
  [[nodiscard]] std::optional<Observation> observe(const Sample& sample) const {
    return sample.flagged(kHardwareSlowdown) || sample.flagged(kStandIn) ? std::nullopt : described(sample);
  }
};

/// Every family that can be fitted, in the order of the output.
[[nodiscard]] std::span<const FitFamily> fit_families();
/// The row that samples of this family serve; null if there is none.
[[nodiscard]] const FitFamily* family_of_samples(std::string_view samples);
/// The row whose parameters have this name; null if there is none.
[[nodiscard]] const FitFamily* family_of_parameters(std::string_view name);

}  // namespace tbdsim::calibrate
