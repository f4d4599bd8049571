#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// Whether row i of a table describes enumerator i, so that an enumerator finds its row by its number. For a static_assert
/// beside the table; every row has `kind` and `name`.
template <class Rows>
[[nodiscard]] constexpr bool rows_in_order(const Rows& rows) {
  std::size_t at = 0;
  for (const auto& row : rows)
    if (static_cast<std::size_t>(row.kind) != at++) return false;
  return true;
}

/// The names of all rows, in their order.
template <class Rows>
[[nodiscard]] std::vector<std::string> row_names(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace tbdsim
