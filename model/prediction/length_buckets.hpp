#pragma once
#include <functional>

#include "model/configuration/predict_options.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// Predicts one configuration over the lengths of its network's data set: a step per bucket, each with the bucket's length,
/// weighted by the samples it holds. Times, stages, limits and utilisation are means over samples, rates the batch over the mean
/// step, memory that of the fullest bucket, tokens (or seconds of sound) those before padding. `predict` predicts one length.
/// Errors: a network without such a distribution, a length that is given too; as `predict`.
[[nodiscard]] Result<Prediction> predict_buckets(const PredictOptions& options,
                                                 const std::function<Result<Prediction>(const PredictOptions&)>& predict);

}  // namespace tbdsim
