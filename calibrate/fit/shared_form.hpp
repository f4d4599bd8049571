#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/robust_fit.hpp"

namespace tbdsim::calibrate {

/// Unknowns of a family's form that all boards share. Convolution libraries have some per generation.
[[nodiscard]] std::vector<Unknown> shared_unknowns(std::string_view family, std::span<const std::string> generations,
                                                   bool tensor);
/// Whether observations of a generation (its place in the list) depend on the unknown.
[[nodiscard]] bool depends_on_shared(std::string_view family, std::size_t unknown, std::size_t generation);
/// The constants that values of the unknowns stand for.
[[nodiscard]] FormConstants shared_constants(std::string_view family, std::span<const double> values, std::size_t generation);

}  // namespace tbdsim::calibrate
