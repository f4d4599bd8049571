#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// Parameters of one kernel family on one device at one precision, with how well they fit.
struct FamilyParameters {
  std::string family;                 ///< "gemm", "convolution", "memory_bound"
  std::string precision;              ///< "fp32", "fp16"
  double compute_efficiency = 1.0;    ///< sustained fraction of the peak rate
  double bandwidth_efficiency = 0.8;  ///< sustained fraction of the memory bandwidth
  Seconds launch;                     ///< kernel start and drain, seen as the floor of short kernels
  double spread = 0.2;                ///< standard deviation of ln(measured / predicted) over single kernels
  int samples = 0;                    ///< how many measurements stand behind it; 0: transferred
  std::string source;                 ///< "fitted: ...", "transferred: ..."
  /// Standard deviations of the logarithms: how well the samples, or the relatives, determine the value.
  double compute_sigma = 0.0, bandwidth_sigma = 0.0, launch_sigma = 0.0;
  std::optional<Seconds> call_overhead = {};  ///< what a single call from the host took beyond the kernel, where one was seen
};

/// What calibration knows of one device.
struct DeviceCalibration {
  std::vector<FamilyParameters> families;
  [[nodiscard]] const FamilyParameters* find(std::string_view family, std::string_view precision) const;
};

}  // namespace tbdsim
