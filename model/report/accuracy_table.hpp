#pragma once
#include <string>

#include "model/analysis/accuracy.hpp"

namespace tbdsim {

/// Accuracy for people: one line per group, validation apart from fit, totals, what was skipped and why; with `rows`,
/// every row's signed error first.
[[nodiscard]] std::string accuracy_table(const Accuracy& accuracy, bool rows);

}  // namespace tbdsim
