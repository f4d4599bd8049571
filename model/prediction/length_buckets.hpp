#pragma once
#include "model/prediction/predict.hpp"

namespace tbdsim {

/// Predicts one configuration over the lengths of its network's data set: a step per bucket, each with the bucket's length,
/// weighted by the samples it holds. Times, stages, limits and utilisation are means over samples, rates the batch over the mean
/// step, memory that of the fullest bucket, tokens (or seconds of sound) those before padding. Errors: a network without such a
/// distribution, a length that is given too; as `predict`.
[[nodiscard]] Result<Prediction> predict_buckets(Session& session, const PredictOptions& options);

}  // namespace tbdsim
