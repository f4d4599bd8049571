#pragma once
#include <cstddef>
#include <functional>

#include "model/analysis/study_grid.hpp"
#include "model/analysis/sweep_store.hpp"

namespace tbdsim {

/// Which part of a grid this process does: points whose number leaves `index` when divided by `count`.
struct SweepShard {
  std::size_t index = 0, count = 1;
};

/// How far a sweep is: points of this shard looked at, of all; those that were predicted now.
struct SweepProgress {
  std::size_t done = 0, all = 0, predicted = 0;
};

/// A text that tells one grid from another: its axes, values and changes.
[[nodiscard]] std::string grid_text(const StudyGrid& grid);

/// Digest of everything in the catalogue that a prediction may read. Errors: a file that cannot be read.
[[nodiscard]] Result<std::string> catalogue_digest(const Catalogue& catalogue);

/// Predicts every point of a shard that the store does not hold, on all cores, and stores each batch as it is finished.
/// Rows do not depend on the number of threads, on shards or on interruptions. A point without prediction is a row with
/// its reason. Errors: those of the store; files that cannot be read.
[[nodiscard]] Result<SweepProgress> sweep(Session& session, const StudyGrid& grid, SweepShard shard, SweepStore& store,
                                          const std::function<void(const SweepProgress&)>& progress);

}  // namespace tbdsim
