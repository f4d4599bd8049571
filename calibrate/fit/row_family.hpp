#pragma once
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/robust_fit.hpp"

namespace tbdsim::calibrate {

/// Whether parameters of this name are of kernels that have constants of their own: RMS norm, rotary embedding, gated activation.
[[nodiscard]] bool is_row_family(std::string_view family);

/// Kernels along rows that their library wrote (`algorithm` of the sample). Nullopt: a kernel of a name that nobody knows.
[[nodiscard]] std::optional<Observation> row_kernel_observation(const Sample& sample);
[[nodiscard]] FormConstants row_kernel_form(const Observation& row, const KernelConstants& constants, const Device& device);
[[nodiscard]] Seconds row_kernel_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates);

[[nodiscard]] std::vector<Unknown> row_unknowns(std::span<const std::string> generations);
[[nodiscard]] bool row_depends(std::size_t unknown, std::size_t generation);
[[nodiscard]] RowConstants row_values(std::span<const double> values, std::size_t generation, std::string_view name);

}  // namespace tbdsim::calibrate
