#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/configuration/predict_options.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What the options of a row say: of a job, or of a collective alone.
struct RowSettings {
  PredictOptions options;
  std::string collective;    ///< `--collective`, with `--bytes`
  std::string nccl, launch;  ///< and, if known, `--nccl`, `--launch`
  std::optional<Bytes> message;
};

/// Applies the `options` column of a measured run: command-line options separated by blanks, `--name value` or
/// `--name=value`, values with blanks in double or single quotes.
///
/// `given` holds the options that columns already set (`--gpus`) and gains those read here; only `--set` may recur.
/// Returns every problem: unknown option (with a suggestion), missing or malformed value, option given twice.
[[nodiscard]] std::vector<std::string> apply_row_options(std::string_view text, RowSettings& row, std::set<std::string>& given);

/// Those of the options given that say nothing about a row of the kind: about the step of a job, or about a collective, which
/// trains nothing.
[[nodiscard]] std::vector<std::string> options_without_meaning(const std::set<std::string>& given, bool collective);

/// Every option that a row may hold, sorted.
[[nodiscard]] std::vector<std::string> row_option_names();

/// Whole number of at least `low`, all of `text`; nullopt otherwise.
[[nodiscard]] std::optional<int> whole_number(std::string_view text, int low);

}  // namespace tbdsim
