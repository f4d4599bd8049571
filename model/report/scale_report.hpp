#pragma once
#include <string>

#include "model/study/scale.hpp"

namespace tbdsim {

/// Title lines, then tables with one line per study and size: steps and epochs, speed-up, what a step and an epoch are made of,
/// stages against one GPU, memory and gradients.
[[nodiscard]] std::string scale_text(const ScaleTable& table);
/// A header and one line per study and size. Columns carry units.
[[nodiscard]] std::string scale_csv(const ScaleTable& table);
/// One object of schema "tbdsim.scale/1", indented, ending in a newline. An entry of `config` that varies is a list.
[[nodiscard]] std::string scale_json(const ScaleTable& table);

}  // namespace tbdsim
