#pragma once
#include "calibrate/fit/kernel_fit.hpp"

namespace tbdsim::calibrate {

/// `constants.transfers`: every board of `constants` is predicted from the others, without those of its own chip, family by
/// family, and compared with its own fit. What clocks, generations and the relatives' disagreement do not explain is the family's
/// sigma, the most likely one of a normal distribution; the believed 0.12 counts as three boards, so that few cannot promise
/// much.
void fit_transfers(const DeviceMap& devices, KernelConstants& constants);

}  // namespace tbdsim::calibrate
