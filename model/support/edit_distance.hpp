#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word` (ties: first), if it is near enough to be a plausible typing slip:
/// distance at most max(1, length / 3), compared without case, '-', '_', '.' and spaces.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// The candidates that `word` may stand for, compared as above: those that begin with it, then those that hold it; if none, the
/// nearest; else those that share the longest run with it, more than half the word or four characters with a digit among them.
[[nodiscard]] std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& candidates);

/// Lower case without '-', '_', '.' and spaces: the form in which catalogue names are compared.
[[nodiscard]] std::string fold_name(std::string_view name);

}  // namespace tbdsim
