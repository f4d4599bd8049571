#pragma once
#include <string>

#include "model/study/diagnose.hpp"

namespace tbdsim {

/// The measured figure against the predicted one, then the causes that would explain it, most likely first, each with its test.
/// 80 columns.
[[nodiscard]] std::string diagnosis_table(const Diagnosis& diagnosis);
/// One row a cause: cause, amount, speed, low, high, unit, off, in_range, weight, set, test.
[[nodiscard]] std::string diagnosis_csv(const Diagnosis& diagnosis);

}  // namespace tbdsim
