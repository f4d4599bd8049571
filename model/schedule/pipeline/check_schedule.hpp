#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/schedule/pipeline/pipeline_schedule.hpp"

namespace tbdsim::pipeline {

/// What is wrong with one rank of a table.
struct ScheduleProblem {
  std::int32_t rank = 0;
  std::string message;  ///< "block 5, F9.0: micro-batch 9 of 8; they count from 0"; blocks count from 1
};

/// The most problems told of one table; their number is told, too, where there are more.
inline constexpr std::size_t kMostProblems = 20;

/// Everything that keeps a table from running, in the order of the ranks; empty: it runs.
///
/// First numbers out of range; then blocks that stand twice, that are missing, that stand before what they need on their own
/// rank, and joined blocks that are no forward and backward of different micro-batches; then ranks that wait for each other in a
/// circle. A later group is looked for only in a table without problems of an earlier one, which would cause it.
/// A weights block may be missing: its backward block is then whole.
[[nodiscard]] std::vector<ScheduleProblem> problems(const PipelineSchedule& schedule);

/// Why a job of `shape` cannot run this table, for tables from files; nothing: it can.
[[nodiscard]] std::optional<std::string> mismatch(const PipelineSchedule& schedule, PipelineShape shape);

}  // namespace tbdsim::pipeline
