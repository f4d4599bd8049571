#pragma once
#include <string>
#include <vector>

#include "model/study/sweep_store.hpp"
#include "model/validation/accuracy.hpp"
#include "model/validation/scenario_file.hpp"

namespace tbdsim {

/// What the page of a sweep draws: its rows as `sweep_export` writes them, which of them are on the front, and how many there
/// are. A page holds at most about 2,000 rows, so that it opens at once: of more, the front and every so-manieth row. Errors:
/// those of the store.
[[nodiscard]] Result<std::string> sweep_page_data(const SweepStore& store);

/// What the page of a validation draws: as `accuracy_json`, and how many rows there are. Errors of groups are those of all rows;
/// of more than about 2,500 rows, every so-manieth of each use is shown.
[[nodiscard]] std::string validate_page_data(const Accuracy& accuracy, const std::vector<AssessedClaim>& claims);

}  // namespace tbdsim
