#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/cli/arguments.hpp"
#include "model/configuration/session.hpp"
#include "model/study/sweep.hpp"

// The parts of `sweep` that one process and several share.
namespace tbdsim {

/// Opens or makes the output of a sweep and drops its rows of other inputs; tells how many. Errors: as `sweep_into`.
[[nodiscard]] Result<std::int64_t> begin_sweep(const SweepArguments& arguments, const Catalogue& catalogue);

/// Predicts what `output` lacks of a shard, with a line of progress where that is a terminal. Errors: a grid that names
/// what does not exist; those of the file.
[[nodiscard]] Result<SweepProgress> sweep_into(const std::string& output, const SweepArguments& arguments,
                                               const Catalogue& catalogue, SweepShard shard, bool progress);

/// Adds the rows of `parts` to `output`, made where it is missing; returns how many rows it then holds. Errors: a part that
/// is no sweep or one of another grid or of other inputs. All files are checked before any row is added, and no new file stays
/// after an error.
[[nodiscard]] Result<std::int64_t> merge_sweeps(const std::string& output, const std::vector<std::string>& parts);

/// Says what a finished sweep holds; exit code 1 where none of its points could be predicted.
[[nodiscard]] int tell_sweep(const SweepArguments& arguments, const SweepProgress& done);

}  // namespace tbdsim
