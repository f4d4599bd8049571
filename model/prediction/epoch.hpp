#pragma once
#include <cstdint>
#include <optional>

#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// Passes over a data set at a predicted throughput.
struct EpochEstimate {
  std::int64_t samples = 0;  ///< of one epoch
  int epochs = 1;
  std::int64_t steps = 0;   ///< of one epoch; the last one may be smaller and is counted whole
  Seconds start_up;         ///< of the run: part of `epoch` and of `total`
  Ranged<Seconds> epoch;    ///< a run of one epoch: start-up, then steps x step time
  Ranged<Seconds> total;    ///< start-up once, then every epoch; later ones with the data set in memory where that fits
  std::optional<Usd> cost;  ///< of `total`, where the hardware has a rent
};

/// Expects samples >= 1 and epochs >= 1. Ignores evaluation and checkpoints.
[[nodiscard]] EpochEstimate estimate_epochs(const Prediction& prediction, std::int64_t samples, int epochs);

}  // namespace tbdsim
