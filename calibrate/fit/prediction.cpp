#include "calibrate/fit/prediction.hpp"

#include <algorithm>

#include "model/cost/transfer.hpp"

namespace tbdsim::calibrate {

Seconds sample_time(const Observation& row, Seconds kernel, const CallTimes& call) {
  if (!row.call) return kernel;
  return std::max(call.floor, call.overhead + kernel) + row.shapes_before * call.per_shape;
}

Seconds predicted_time(const FitFamily& family, const Observation& row, const FormConstants& form, const Device& device,
                       const FamilyParameters& parameters) {
  const KernelRates rates = kernel_rates(device, peak_for(device, row.precision), parameters);
  const Seconds kernel = family.time(row, form, rates);
  return sample_time(row, kernel, parameters.call.value_or(kCallTimes));
}

}  // namespace tbdsim::calibrate
