#pragma once
#include "model/prediction/predict.hpp"

namespace tbdsim {

/// How many times as fast `many` is as `one`, `value` by their throughputs or by whole epochs, with the range of that ratio.
///
/// What two predictions get wrong alike cancels: on one device with one stack and precision the board's share of the error,
/// for one network and batch per GPU also the configuration's. What is left is independent: the exchange of each. The same
/// kernels on more GPUs are no faster than linear: there the range ends at the number of GPUs, unless `value` lies beyond.
/// Only steps are uncertain: where they are a part of what `value` compares, as start-up is of an epoch, the parts of `many`
/// and `one` say which, and what cancels does so as far as the parts are alike.
[[nodiscard]] Ranged<double> speedup_range(const Prediction& many, const Prediction& one, double value, double part_of_many = 1.0,
                                           double part_of_one = 1.0);

}  // namespace tbdsim
