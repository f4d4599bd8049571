#include "model/validation/assess.hpp"

#include "model/prediction/predict.hpp"
#include "model/survey/collective_survey.hpp"
#include "model/validation/assess_rows.hpp"

namespace tbdsim {

Accuracy assess(Session& session, const std::vector<MeasuredRun>& runs, Progress* progress) {
  const Predictor step = [&session](const PredictOptions& options) { return predict(session, options); };
  const CollectivePredictor collective = [&session](const MeasuredRun& run) {
    return bus_bandwidth(session, {run.options, run.collective, run.nccl, run.launch, {*run.message}});
  };
  return summarize(assess_rows(step, runs, collective, progress));
}

}  // namespace tbdsim
