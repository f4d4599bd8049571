#pragma once
#include <vector>

#include "model/hardware/device.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim::calibrate {

/// A family before and after its samples.
struct FittedFamily {
  FamilyParameters before, after;
  bool transferred = false;  ///< `before` was borrowed from relatives
  bool computes = true;      ///< its share of peak was fitted, else its share of bandwidth alone
};

/// Parameters of families and kinds of arithmetic that `device` would borrow and no sample is of, corrected by what the fitted
/// ones share: a board that multiplies faster than its relatives do so because of its clock, and that clock convolves too.
///
/// The logarithm of a borrowed share is off by c + f, c common to all families of the board, f of one alone, each with half
/// the variance of the transfer. From the fitted families, with d = ln(after / before) and variance v = sigma^2/2 + (sigma of
/// after)^2,
///
///   c = sum(d / v) / (2 / sigma^2 + sum(1 / v))
///
/// Families that compute tell of compute, those that move bytes alone of bandwidth. Nothing comes of families that were not
/// borrowed.
[[nodiscard]] std::vector<FamilyParameters> carried_over(const std::vector<FittedFamily>& fitted, const Device& device,
                                                         const KernelConstants& constants);

}  // namespace tbdsim::calibrate
