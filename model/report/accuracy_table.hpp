#pragma once
#include <string>

#include "model/validation/accuracy.hpp"

namespace tbdsim {

/// Accuracy for people: one line per group, validation apart from fit, totals, what was skipped and why; with `rows`,
/// every row's signed error first.
[[nodiscard]] std::string accuracy_table(const Accuracy& accuracy, bool rows);

/// The same in one table: a line for all that is about one subject, then one for each of its published tables.
[[nodiscard]] std::string accuracy_summary(const Accuracy& accuracy);

}  // namespace tbdsim
