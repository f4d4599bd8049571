#pragma once
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/robust_fit.hpp"

namespace tbdsim::calibrate {

/// Fused attention, forward and backward; separate kernels are samples of their own families. Its arithmetic counts in shares of
/// the clock that the board keeps, which 16 and 8 bits have in common: the class of either is "fp16". Nullopt: unfused, another
/// pass, a kernel of a name that nobody knows, a window without a causal mask.
[[nodiscard]] std::optional<Observation> attention_observation(const Sample& sample);
[[nodiscard]] FormConstants attention_form(const Observation& row, const KernelConstants& constants, const Device& device);
[[nodiscard]] Seconds attention_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates);

/// Unknowns of the kernels called `generations`, and the constants that values of them are.
[[nodiscard]] std::vector<Unknown> attention_unknowns(std::span<const std::string> generations);
[[nodiscard]] bool attention_depends(std::size_t unknown, std::size_t generation);
[[nodiscard]] AttentionConstants attention_values(std::span<const double> values, std::size_t generation);

}  // namespace tbdsim::calibrate
