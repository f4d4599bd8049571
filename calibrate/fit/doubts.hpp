#pragma once
#include <string>
#include <vector>

#include "calibrate/fit/kernel_fit.hpp"

namespace tbdsim::calibrate {

/// What samples state that nothing looks at, and what in them can hardly be meant, a sentence each with the first row:
///
/// - the very same row twice, and one shape whose times lie far apart;
/// - a transposed first operand (`ta=1`), a layout other than nchw, an algorithm that no form knows;
/// - boards of AMD without a library, whose kernels differ between releases most;
/// - the flag `matrix-cores` where it says nothing;
/// - times of one family that are plausible in seconds in some rows and in milliseconds in others.
///
/// Samples of devices that `devices` lacks are passed over where the device matters.
///
/// `scored`: the samples are compared with a prediction, every row of them, and fit nothing.
[[nodiscard]] std::vector<std::string> doubts(const std::vector<Sample>& samples, const DeviceMap& devices, bool scored = false);

/// Samples that no board can have taken, with their rows and the unit that is meant most likely: those that `fit_board` leaves
/// out, and a check scores all the same. A sentence each.
[[nodiscard]] std::vector<std::string> implausible_samples(const std::vector<Sample>& samples, const DeviceMap& devices);

}  // namespace tbdsim::calibrate
