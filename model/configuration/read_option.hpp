#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/configuration/option_table.hpp"

namespace tbdsim {

/// Whether a number that an option does not take is refused as it is read, or where its meaning is known: an analysis tells all
/// problems of a job at once, each in its own words.
enum class Range { checked, left_to_analysis };

/// Reads a value into the place where the option lands; a flag becomes true. Numbers of GPUs take the place of earlier ones,
/// assignments are added to them. Returns what was expected instead, such as "a whole number of at least 1"; empty: it is fine.
/// Expects an option that lands in one of the two.
[[nodiscard]] std::string read_option(const OptionRow& row, std::string_view text, PredictOptions& into, Range range);
[[nodiscard]] std::string read_option(const OptionRow& row, std::string_view text, RowSettings& into);

/// Reads a whole number within the bounds of the row. Returns as above.
[[nodiscard]] std::string read_number(const OptionRow& row, std::string_view text, std::optional<int>& into, Range range);

/// What an option of a measured run takes, as above; empty: nothing, it is a flag.
[[nodiscard]] std::string expected_value(const OptionRow& row);

/// Whole number of at least `low`, all of `text`; nullopt otherwise.
[[nodiscard]] std::optional<int> whole_number(std::string_view text, int low);

}  // namespace tbdsim
