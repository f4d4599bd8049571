#pragma once
#include <string>

#include "model/report/json.hpp"

namespace tbdsim {

/// A prediction for people, in 80 columns: what was predicted, step time and throughput with their 80 % ranges, stages,
/// utilisation, limits, memory, cost and where the constants came from; then the parts that were asked for. Notices
/// are left to the caller.
[[nodiscard]] std::string predict_table(const Prediction& prediction, const PredictParts& parts);

/// How a network is divided, as a title tells it: "tensor 4, data 2, pipeline 8, sequence parallel, 1f1b".
[[nodiscard]] std::string layout_text(const Prediction& prediction);

/// Whether a store updates weights while the exchange goes on, so that GPUs wait for less of the update than it takes.
[[nodiscard]] bool update_beside_exchange(const PhaseTimes& phases);

/// Every layer with the time of its passes. Expects a prediction made with `detail`.
[[nodiscard]] std::string layers_table(const Prediction& prediction);

/// What threads of the host, input workers and copy engines do for a step, by cause, longest first. Expects a prediction made
/// with `detail`.
[[nodiscard]] std::string host_table(const Prediction& prediction);

/// Bytes and busy share of every link that the exchange uses. Expects a prediction made with `detail`.
[[nodiscard]] std::string links_table(const Prediction& prediction);
/// Pairs of GPUs without a link, by the place over which their copies go; empty where there are none.
[[nodiscard]] std::string indirect_copies_text(const std::vector<IndirectCopy>& copies);

/// Kernels by name and algorithm, longest first, with their share of time and fp32 utilisation, then the longest below
/// and above the mean utilisation. Expects a prediction made with `detail`.
[[nodiscard]] std::string kernels_table(const Prediction& prediction);

}  // namespace tbdsim
