#pragma once
#include <string>
#include <vector>

#include "model/plan/part_file.hpp"
#include "model/plan/plan_options.hpp"

// Searches that several processes share: each tries a part of the layouts and writes what it found to a file. A plan of all
// these files is, byte for byte, that of one search.
namespace tbdsim::plan {

/// Tries the layouts of `options.shard`. A job that no machine could do is left to the plan, which refuses it.
/// Errors: as `make_plan`, but for layouts that do not fit.
[[nodiscard]] Result<PlanPart> search_part(Session& session, const PlanOptions& options);

/// Reads parts and puts them together. Errors: a file that is none, or damaged; parts of another question; one that is missing or
/// named twice.
[[nodiscard]] Result<PlanPart> join_parts(Session& session, const PlanOptions& options, const std::vector<std::string>& files);

}  // namespace tbdsim::plan
