#pragma once
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/robust_fit.hpp"

namespace tbdsim::calibrate {

/// Expert layers of one rank, with routing that spreads tokens evenly. Shares of the rate are of 16 bits; 8 bits are kernels of
/// their own at twice that rate. Nullopt: another pass, no expert on a rank.
[[nodiscard]] std::optional<Observation> expert_observation(const Sample& sample);
[[nodiscard]] FormConstants expert_form(const Observation& row, const KernelConstants& constants, const Device& device);
[[nodiscard]] Seconds expert_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates);

[[nodiscard]] std::vector<Unknown> expert_unknowns(std::span<const std::string> generations);
[[nodiscard]] bool expert_depends(std::size_t unknown, std::size_t generation);
[[nodiscard]] ExpertConstants expert_values(std::span<const double> values, std::size_t generation);

}  // namespace tbdsim::calibrate
