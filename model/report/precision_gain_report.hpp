#pragma once
#include <string>

#include "model/prediction/precision_gain.hpp"

namespace tbdsim {

/// The gain of every layer, then the layers whose products stay off 16-bit tensor cores, by reason.
[[nodiscard]] std::string precision_gain_table(const PrecisionGain& gain);
/// A header and a row for each layer.
[[nodiscard]] std::string precision_gain_csv(const PrecisionGain& gain);

}  // namespace tbdsim
