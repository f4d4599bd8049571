#pragma once
#include "calibrate/fit/fit_family.hpp"
#include "model/hardware/device.hpp"

namespace tbdsim::calibrate {

/// What a single framework call takes from the host beyond the kernel where no such sample tells (published single-call
/// floors: 25 to 65 us).
inline constexpr Seconds kCallOverhead(30e-6);

/// Time of one sample on a device with the given parameters: the cost model's, and the host's part where the sample
/// is a single call.
[[nodiscard]] Seconds predicted_time(const FitFamily& family, const Observation& row, const FormConstants& form,
                                     const Device& device, const FamilyParameters& parameters);

}  // namespace tbdsim::calibrate
