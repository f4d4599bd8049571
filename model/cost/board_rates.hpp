#pragma once
#include <string_view>

#include "model/cost/kernel_rates.hpp"
#include "model/hardware/device.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim {

/// Clock that chains of dependent instructions run at: the sustained one if known, else the boost clock. Such kernels leave most
/// lanes idle, so the power limit does not lower it.
[[nodiscard]] Hertz instruction_clock(const Device& device);

/// What a device sustains at a share of a peak rate, by a class of arithmetic, with what else of it kernels depend on.
[[nodiscard]] KernelRates sustained_rates(const Device& device, FlopPerSecond peak, double share, BytesPerSecond bandwidth,
                                          Seconds launch, std::string_view precision);

/// Sustained rates for one family: peak and bandwidth of the description times the resolved efficiencies. `precision` is the
/// class of arithmetic that runs, which may have borrowed the parameters of another.
[[nodiscard]] KernelRates kernel_rates(const Device& device, FlopPerSecond peak, const FamilyParameters& parameters,
                                       std::string_view precision);

}  // namespace tbdsim
