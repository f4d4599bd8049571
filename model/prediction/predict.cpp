#include "model/prediction/predict.hpp"

#include "model/configuration/configure.hpp"
#include "model/prediction/cost.hpp"
#include "model/prediction/length_buckets.hpp"
#include "model/prediction/longest_sequence.hpp"
#include "model/prediction/max_batch.hpp"
#include "model/prediction/step_prediction.hpp"

namespace tbdsim {

namespace {

Result<Prediction> predict_lengths(Session& session, const PredictOptions& options) {
  return predict_buckets(options, [&](const PredictOptions& one) { return predict(session, one); });
}

/// Where a data set's mean length sets the time, memory is that of its longest sequences.
Result<void> keep_longest(Session& session, const PredictOptions& options, const Configuration& configuration,
                          Prediction& prediction) {
  auto longest = with_longest_sequences(session, options, configuration);
  if (!longest) return tl::make_unexpected(std::move(longest.error()));
  if (!*longest) return {};
  prediction.notices.push_back((*longest)->notices.back());
  const int batch = (*longest)->batch;
  auto estimator = MemoryEstimator::make(**longest);
  if (!estimator) return tl::make_unexpected(std::move(estimator.error()));
  prediction.memory = memory_verdict(**longest, estimator->at(batch));
  return {};
}

/// Adds to a step's prediction what needs the catalogue: its cost, memory of other lengths, and the largest batch where it is
/// asked for.
Result<void> complete(Session& session, const PredictOptions& options, const Configuration& configuration,
                      Prediction& prediction) {
  if (const auto kept = keep_longest(session, options, configuration, prediction); !kept)
    return tl::make_unexpected(kept.error());
  if (options.largest_batch) {
    const auto largest = largest_batch(session, options);
    if (!largest) return tl::make_unexpected(largest.error());
    prediction.largest_batch = {static_cast<double>(largest->batch), static_cast<double>(largest->low),
                                static_cast<double>(largest->high)};
  }
  const auto prices = session.prices();
  if (!*prices) return tl::make_unexpected(prices->error());
  tell_cost(configuration.hardware(), **prices, prediction);
  return {};
}

}  // namespace

Result<Prediction> predict(Session& session, const PredictOptions& options, const SharedStep* known) {
  if (options.buckets) return predict_lengths(session, options);
  const auto configuration = configure(session, options);
  if (!configuration) return tl::make_unexpected(configuration.error());
  auto prediction = predict_step(*configuration, options.detail, known);
  if (!prediction) return prediction;
  if (const auto whole = complete(session, options, *configuration, *prediction); !whole)
    return tl::make_unexpected(whole.error());
  return prediction;
}

Result<FirstPrediction> predict_first(Session& session, const PredictOptions& options) {
  if (options.buckets)
    return predict_lengths(session, options).map([](Prediction p) { return FirstPrediction{std::move(p), {}}; });
  const auto configuration = configure(session, options);
  if (!configuration) return tl::make_unexpected(configuration.error());
  auto first = predict_first_step(*configuration, options.detail);
  if (!first) return first;
  if (const auto whole = complete(session, options, *configuration, first->prediction); !whole)
    return tl::make_unexpected(whole.error());
  return first;
}

}  // namespace tbdsim
