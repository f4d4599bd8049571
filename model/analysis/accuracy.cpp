#include "model/analysis/accuracy.hpp"

#include "model/analysis/assess_rows.hpp"

namespace tbdsim {

Accuracy assess(Session& session, const std::vector<MeasuredRun>& runs) {
  return summarize(assess_rows([&session](const PredictOptions& options) { return predict(session, options); }, runs));
}

}  // namespace tbdsim
