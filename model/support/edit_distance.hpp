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

/// Lower case without '-', '_', '.' and spaces: the form in which catalogue names are compared.
[[nodiscard]] std::string fold_name(std::string_view name);

}  // namespace tbdsim
