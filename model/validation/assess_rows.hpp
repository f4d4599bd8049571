#pragma once
#include <functional>
#include <vector>

#include "model/support/progress.hpp"
#include "model/validation/accuracy_statistics.hpp"
#include "model/validation/anchored_efficiency.hpp"
#include "model/validation/measured_table.hpp"

namespace tbdsim {

/// What predicts the bus bandwidth of a bus_bandwidth row, B/s; likewise.
using CollectivePredictor = std::function<Result<Ranged<double>>(const MeasuredRun&)>;

/// Predicts every run and sets it against its measurement, in table order whatever the number of threads. A run that
/// cannot be predicted is skipped with the predictor's first message; without `collectives`, so are bus_bandwidth rows.
[[nodiscard]] std::vector<AssessedRow> assess_rows(const Predictor& predictor, const std::vector<MeasuredRun>& runs,
                                                   const CollectivePredictor& collectives = {}, Progress* progress = nullptr);

}  // namespace tbdsim
