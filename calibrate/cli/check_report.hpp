#pragma once
#include <string>
#include <vector>

#include "calibrate/fit/assessment.hpp"

namespace tbdsim::calibrate {

/// One way of predicting the samples: "as shipped", "board left out".
struct CheckPart {
  std::string name;
  std::vector<AssessedRow> rows;
};

/// Tables by set, family, precision and pass; by size; by device; the ten worst rows.
[[nodiscard]] std::string check_table(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets);
/// The same as JSON: parts[] {name, groups[], sizes[], devices[], worst[]}.
[[nodiscard]] std::string check_json(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets);

/// Every row of every part, one line each.
[[nodiscard]] std::string check_csv(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets);

}  // namespace tbdsim::calibrate
