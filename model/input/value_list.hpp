#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Longest list that a range may stand for.
inline constexpr std::size_t kLongestList = 100'000;

/// Whole numbers as users list them: `4`, `1,2,4`, `1..8` (each number), `4..128*2` (each the last one times 2), and any of
/// these joined by commas, in the order given.
/// Errors, which begin with `option`: an empty item, no whole number, a range that runs down, a factor below 2, a list
/// longer than `kLongestList`.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_number_list(std::string_view option, std::string_view text);

/// Sizes: bytes or with a unit (`1MiB`); a range doubles (`1KiB..1GiB`) unless it says otherwise (`1KiB..1GiB*4`).
[[nodiscard]] Result<std::vector<Bytes>> parse_size_list(std::string_view option, std::string_view text);

/// Words between commas. Errors: an empty one.
[[nodiscard]] Result<std::vector<std::string>> parse_word_list(std::string_view option, std::string_view text);

}  // namespace tbdsim
