#pragma once
#include <string>

#include "model/study/replay.hpp"

namespace tbdsim {

/// The measured step, the replayed one, and what changes for each family of work. 80 columns.
[[nodiscard]] std::string replay_table(const StepReplay& replay);
/// One row a family: family, measured_s, factor, replayed_s.
[[nodiscard]] std::string replay_csv(const StepReplay& replay);
/// One object of schema "tbdsim.replay/1".
[[nodiscard]] std::string replay_json(const StepReplay& replay);

}  // namespace tbdsim
