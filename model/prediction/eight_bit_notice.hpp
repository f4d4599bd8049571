#pragma once
#include <string>

#include "model/configuration/configuration.hpp"

namespace tbdsim {

/// How many linear layers run in 8 bits, by which recipe, and what stays in bf16. Empty where the precision has no such products.
[[nodiscard]] std::string eight_bit_notice(const Configuration& configuration);

}  // namespace tbdsim
