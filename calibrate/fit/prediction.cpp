#include "calibrate/fit/prediction.hpp"

#include "model/cost/transfer.hpp"

namespace tbdsim::calibrate {

Seconds predicted_time(const FitFamily& family, const Observation& row, const FormConstants& form, const Device& device,
                       const FamilyParameters& parameters) {
  const KernelRates rates = kernel_rates(device, peak_for(device, row.precision), parameters);
  const Seconds kernel = family.time(row, form, rates);
  return row.call ? kernel + parameters.call_overhead.value_or(kCallOverhead) : kernel;
}

}  // namespace tbdsim::calibrate
