#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "calibrate/decode/sample_table.hpp"
#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/robust_fit.hpp"

namespace tbdsim::calibrate {

/// Samples of one recurrent layer in one direction; a sheet's single backward figure is both of its parts. nullopt for
/// other passes, more layers or directions, and for layers whose product with the input is timed too.
[[nodiscard]] std::optional<Observation> recurrent_observation(const Sample& sample);
/// Constants of the sample's generation; the defaults where it was never fitted.
[[nodiscard]] FormConstants recurrent_form(const Observation& row, const KernelConstants& constants, const Device& device);
[[nodiscard]] Seconds recurrent_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates);

/// Two unknowns of the tiles for all generations, then the load latencies of each.
[[nodiscard]] std::vector<Unknown> recurrent_unknowns(std::span<const std::string> generations, bool tensor);
[[nodiscard]] bool recurrent_depends(std::size_t unknown, std::size_t generation);
[[nodiscard]] RecurrentConstants recurrent_constants(std::span<const double> values, std::size_t generation,
                                                     std::string_view name);

}  // namespace tbdsim::calibrate
