#pragma once
#include "model/plan/plan_part.hpp"

namespace tbdsim::plan {

/// Reads the file of a part whose plan has so many jobs. Errors: every line that no search writes.
[[nodiscard]] Result<PlanPart> read_part(const std::string& path, std::size_t jobs);

}  // namespace tbdsim::plan
