#pragma once
#include <string>

#include "model/prediction/run/run_estimate.hpp"

namespace tbdsim {

/// A run for people, in 80 columns: days, what interruptions and checkpoints cost, energy, carbon, money, and all that is
/// assumed, with its sources.
[[nodiscard]] std::string run_text(const RunEstimate& run);

}  // namespace tbdsim
