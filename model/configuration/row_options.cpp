#include "model/configuration/row_options.hpp"

#include <fmt/format.h>

#include "model/configuration/anchor_file.hpp"
#include "model/configuration/read_option.hpp"
#include "model/configuration/what_if.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::string_view kSet = "set";  ///< the one option that may be repeated

/// Words separated by blanks; quotes keep blanks and are dropped. An unfinished quote ends with the text.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0' ? c == quote : c == '"' || c == '\'') {
      quote = quote == '\0' ? c : '\0';
    } else if (quote == '\0' && (c == ' ' || c == '\t')) {
      inside = false;
      continue;
    } else {
      if (!inside) words.emplace_back();
      words.back() += c;
      inside = true;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
  }
  return words;
}

std::string unknown_option(const std::string& name) {
  std::vector<std::string> names;
  for (const OptionRow& option : option_table())
    if (option.stands(kInRow)) names.push_back("--" + std::string(option.name));
  const auto near = nearest(name, names);
  return fmt::format("unknown option {}{}", quoted(name), near ? fmt::format(", did you mean \"{}\"?", *near) : "");
}

}  // namespace

std::string read_row_option(const OptionRow& row, std::string_view text, RowSettings& into) {
  if (row.name != "calibration") return read_option(row, text, into);
  const auto changes = anchor_assignments(std::string(text));
  if (!changes) return "a file that calibrate anchor wrote";
  into.options.set.insert(into.options.set.end(), changes->begin(), changes->end());
  return "";
}

std::vector<std::string> apply_row_options(std::string_view text, RowSettings& row, std::set<std::string>& given) {
  std::vector<std::string> problems;
  const std::vector<std::string> words = split_words(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].compare(0, 2, "--") != 0) {
      problems.push_back(fmt::format("expected an option such as --image 299, got {}", quoted(words[i])));
      continue;
    }
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const OptionRow* const option = find_option(std::string_view(name).substr(2), kInRow);
    const bool value_follows = equals == std::string::npos && i + 1 < words.size() && words[i + 1].compare(0, 2, "--") != 0;
    if (option == nullptr) {
      problems.push_back(unknown_option(name));
      i += value_follows ? 1 : 0;
      continue;
    }
    const bool flag = option->flag(), repeatable = option->name == kSet;
    if (flag && equals != std::string::npos) {
      problems.push_back(fmt::format("{} takes no value, got {}", name, quoted(words[i].substr(equals + 1))));
      continue;
    }
    if (!flag && equals == std::string::npos && !value_follows) {
      problems.push_back(fmt::format("{}: expected {}, got nothing", name, expected_value(*option)));
      continue;
    }
    const std::string value = flag ? "" : equals != std::string::npos ? words[i].substr(equals + 1) : words[++i];
    if (!given.insert(name).second && !repeatable) {
      problems.push_back(fmt::format("{} is given twice", name));
    } else if (const std::string found = repeatable ? contradiction(row.options.set, value) : ""; !found.empty()) {
      problems.push_back(fmt::format("{}: {}", name, found));
    } else if (const std::string expected = read_row_option(*option, value, row); !expected.empty()) {
      problems.push_back(fmt::format("{}: expected {}, got {}", name, expected, quoted(value)));
    }
  }
  return problems;
}

std::vector<std::string> options_without_meaning(const std::set<std::string>& given, bool collective) {
  std::vector<std::string> names;
  const About other = collective ? About::step : About::collective;
  for (const OptionRow& option : option_table()) {
    const std::string name = "--" + std::string(option.name);
    if (option.stands(kInRow) && option.about == other && given.count(name) > 0) names.push_back(name);
  }
  return names;
}

}  // namespace tbdsim
