#pragma once
#include <string>

#include "model/analysis/sweep_store.hpp"

namespace tbdsim {

/// Every row of a sweep in the order of its grid: CSV with a column for each option, or JSON of schema "tbdsim.sweep/1".
/// The same rows give the same bytes, however they came into the store. `front_only`: the rows of `sweep_front` alone.
[[nodiscard]] Result<std::string> sweep_export(const SweepStore& store, bool json, bool front_only = false);

}  // namespace tbdsim
