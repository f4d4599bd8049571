#pragma once
#include <optional>
#include <string>

#include "model/study/measured_families.hpp"
#include "model/trace/breakdown.hpp"

namespace tbdsim::calibrate {

/// Steps of a trace, where their time goes, and what takes longest by family (beside `predicted`, a step's), layer and kernel.
/// 80 columns.
[[nodiscard]] std::string trace_text(const trace::Trace& trace, const trace::Breakdown& breakdown,
                                     const std::optional<FamilyTimes>& predicted);

/// First line of `trace_table`.
[[nodiscard]] std::string_view trace_table_header();
/// CSV, one row a part: by (occupation, family, layer, kernel of the steps, family of the whole trace), name, count, time in
/// nanoseconds of all steps or of the whole trace, seconds a step (empty for the whole trace), predicted seconds a step.
[[nodiscard]] std::string trace_table(const trace::Breakdown& breakdown, const std::optional<FamilyTimes>& predicted);

}  // namespace tbdsim::calibrate
