#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// What a page says of its origin.
struct PageOrigin {
  std::string_view verb;             ///< whose page it is
  std::string command;               ///< that made it, as a shell reads it; empty: unknown
  std::vector<std::string> notices;  ///< said beside the answer
};

/// An answer as one page that needs nothing else: no network, no other file. `data`: JSON as the verb answers it, and for some
/// verbs more (`predict_page.hpp`). The script of model/report/web/VERB.js draws it.
[[nodiscard]] std::string report_page(const PageOrigin& origin, std::string_view data);

/// What every such page holds near its beginning.
inline constexpr std::string_view kPageMark = "<title>tbdsim report</title>";

}  // namespace tbdsim
