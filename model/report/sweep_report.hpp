#pragma once
#include <string>

#include "model/study/sweep_store.hpp"

namespace tbdsim {

/// How rows are written: CSV with a column for each option, JSON of schema "tbdsim.sweep/1", or a line of JSON for each row.
enum class SweepForm { csv, json, lines };

/// What every such text with a row holds in its first line or two.
inline constexpr std::string_view kSweepCsvMark = "step_time_s,step_time_low_s,step_time_high_s";
inline constexpr std::string_view kSweepJsonMark = "{\"config\":{";

/// Every row of a sweep in the order of its grid. The same rows give the same bytes, however they came into the store.
/// `front_only`: the rows of `sweep_front` alone.
[[nodiscard]] Result<std::string> sweep_export(const SweepStore& store, SweepForm form, bool front_only = false,
                                               std::optional<std::int64_t> epoch_samples = std::nullopt);

}  // namespace tbdsim
