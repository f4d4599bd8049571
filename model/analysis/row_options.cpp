#include "model/analysis/row_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "model/analysis/anchor_file.hpp"
#include "model/analysis/what_if.hpp"
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

bool set_calibration(std::vector<std::string>& assignments, std::string_view file) {
  const auto changes = anchor_assignments(std::string(file));
  if (changes) assignments.insert(assignments.end(), changes->begin(), changes->end());
  return changes.has_value();
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
  bool (*apply)(MeasuredRun&, std::string_view value);
  About about = About::step;
  bool repeatable = false;
};

const std::vector<RowOption>& row_options() {
  static const std::vector<RowOption> kOptions = {
      {"--accumulate", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.accumulate, v); }},
      {"--batch", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.batch, v); }},
      {"--buckets", "", [](MeasuredRun& run, std::string_view) { return run.options.buckets = true; }},
      {"--bytes", "a size such as \"1 MiB\"", [](MeasuredRun& run, std::string_view v) { return set_message(run.message, v); },
       About::collective},
      {"--calibration", "a file that calibrate anchor wrote",
       [](MeasuredRun& run, std::string_view v) { return set_calibration(run.options.set, v); }, About::any},
      {"--collective", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.collective, v); },
       About::collective},
      {"--devices", "different device numbers such as 0,3",
       [](MeasuredRun& run, std::string_view v) { return set_devices(run.options.devices, v); }, About::any},
      {"--exchange", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.options.exchange, v); }},
      {"--gpus", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.gpus, v); }, About::any},
      {"--image", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.image, v); }},
      {"--input", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.options.input, v); }},
      {"--input-hosts", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.input_hosts, v); }},
      {"--launch", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.launch, v); }, About::collective},
      {"--mock-loader", "", [](MeasuredRun& run, std::string_view) { return run.options.mock_loader = true; }},
      {"--mock-trainer", "", [](MeasuredRun& run, std::string_view) { return run.options.mock_trainer = true; }},
      {"--nccl", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.nccl, v); }, About::collective},
      {"--network", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.options.network, v); }, About::any},
      {"--nodes", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.nodes, v); }, About::any},
      {"--optimizer", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.options.optimizer, v); }},
      {"--pipeline", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.pipeline, v); }},
      {"--precision", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.options.precision, v); }, About::any},
      {"--recompute", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.options.recompute, v); }},
      {"--seq-len", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.seq_len, v); }},
      {"--set", "KEY=VALUE", [](MeasuredRun& run, std::string_view v) { return set_assignment(run.options.set, v); }, About::any,
       true},
      {"--stack", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.options.stack, v); }, About::any},
      {"--storage", kName, [](MeasuredRun& run, std::string_view v) { return set_name(run.options.storage, v); }},
      {"--tensor-parallel", kCount,
       [](MeasuredRun& run, std::string_view v) { return set_count(run.options.tensor_parallel, v); }},
      {"--workers", kCount, [](MeasuredRun& run, std::string_view v) { return set_count(run.options.workers, v); }},
      {"--zero", "a ZeRO stage",
       [](MeasuredRun& run, std::string_view v) { return (run.options.zero = whole_number(v, 0)).has_value(); }},
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

std::vector<std::string> apply_row_options(std::string_view text, MeasuredRun& run, std::set<std::string>& given) {
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
    } else if (const std::string found = option->repeatable ? contradiction(run.options.set, value) : ""; !found.empty()) {
      problems.push_back(fmt::format("{}: {}", name, found));
    } else if (!option->apply(run, value)) {
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
