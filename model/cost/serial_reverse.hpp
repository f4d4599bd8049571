#pragma once
#include "model/hardware/architecture.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// MXNet's SequenceReverse up to 1.2: one thread for each step of the sequence walks over batch x width elements, one
/// dependent access after the other, so that the time does not depend on the length:
///
///   t = batch x width x access
///
/// `access` is the latency of an uncached load and store (`Architecture::reverse_access`): Pascal 0.61 us from the kernel's
/// 119.65 ms in a published profile (UofT-EcoSystem/sockeye, TITAN Xp), Volta 0.305 and Turing 0.21 us from published throughput
/// with and without the kernel's repair, architectures before Pascal as Pascal, later ones as Turing (transferred).
/// Neglects: the caches of small batches.
[[nodiscard]] Seconds serial_reverse_time(double batch, double width, const Architecture& chip);

}  // namespace tbdsim
