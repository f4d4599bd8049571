#pragma once
#include <string>

#include "model/configuration/configuration.hpp"
#include "model/cost/kernel_model.hpp"

namespace tbdsim {

/// How many linear layers run in 8 bits, by which recipe, and what stays in bf16. Empty where the precision has no such products.
[[nodiscard]] std::string eight_bit_notice(const Configuration& configuration);

/// That the layers in 8 bits would take less time in bf16: kernels of all their passes, casts included. `kernels` are the job's.
/// Empty where 8 bits are faster, and of a divided network, whose layers differ. Neglects what the casts take of the host.
[[nodiscard]] std::string slower_in_8_bits(const Configuration& configuration, const KernelModel& kernels);

}  // namespace tbdsim
