#pragma once
#include <functional>
#include <vector>

#include "model/validation/accuracy_statistics.hpp"
#include "model/validation/measured_table.hpp"

namespace tbdsim {

/// What predicts one configuration; called from several threads at once.
using Predictor = std::function<Result<Prediction>(const PredictOptions&)>;

/// Fills in `anchored` of every row of several GPUs whose series has a 1-GPU row: its prediction with every kernel and every
/// operator's host time scaled by the one factor with which the step on one GPU takes as long as was measured. Its efficiency
/// then shows what the exchange, and nothing else, gets wrong. Rows where no factor is found within a factor of 20 keep none.
void anchor_efficiency(const Predictor& predictor, const std::vector<MeasuredRun>& runs, std::vector<AssessedRow>& rows);

}  // namespace tbdsim
