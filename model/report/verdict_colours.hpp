#pragma once
#include <string>
#include <string_view>

namespace tbdsim {

/// A table or paragraph for a terminal, with its verdicts in colour: green what fits, passes or holds; red what does not fit or
/// fails; yellow the `?` of what cannot be told apart. Without the colours it is the same text. JSON stays as it is.
[[nodiscard]] std::string with_verdict_colours(std::string_view text);

}  // namespace tbdsim
