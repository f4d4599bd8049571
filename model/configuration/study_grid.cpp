#include "model/configuration/study_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "model/configuration/row_options.hpp"
#include "model/input/value_list.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 6> kNumbers{"gpus", "nodes", "batch", "accumulate", "image", "seq-len"};

}  // namespace

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
  if (option == "devices") return GridAxis{option, {text}};  // the commas are its own
  const std::string name = "--" + option;
  if (std::find(kNumbers.begin(), kNumbers.end(), option) == kNumbers.end())
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
    if (option == "hw") {
      row.options.hardware = value;
    } else if (option == "model") {
      row.options.model = value;
    } else {
      const char quote = value.find('\'') == std::string::npos ? '\'' : '"';
      for (std::string& message : apply_row_options(fmt::format("--{}={}{}{}", option, quote, value, quote), row, given))
        errors.push_back(Error{std::move(message)});
    }
  }
  for (const std::string& option : options_without_meaning(given, false))
    errors.push_back(Error{fmt::format("{}: no option of a job", option)});
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  row.options.set.insert(row.options.set.end(), set.begin(), set.end());
  return std::move(row.options);
}

}  // namespace tbdsim
