#include "model/configuration/study_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "model/configuration/row_options.hpp"
#include "model/input/value_list.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

/// The option of an axis of a study; nullptr: none of a job.
const OptionRow* axis_option(const std::string& name) {
  const OptionRow* const column = find_option(name, kInColumn);
  const OptionRow* const row = column != nullptr ? column : find_option(name, kInRow);
  return row == nullptr || row->about == About::collective ? nullptr : row;
}

/// Whether an axis takes numbers, and so ranges of them.
bool counts(const OptionRow& row) { return std::holds_alternative<std::optional<int> PredictOptions::*>(row.landing); }

/// Reads the value of one axis. Returns what is wrong with it; empty: nothing.
std::string read_axis(const std::string& option, const std::string& value, RowSettings& into) {
  const OptionRow* const row = axis_option(option);
  if (row == nullptr) return fmt::format("--{}: no option of a job", option);
  if (row->flag() && value == "false") return "";
  if (row->flag() && value != "true") return fmt::format("--{}: expected true or false, got {}", option, quoted(value));
  const std::string expected = read_row_option(*row, value, into);
  return expected.empty() ? "" : fmt::format("--{}: expected {}, got {}", option, expected, quoted(value));
}

}  // namespace

std::string axis_problem(const std::string& option) {
  if (axis_option(option) != nullptr) return "";
  std::vector<std::string> names;
  for (const OptionRow& row : option_table()) {
    if (axis_option(std::string(row.name)) != &row) continue;
    names.emplace_back(row.name);
    std::replace(names.back().begin(), names.back().end(), '-', '_');
  }
  return fmt::format("no option of a job; the grid of a sweep takes {}", fmt::join(names, ", "));
}

std::size_t StudyGrid::points() const {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  std::size_t count = 1;
  for (const GridAxis& axis : axes) {
    if (!axis.values.empty() && count > kMost / axis.values.size()) return kMost;
    count *= axis.values.size();
  }
  return count;
}

std::vector<std::pair<std::string, std::string>> StudyGrid::at(std::size_t point) const {
  std::vector<std::pair<std::string, std::string>> options(axes.size());
  for (std::size_t i = axes.size(); i-- > 0; point /= axes[i].values.size())
    options[i] = {axes[i].option, axes[i].values[point % axes[i].values.size()]};
  return options;
}

Result<GridAxis> parse_axis(const std::string& option, const std::string& text) {
  if (option == "devices" || option == "stage-layers") return GridAxis{option, {text}};  // the commas are its own
  const std::string name = "--" + option;
  if (const OptionRow* const row = axis_option(option); row == nullptr || !counts(*row))
    return parse_word_list(name, text).map([&](std::vector<std::string> words) { return GridAxis{option, std::move(words)}; });
  return parse_number_list(name, text).map([&](const std::vector<std::int64_t>& numbers) {
    GridAxis axis{option, {}};
    for (const std::int64_t number : numbers) axis.values.push_back(std::to_string(number));
    return axis;
  });
}

Result<PredictOptions> options_of(const std::vector<std::pair<std::string, std::string>>& point,
                                  const std::vector<std::string>& set) {
  RowSettings row;
  std::set<std::string> given;
  Errors errors;
  for (const auto& [option, value] : point) {
    std::string problem =
        given.insert(option).second ? read_axis(option, value, row) : fmt::format("--{} is given twice", option);
    if (!problem.empty()) errors.push_back(Error{std::move(problem)});
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  row.options.set.insert(row.options.set.end(), set.begin(), set.end());
  return std::move(row.options);
}

}  // namespace tbdsim
