#include "model/prediction/memory_prediction.hpp"

#include <fmt/format.h>

#include "model/configuration/configure.hpp"
#include "model/prediction/max_batch.hpp"

namespace tbdsim {

Result<Prediction> predict_memory(Session& session, const PredictOptions& options) {
  const auto configured = configure(session, options);
  if (!configured) return tl::make_unexpected(configured.error());
  auto estimator = MemoryEstimator::make(*configured);
  if (!estimator) return tl::make_unexpected(estimator.error());
  Prediction p;
  p.hardware_name = configured->hardware().id;
  p.device = configured->hardware().device.id;
  p.model = configured->network_graph().graph.name;
  p.stack = configured->stack.id;
  p.precision = name(configured->precision);
  p.gpus = configured->gpus;
  p.nodes = configured->nodes;
  p.batch_per_gpu = configured->batch;
  p.memory = memory_verdict(*configured, estimator->at(configured->batch));
  if (!options.largest_batch) return p;
  const LargestBatch largest = find_largest_batch(*estimator);
  p.largest_batch = {static_cast<double>(largest.batch), static_cast<double>(largest.low), static_cast<double>(largest.high)};
  return p;
}

}  // namespace tbdsim
