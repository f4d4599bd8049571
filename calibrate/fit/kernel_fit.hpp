#pragma once
#include <map>
#include <string>
#include <vector>

#include "calibrate/decode/sample_table.hpp"
#include "calibrate/fit/robust_fit.hpp"
#include "model/hardware/device.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// Devices that samples name, by catalogue id.
using DeviceMap = std::map<std::string, Device>;

/// How well one family fits on one board.
struct FitReport {
  std::string device, family, precision;
  ErrorSummary error;
};

/// Shared constants and board parameters from samples.
struct KernelFit {
  KernelConstants constants;
  std::map<std::string, std::string, std::less<>> inherited;  ///< convolution generation: the one it takes its constants from
  std::vector<FitReport> reports;
  std::vector<std::string> notes;     ///< what was too thin to fit and therefore inherited
  std::vector<std::string> at_bound;  ///< constants that rest on a bound of constant_bounds.hpp
};

/// Fits everything that hardware/kernels.toml holds: convolution constants per library generation together with every
/// board's efficiencies and launch, GEMM constants with theirs, memory-bound efficiencies. `devices` describes every
/// device that the samples name. Kernels shorter than 5 us do not count: they time the
/// clock. Single calls give what their hosts take beside the boards' rates.
/// Errors: a sample of a device that is not described; no usable sample.
[[nodiscard]] Result<KernelFit> fit_kernels(const std::vector<Sample>& samples, const DeviceMap& devices);

/// The file hardware/kernels.toml.
[[nodiscard]] std::string to_toml(const KernelFit& fit);

}  // namespace tbdsim::calibrate
