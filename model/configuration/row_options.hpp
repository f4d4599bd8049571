#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/configuration/option_table.hpp"

namespace tbdsim {

/// Reads a value into the place where the option lands, as `read_option` does; of `calibration`, a file, come the values that its
/// multipliers set. Returns what was expected instead; empty: it is fine.
[[nodiscard]] std::string read_row_option(const OptionRow& row, std::string_view text, RowSettings& into);

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
