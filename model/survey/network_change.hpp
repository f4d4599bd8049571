#pragma once
#include <optional>
#include <string>

#include "model/prediction/predict.hpp"
#include "model/survey/workload_summary.hpp"

namespace tbdsim {

/// A network on some hardware, in the figures that an edit of it moves.
struct NetworkFigures {
  std::int64_t parameters = 0;
  double forward_macs = 0;  ///< per sample
  Seconds step;
  double throughput = 0;
  Bytes peak;  ///< of the fullest GPU
};

/// What changed values of a network (`--set model.conv1.channels=32`) do to a job.
struct NetworkChange {
  std::string network;
  NetworkFigures before, after;
};

/// The same job with the network as it stands in its file or in the catalogue, beside `changed`, which was predicted with
/// `options`; other changed values stay. Nullopt where no value of the network was changed. Errors: as `predict`.
[[nodiscard]] Result<std::optional<NetworkChange>> network_change(Session& session, const PredictOptions& options,
                                                                  const Prediction& changed);

}  // namespace tbdsim
