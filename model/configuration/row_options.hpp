#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/configuration/option_table.hpp"

namespace tbdsim {

/// Applies the `options` column of a measured run: command-line options separated by blanks, `--name value` or
/// `--name=value`, values with blanks in double or single quotes.
///
/// `given` holds the options that columns already set (`--gpus`) and gains those read here; only `--set` may recur.
/// Returns every problem: unknown option (with a suggestion), missing or malformed value, option given twice.
[[nodiscard]] std::vector<std::string> apply_row_options(std::string_view text, RowSettings& row, std::set<std::string>& given);

/// Those of the options given that say nothing about a row of the kind: about the step of a job, or about a collective, which
/// trains nothing.
[[nodiscard]] std::vector<std::string> options_without_meaning(const std::set<std::string>& given, bool collective);

}  // namespace tbdsim
