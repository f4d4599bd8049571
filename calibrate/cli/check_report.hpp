#pragma once
#include <string>
#include <vector>

#include "calibrate/fit/assessment.hpp"
#include "calibrate/fit/unused.hpp"

namespace tbdsim::calibrate {

/// One way of predicting the samples: "as shipped", "board left out".
struct CheckPart {
  std::string name;
  std::vector<AssessedRow> rows;
  std::vector<std::string> refused = {};  ///< fits that were refused, and why
};

/// Tables by set, family, precision and pass; by size; by device; the ten worst rows; what was read and not used.
[[nodiscard]] std::string check_table(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets,
                                      const std::vector<UnusedSamples>& unused);
/// The same as JSON: parts[] {name, groups[], sizes[], devices[], worst[], refused[]}, not_used[] {family, samples, row, reason,
/// measured}.
[[nodiscard]] std::string check_json(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets,
                                     const std::vector<UnusedSamples>& unused);

/// Every row of every part, one line each; unused samples have none.
[[nodiscard]] std::string check_csv(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets,
                                    const std::vector<UnusedSamples>& unused);

}  // namespace tbdsim::calibrate
