#pragma once
#include <string>

#include "model/analysis/scale.hpp"

namespace tbdsim {

/// Title lines and one line per size: step, epoch, speed-up, efficiency, where the time goes.
[[nodiscard]] std::string scale_table(const ScaleStudy& study);
/// A header and one line per size. Columns carry units.
[[nodiscard]] std::string scale_csv(const ScaleStudy& study);
/// One object of schema "tbdsim.scale/1", indented, ending in a newline.
[[nodiscard]] std::string scale_json(const ScaleStudy& study);

}  // namespace tbdsim
