#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware/own_measurements.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What a single framework call takes from the host: max(floor, overhead + kernel) + per_shape x shapes run before.
struct CallTimes {
  Seconds overhead;   ///< until the kernel starts; a short kernel then hides behind the rest of the call
  Seconds floor;      ///< of the whole call, however short its kernel
  Seconds per_shape;  ///< that each shape the process ran before adds, where the library looks plans up one by one
};

/// Parameters of one kernel family on one device at one precision, with how well they fit.
struct FamilyParameters {
  std::string family;                 ///< as `KernelFamily` names it
  std::string precision;              ///< "fp32", "fp16"
  double compute_efficiency = 1.0;    ///< sustained fraction of the peak rate
  double bandwidth_efficiency = 0.8;  ///< sustained fraction of the memory bandwidth
  Seconds launch;                     ///< kernel start and drain, seen as the floor of short kernels
  double spread = 0.2;                ///< standard deviation of ln(measured / predicted) over single kernels
  int samples = 0;                    ///< how many measurements stand behind it; 0: transferred
  std::string source;                 ///< "fitted: ...", "transferred: ..."
  /// Standard deviations of the logarithms: how well the samples, or the relatives, determine the value.
  double compute_sigma = 0.0, bandwidth_sigma = 0.0, launch_sigma = 0.0;
  /// Share of the peak rate that the power limit sustains in products that last (model/cost/pipelined_gemm.hpp).
  std::optional<double> sustained_efficiency = {};
  /// Share of the memory bandwidth that passes reach which turn 16-bit operands into fp8, before products in fp8.
  std::optional<double> quantize_bandwidth = {};
  std::optional<CallTimes> call = {};  ///< of single calls from the host, where any were seen
};

/// What decides the clock that a device keeps under load.
struct ClockLimits {
  std::optional<Hertz> boost_clock, sustained_clock;
  std::optional<Watts> power_limit;
  FlopPerSecond peak_fp32;
  std::optional<FlopPerSecond> peak_fp16_tensor;
};

/// What calibration knows of one device.
struct DeviceCalibration {
  std::vector<FamilyParameters> families;
  /// Of the device whose samples these are: its file's own, whatever a system or an option changes. Absent: the device's.
  std::optional<ClockLimits> measured = {};
  OwnMeasurements own = {};
  [[nodiscard]] const FamilyParameters* find(std::string_view family, std::string_view precision) const;
};

}  // namespace tbdsim
