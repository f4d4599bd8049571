#include "model/configuration/row_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "model/configuration/what_if.hpp"
#include "model/input/value_list.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::string_view kCount = "a whole number of at least 1";
constexpr std::string_view kName = "a name";

bool set_count(std::optional<int>& target, std::string_view value) { return (target = whole_number(value, 1)).has_value(); }

bool set_name(std::string& target, std::string_view value) {
  target = value;
  return !value.empty();
}

bool set_devices(std::vector<int>& devices, std::string_view value) {
  for (std::size_t start = 0; start <= value.size();) {
    const std::size_t comma = std::min(value.find(',', start), value.size());
    const auto index = whole_number(value.substr(start, comma - start), 0);
    if (!index || std::find(devices.begin(), devices.end(), *index) != devices.end()) return false;
    devices.push_back(*index);
    start = comma + 1;
  }
  return true;
}

bool set_assignment(std::vector<std::string>& assignments, std::string_view value) {
  const std::size_t equals = value.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == value.size()) return false;
  assignments.emplace_back(value);
  return true;
}

bool set_message(std::optional<Bytes>& target, std::string_view value) {
  const auto sizes = parse_size_list("--bytes", value);
  if (sizes && sizes->size() == 1 && sizes->front() > Bytes(0.0)) target = sizes->front();
  return target.has_value();
}

/// What an option of a row says something about.
enum class About { any, step, collective };

/// One option a row may hold. `expected` is empty for a flag, which takes no value.
struct RowOption {
  std::string_view name, expected;
  bool (*apply)(RowSettings&, std::string_view value);
  About about = About::step;
  bool repeatable = false;
};

const std::vector<RowOption>& row_options() {
  static const std::vector<RowOption> kOptions = {
      {"--accumulate", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.accumulate, v); }},
      {"--batch", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.batch, v); }},
      {"--buckets", "", [](RowSettings& row, std::string_view) { return row.options.buckets = true; }},
      {"--bytes", "a size such as \"1 MiB\"", [](RowSettings& row, std::string_view v) { return set_message(row.message, v); },
       About::collective},
      {"--collective", kName, [](RowSettings& row, std::string_view v) { return set_name(row.collective, v); },
       About::collective},
      {"--devices", "different device numbers such as 0,3",
       [](RowSettings& row, std::string_view v) { return set_devices(row.options.devices, v); }, About::any},
      {"--exchange", kName, [](RowSettings& row, std::string_view v) { return set_name(row.options.exchange, v); }},
      {"--gpus", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.gpus, v); }, About::any},
      {"--image", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.image, v); }},
      {"--input", kName, [](RowSettings& row, std::string_view v) { return set_name(row.options.input, v); }},
      {"--input-hosts", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.input_hosts, v); }},
      {"--launch", kName, [](RowSettings& row, std::string_view v) { return set_name(row.launch, v); }, About::collective},
      {"--mock-loader", "", [](RowSettings& row, std::string_view) { return row.options.mock_loader = true; }},
      {"--mock-trainer", "", [](RowSettings& row, std::string_view) { return row.options.mock_trainer = true; }},
      {"--nccl", kName, [](RowSettings& row, std::string_view v) { return set_name(row.nccl, v); }, About::collective},
      {"--network", kName, [](RowSettings& row, std::string_view v) { return set_name(row.options.network, v); }, About::any},
      {"--nodes", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.nodes, v); }, About::any},
      {"--optimizer", kName, [](RowSettings& row, std::string_view v) { return set_name(row.options.optimizer, v); }},
      {"--pipeline", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.pipeline, v); }},
      {"--precision", kName, [](RowSettings& row, std::string_view v) { return set_name(row.options.precision, v); }, About::any},
      {"--recompute", kName, [](RowSettings& row, std::string_view v) { return set_name(row.options.recompute, v); }},
      {"--seq-len", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.seq_len, v); }},
      {"--set", "KEY=VALUE", [](RowSettings& row, std::string_view v) { return set_assignment(row.options.set, v); }, About::any,
       true},
      {"--stack", kName, [](RowSettings& row, std::string_view v) { return set_name(row.options.stack, v); }, About::any},
      {"--storage", kName, [](RowSettings& row, std::string_view v) { return set_name(row.options.storage, v); }},
      {"--tensor-parallel", kCount,
       [](RowSettings& row, std::string_view v) { return set_count(row.options.tensor_parallel, v); }},
      {"--workers", kCount, [](RowSettings& row, std::string_view v) { return set_count(row.options.workers, v); }},
      {"--zero", "a ZeRO stage",
       [](RowSettings& row, std::string_view v) { return (row.options.zero = whole_number(v, 0)).has_value(); }},
  };
  return kOptions;
}

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
  for (const RowOption& option : row_options()) names.emplace_back(option.name);
  const auto near = nearest(name, names);
  return fmt::format("unknown option {}{}", quoted(name), near ? fmt::format(", did you mean \"{}\"?", *near) : "");
}

}  // namespace

std::optional<int> whole_number(std::string_view text, int low) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stopped != end || value < low) return std::nullopt;
  return value;
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
    const auto option =
        std::find_if(row_options().begin(), row_options().end(), [&](const RowOption& o) { return o.name == name; });
    const bool value_follows = equals == std::string::npos && i + 1 < words.size() && words[i + 1].compare(0, 2, "--") != 0;
    if (option == row_options().end()) {
      problems.push_back(unknown_option(name));
      i += value_follows ? 1 : 0;
      continue;
    }
    const bool flag = option->expected.empty();
    if (flag && equals != std::string::npos) {
      problems.push_back(fmt::format("{} takes no value, got {}", name, quoted(words[i].substr(equals + 1))));
      continue;
    }
    if (!flag && equals == std::string::npos && !value_follows) {
      problems.push_back(fmt::format("{}: expected {}, got nothing", name, option->expected));
      continue;
    }
    const std::string value = flag ? "" : equals != std::string::npos ? words[i].substr(equals + 1) : words[++i];
    if (!given.insert(name).second && !option->repeatable) {
      problems.push_back(fmt::format("{} is given twice", name));
    } else if (const std::string found = option->repeatable ? contradiction(row.options.set, value) : ""; !found.empty()) {
      problems.push_back(fmt::format("{}: {}", name, found));
    } else if (!option->apply(row, value)) {
      problems.push_back(fmt::format("{}: expected {}, got {}", name, option->expected, quoted(value)));
    }
  }
  return problems;
}

std::vector<std::string> options_without_meaning(const std::set<std::string>& given, bool collective) {
  std::vector<std::string> names;
  const About other = collective ? About::step : About::collective;
  for (const RowOption& option : row_options())
    if (option.about == other && given.count(std::string(option.name)) > 0) names.emplace_back(option.name);
  return names;
}

std::vector<std::string> row_option_names() {
  std::vector<std::string> names;
  for (const RowOption& option : row_options()) names.emplace_back(option.name);
  return names;
}

}  // namespace tbdsim
