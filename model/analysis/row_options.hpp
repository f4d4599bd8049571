#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/measured_table.hpp"

namespace tbdsim {

/// Applies the `options` column of a measured run: command-line options separated by blanks, `--name value` or
/// `--name=value`, values with blanks in double or single quotes. `--mock-loader` asks for an input that costs
/// nothing, which is `--input synthetic`.
///
/// `given` holds the options that columns already set (`--gpus`) and gains those read here; only `--set` may recur.
/// Returns every problem: unknown option (with a suggestion), missing or malformed value, option given twice.
[[nodiscard]] std::vector<std::string> apply_row_options(std::string_view text, MeasuredRun& run, std::set<std::string>& given);

/// Whole number of at least `low`, all of `text`; nullopt otherwise.
[[nodiscard]] std::optional<int> whole_number(std::string_view text, int low);

}  // namespace tbdsim
