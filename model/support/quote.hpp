#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tbdsim {

/// Length in bytes (1 to 4) of the well-formed UTF-8 sequence at the start of `bytes`; 0 if there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view bytes);

/// `text` as messages may show it: control characters and malformed UTF-8 as \n, \t, \xNN; cut after `limit`
/// characters with "...". Adds no quotes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 60);

/// As `printable`, between double quotes; quotes and backslashes inside are escaped.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t limit = 60);

}  // namespace tbdsim
