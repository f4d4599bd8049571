#pragma once
#include <string>
#include <vector>

#include "model/report/json.hpp"

namespace tbdsim {

/// A prediction as one page that needs nothing else: no network, no other file. `scaling` holds the same job on fewer
/// GPUs, for the scaling curve; it may be empty. Expects predictions made with `detail`.
[[nodiscard]] std::string html_report(const Prediction& prediction, const PredictParts& parts,
                                      const std::vector<Prediction>& scaling);

/// What every such page holds near its beginning.
inline constexpr std::string_view kHtmlMark = "<title>tbdsim report</title>";

/// The page around its data, with `@DATA@` where they go.
[[nodiscard]] std::string_view html_template();

}  // namespace tbdsim
