#pragma once
#include <string_view>

#include "model/engine/timeline.hpp"
#include "model/prediction/prediction.hpp"
#include "model/schedule/lowered_step.hpp"

namespace tbdsim {

/// The thread that issues operators, in `Prediction::host` and the lanes.
inline constexpr const char* kHostThread = "host thread";
/// Lanes that are no thread of a host: the shown GPU's own, and how those of ranks that are held apart from it begin. A link's
/// lane has its name in `Prediction::links`.
inline constexpr const char* kComputeStream = "compute stream";
inline constexpr std::string_view kOtherRank = "rank ";

/// The step that a profile shows: where it begins, and the rank whose threads are shown.
struct ShownStep {
  SimTime origin;
  std::int32_t rank = 0;
};

/// Adds one task of the host (or of the metric, or of a parameter server) to the profile of the host and to the lanes of a trace.
/// The host may run ahead: what it did for this step while the one before ran is drawn where the step after it has the same.
/// Expects `prediction` to hold the step's time.
void add_host_work(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline, std::size_t task,
                   const ShownStep& shown, Prediction& prediction);

/// Adds what a flow of an exchange moves over links to the lanes, each link in a lane of its own, from when the flow begins to
/// move. Expects a task of `step` that is an exchange.
void add_link_work(const LoweredStep& step, const engine::Timeline& timeline, std::size_t task, const ShownStep& shown,
                   Prediction& prediction);

/// Adds a kernel of a rank that is held apart from the one that is shown.
void add_rank_kernel(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline, std::size_t task,
                     const ShownStep& shown, Prediction& prediction);

/// The same of a node's input: what its storage, workers and copies do for a step. Nothing with synthetic input.
void add_input_work(Prediction& prediction);

/// Causes in order of their time; of equals the first first.
[[nodiscard]] std::vector<HostTime> longest_first(std::vector<HostTime> causes);

}  // namespace tbdsim
