#pragma once
#include <vector>

#include "model/configuration/session.hpp"
#include "model/support/progress.hpp"
#include "model/validation/accuracy.hpp"
#include "model/validation/measured_table.hpp"

namespace tbdsim {

/// Predicts every row (in parallel; the result does not depend on the number of threads) and compares.
[[nodiscard]] Accuracy assess(Session& session, const std::vector<MeasuredRun>& runs, Progress* progress = nullptr);

}  // namespace tbdsim
