#pragma once
#include "model/prediction/memory_estimator.hpp"

namespace tbdsim {

/// A batch and what it needs.
struct OtherBatch {
  int batch = 0;
  Bytes peak;
};

/// The largest batch per GPU up to which none that was tried needs more than the capacity, and the next size, which does.
struct LargestBatch {
  int batch = 0;  ///< 0: not even one sample fits
  Bytes peak, next_peak;
  int next = 0;            ///< the next size; 0: all larger ones that divide an update leave too few micro-batches, or none
  int micro_batches = 1;   ///< of `batch`, that an update has
  double probability = 0;  ///< that `batch` fits, within the peak's range
  int safe_batch = 0;      ///< the largest that fits with a probability of 90 %, as all smaller ones do
  std::optional<OtherBatch> larger;  ///< one that fits although a smaller one does not: workspaces and blocks differ
  int low = 0, high = 0;             ///< the largest if the true peaks were at the ends of their 80 % range
};

/// Replays steps of different batches: since peaks are nearly straight lines in the batch, a few between a batch that
/// fits and one that does not, some below, and some above, where workspaces may have become smaller.
[[nodiscard]] LargestBatch find_largest_batch(MemoryEstimator& estimator);

/// The same of one configuration. Where the job says how many samples an update has, of those sizes alone that divide them.
/// Errors: as `predict`.
[[nodiscard]] Result<LargestBatch> largest_batch(Session& session, const PredictOptions& options);

}  // namespace tbdsim
