#pragma once
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim {

/// Standard deviation of ln(measured step / predicted step), from independent causes added in squares.
///
/// * `board`: what all kernels of one board and network have in common (real clock, library choice),
/// * `row`: what differs from one configuration to the next,
/// * `transferred`: added once for each generation between the board and the ones it borrows from,
/// * `tensor_core`: when products run on tensor cores,
/// * `exchange`: on several GPUs,
/// * `stack`: when the named framework version is not the one described.
/// Single kernels scatter more, but a step averages over hundreds of them.
[[nodiscard]] double step_spread(const SpreadConstants& spread, double transfer_distance, bool tensor_core, bool exchange,
                                 double stack_spread);

/// Half-width of the central 80 % of a normal distribution, in standard deviations.
inline constexpr double kCentral80 = 1.2815515655446004;

}  // namespace tbdsim
