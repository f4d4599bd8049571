#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/robust_fit.hpp"

namespace tbdsim::calibrate {

/// What fixes the form of a family's constants: its name, its library generations and whether tensor cores multiply.
struct SharedForm {
  std::string_view family;
  std::span<const std::string> generations;
  bool tensor = false;
  /// Of products in the form of `pipelined_gemm`: what is believed of each generation's constants, and how surely.
  std::span<const PipelinedConstants> pipelined = {};
  bool narrow = false;  ///< 8 bits
};

/// Unknowns of a family's form that all boards share. Libraries have some per generation.
[[nodiscard]] std::vector<Unknown> shared_unknowns(const SharedForm& form);
/// Whether observations of a generation (its place in the list) depend on the unknown.
[[nodiscard]] bool depends_on_shared(const SharedForm& form, std::size_t unknown, std::size_t generation);
/// The constants of a generation that values of the unknowns stand for.
[[nodiscard]] FormConstants shared_constants(const SharedForm& form, std::span<const double> values, std::size_t generation);

}  // namespace tbdsim::calibrate
