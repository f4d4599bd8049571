#pragma once
#include <span>
#include <string>

#include "model/input/file_format.hpp"
#include "model/schedule/pipeline/pipeline_schedule.hpp"
#include "model/support/result.hpp"

namespace tbdsim::pipeline {

/// Reads a schedule of one's own. A rank is a list of blocks in the order in which it runs them:
///
///     schema = 1
///     placement = "round-robin"    # or "vee", "two-way"; round-robin where it is left out
///     micro_batches = 2
///     chunks = 1                   # of each rank; 1 where it is left out
///     [[rank]]
///     blocks = "F0 F1 B0 W0 B1 W1"
///
/// F, B or W, the micro-batch and, after a dot, the chunk (0 where it is left out), all from 0. A plus joins an F with the B that
/// it runs together with: "F4.0+B2.1". A B without a W of the same micro-batch and chunk computes both gradients. Line ends are
/// blanks. Errors, all at once: what the TOML reader finds; words that are no blocks; problems(schedule), at the blocks of their
/// rank.
[[nodiscard]] Result<PipelineSchedule> read_schedule_file(const std::string& path);
/// The same from memory; `name` is what messages call the file.
[[nodiscard]] Result<PipelineSchedule> parse_schedule_file(std::string text, const std::string& name);

/// A table as such a file.
[[nodiscard]] std::string to_toml(const PipelineSchedule& schedule);

/// The keys of the file.
[[nodiscard]] std::span<const FileFormat> schedule_format();

}  // namespace tbdsim::pipeline
