#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/plan/plan_options.hpp"
#include "model/plan/search.hpp"

// Searches that several processes share: each tries a part of the layouts and writes what it found to a file. A plan of all
// these files is, byte for byte, that of one search.
namespace tbdsim::plan {

/// What one part of a search has found, or all parts together.
struct PlanPart {
  std::string question;               ///< digest of the options, the catalogue and the version
  std::size_t shard = 0, shards = 1;  ///< which part of how many
  std::vector<Found> jobs;            ///< of each machine and number of GPUs
};

/// Tries the layouts of `options.shard`. A job that no machine could do is left to the plan, which refuses it.
/// Errors: as `make_plan`, but for layouts that do not fit.
[[nodiscard]] Result<PlanPart> search_part(Session& session, const PlanOptions& options);

/// Begins the file of a part.
inline constexpr const char* kPartMark = "kind,job,variant,unit,tensor";
/// A part as CSV: its question, its counts, and the layouts that it kept.
[[nodiscard]] std::string to_csv(const PlanPart& part);

/// Reads parts and puts them together. Errors: a file that is none, or damaged; parts of another question; one that is missing or
/// named twice.
[[nodiscard]] Result<PlanPart> join_parts(Session& session, const PlanOptions& options, const std::vector<std::string>& files);

}  // namespace tbdsim::plan
