#include "model/prediction/predict.hpp"

#include "model/configuration/configure.hpp"
#include "model/prediction/cost.hpp"
#include "model/prediction/length_buckets.hpp"
#include "model/prediction/max_batch.hpp"
#include "model/prediction/memory_prediction.hpp"
#include "model/prediction/step_prediction.hpp"

namespace tbdsim {

Result<Prediction> predict(Session& session, const PredictOptions& options, SharedStep* shared) {
  if (options.buckets) return predict_buckets(options, [&](const PredictOptions& one) { return predict(session, one); });
  const auto configuration = configure(session, options);
  if (!configuration) return tl::make_unexpected(configuration.error());
  auto prediction = predict_step(*configuration, options.detail, shared);
  if (!prediction) return prediction;
  if (options.largest_batch) {
    const auto largest = largest_batch(session, options);
    if (!largest) return tl::make_unexpected(largest.error());
    prediction->largest_batch = {static_cast<double>(largest->batch), static_cast<double>(largest->low),
                                 static_cast<double>(largest->high)};
  }
  const auto prices = session.prices();
  if (!*prices) return tl::make_unexpected(prices->error());
  tell_cost(configuration->hardware(), **prices, *prediction);
  return prediction;
}

}  // namespace tbdsim
