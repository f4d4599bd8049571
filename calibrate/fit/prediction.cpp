#include "calibrate/fit/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/board_rates.hpp"
#include "model/cost/product_power.hpp"

namespace tbdsim::calibrate {

ResolvedParameters parameters_of(const FitFamily& family, const Device& device, std::string_view precision,
                                 const KernelConstants& constants) {
  if (!family.issues || device.calibration.find(family.name, precision) != nullptr)
    return resolve_parameters(device, family.name, precision, constants);
  // Instructions of such kernels: 12 to 33 in the central 80 %.
  constexpr double kIssueSigma = 0.4;
  ResolvedParameters result = resolve_parameters(device, "memory_bound", "fp32", constants);
  FamilyParameters& p = result.parameters;
  p.family = family.name;
  p.precision = precision;
  p.compute_efficiency = kIssueShare;
  p.compute_sigma = kIssueSigma;
  p.source = "assumed: 20 instructions a number; " + p.source;
  result.assumed = true;
  result.transferred = false;
  return result;
}

Seconds sample_time(const Observation& row, Seconds kernel, const CallTimes& call) {
  if (!row.call) return kernel;
  return std::max(call.floor, call.overhead + kernel) + row.shapes_before * call.per_shape;
}

SamplePrediction predict_sample(const FitFamily& family, const Observation& row, const FormConstants& form, const Device& device,
                                const FamilyParameters& parameters) {
  KernelRates rates = kernel_rates(device, peak_for(device, row.precision), parameters, row.precision);
  rates.power_time = kBenchmarkPowerTime;
  if (family.issues) rates.issue_share = parameters.compute_efficiency;
  const Seconds kernel = family.time(row, form, rates);
  return {kernel, sample_time(row, kernel, parameters.call.value_or(kCallTimes))};
}

Seconds predicted_time(const FitFamily& family, const Observation& row, const FormConstants& form, const Device& device,
                       const FamilyParameters& parameters) {
  return predict_sample(family, row, form, device, parameters).time;
}

double sample_sigma(const FitFamily& family, const SamplePrediction& prediction, const FamilyParameters& parameters,
                    bool call_borrowed) {
  // Floors of NeuSight's six hosts differ by 0.3 (standard deviation of the logarithm; 0.24 to 0.33, by family). A further host
  // lies from their mean by sqrt(1 + 1/6) of that, and so few tell it as well as Student's distribution says: 1 + 0.66/5.
  constexpr double kHostSigma = 0.37;
  const CallTimes call = parameters.call.value_or(kCallTimes);
  const double kernel_share = prediction.kernel / prediction.time;
  const bool hidden = kernel_share < 1.0 && call.overhead + prediction.kernel < call.floor;
  const double kernel = hidden ? 0.0 : kernel_share * (family.computes ? parameters.compute_sigma : parameters.bandwidth_sigma);
  const double host = call_borrowed ? (hidden ? 1.0 : 1.0 - kernel_share) * kHostSigma : 0.0;
  return std::hypot(parameters.spread, kernel, host);
}

}  // namespace tbdsim::calibrate
