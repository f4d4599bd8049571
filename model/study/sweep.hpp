#pragma once
#include <cstddef>
#include <functional>

#include "model/configuration/study_grid.hpp"
#include "model/prediction/predict.hpp"
#include "model/study/idle_options.hpp"
#include "model/study/sweep_store.hpp"

namespace tbdsim {

/// Which part of a grid this process does: points whose number leaves `index` when divided by `count`.
struct SweepShard {
  std::size_t index = 0, count = 1;
};

/// How far a sweep is: points of this shard looked at, of all; those that were predicted now; rows of other inputs that went;
/// what the points that were predicted now say of options without effect.
struct SweepProgress {
  std::size_t done = 0, all = 0, predicted = 0;
  std::int64_t dropped = 0;
  IdleOptions idle{};
};

/// A text that tells one grid from another: its axes, values and changes.
[[nodiscard]] std::string grid_text(const StudyGrid& grid);

/// Everything that predictions of a grid may read: this version, the catalogue, the user's files and those that they name.
/// Errors: a file of the catalogue that cannot be read.
[[nodiscard]] Result<SweepOrigin> sweep_origin(const Catalogue& catalogue, const StudyGrid& grid);

/// Makes the rows of a store those of this grid and its inputs as they are now; tells how many rows of other inputs it dropped.
/// Errors: rows that no sweep of this grid writes; those of `SweepStore::begin`; rows of other inputs where nothing that is tried
/// of them can be predicted from those of now, since a file is damaged. The store is as it was then.
[[nodiscard]] Result<std::int64_t> begin_rows(Session& session, const StudyGrid& grid, SweepStore& store);

/// Predicts every point of a shard that the store does not hold, on all cores, and stores each batch as it is finished.
/// What the store holds of other inputs, in any shard, is dropped first: its rows answer one question. It is kept, and nothing
/// done, where `begin_rows` refuses.
/// Rows do not depend on the number of threads, on shards or on interruptions. A point without prediction is a row with
/// its reason. Errors: those of the store; files that cannot be read.
[[nodiscard]] Result<SweepProgress> sweep(Session& session, const StudyGrid& grid, SweepShard shard, SweepStore& store,
                                          const std::function<void(const SweepProgress&)>& progress);

}  // namespace tbdsim
