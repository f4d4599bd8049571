#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// What is said of an option that a verb does not have, with the known one that may be meant. `word` and `known` begin with
/// dashes; what follows a `=` is a value.
[[nodiscard]] std::string unknown_option(std::string_view verb, const std::string& word, const std::vector<std::string>& known);

/// `, did you mean "X"?` where a known word is near; else nothing.
[[nodiscard]] std::string suggestion(const std::string& word, const std::vector<std::string>& known);

}  // namespace tbdsim
