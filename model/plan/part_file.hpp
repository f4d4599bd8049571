#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/plan/found.hpp"

namespace tbdsim::plan {

/// What one part of a search has found, or all parts together.
struct PlanPart {
  std::string question;               ///< digest of the options, the catalogue and the version
  std::size_t shard = 0, shards = 1;  ///< which part of how many
  std::vector<Found> jobs;            ///< of each machine and number of GPUs
};

/// Begins the file of a part.
inline constexpr const char* kPartMark = "kind,job,variant,unit,tensor";
/// A part as CSV: its question, its counts, and the layouts that it kept.
[[nodiscard]] std::string to_csv(const PlanPart& part);

/// Reads the file of a part whose plan has so many jobs. Errors: every line that no search writes.
[[nodiscard]] Result<PlanPart> read_part(const std::string& path, std::size_t jobs);
/// The same of its text; `name` stands in errors.
[[nodiscard]] Result<PlanPart> parse_part(std::string text, std::string name, std::size_t jobs);

}  // namespace tbdsim::plan
