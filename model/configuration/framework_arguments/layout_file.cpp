#include "model/configuration/framework_arguments/layout_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "model/configuration/read_option.hpp"
#include "model/input/digest.hpp"
#include "model/input/file_text.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

std::string folded_value(std::string_view value) {
  const std::string folded = folded_key(value);
  return folded == "on" || folded == "yes" ? "true" : folded == "off" || folded == "no" ? "false" : folded;
}

/// A number as programs write it: 8, 1e9, 200_000.
std::optional<double> number_of(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  double number = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

/// Values compare as words, or as numbers where both are.
bool same_value(const std::string& a, const std::string& b) {
  const auto x = number_of(a), y = number_of(b);
  return x && y ? *x == *y : folded_value(a) == folded_value(b);
}

/// Truth as files and scripts write it.
std::optional<bool> truth_of(std::string_view value) {
  const std::string folded = folded_value(value);
  if (folded == "true" || folded == "1") return true;
  if (folded == "false" || folded == "0") return false;
  return std::nullopt;
}

/// Of a flag, which stands without a value: a word after it is another one's, such as a script's variable or file.
std::string flag_value(std::string_view value) { return truth_of(value).value_or(true) ? "true" : "false"; }

/// Whether a word is a value and neither a file nor a script's.
bool is_plain_word(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

/// Another framework's word for "the caller decides".
constexpr std::string_view kAuto = "auto";

class Translator {
 public:
  Translator(const TrainingFramework& framework, const std::vector<Setting>& settings) : framework_(framework) {
    for (const Setting& setting : settings) {
      const std::string key = folded_key(setting.key);
      if (const auto before = stated_.find(key); before != stated_.end() && before->second->value != setting.value)
        layout_.notices.push_back(fmt::format("{}: {} at line {} and {} at line {}; the last one holds", setting.key,
                                              before->second->value, before->second->where.line, setting.value,
                                              setting.where.line));
      stated_[key] = &setting;
      order_.push_back(key);
    }
  }

  Result<LayoutFile> translate(const std::string& file) {
    layout_.file = file;
    layout_.framework = framework_.name;
    layout_.title = framework_.title;
    layout_.stack = framework_.stack;
    for (const SettingRow& row : framework_.rows) read(row);
    for (const auto& [key, taken] : wanted_)
      if (matched_.count(key) == 0) refuse(*stated_.at(key), fmt::format("expected {}", expected(taken)));
    copies();
    tell_rest();
    if (!errors_.empty()) {
      std::stable_sort(errors_.begin(), errors_.end(),
                       [](const Error& a, const Error& b) { return a.where.line < b.where.line; });
      return tl::make_unexpected(std::move(errors_));
    }
    return std::move(layout_);
  }

 private:
  const TrainingFramework& framework_;
  std::map<std::string, const Setting*> stated_;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<std::string>> wanted_;  ///< values that rows take, of keys that are stated
  std::set<std::string> matched_, open_;                    ///< keys whose value a row takes; options that the caller decides
  double gpus_ = 1.0;                                       ///< product of the factors
  int factors_ = 0;
  std::optional<int> sharded_, replicas_;
  const Setting* sharded_at_ = nullptr;
  bool keeps_gathered_ = false;
  LayoutFile layout_;
  Errors errors_;

  void refuse(const Setting& setting, const std::string& expected) {
    errors_.push_back({fmt::format("{}: {}, got {}", setting.key, expected, quoted(setting.value)), setting.where});
  }

  [[nodiscard]] static std::string expected(const std::vector<std::string>& taken) {
    return taken.size() == 1 ? fmt::format("\"{}\"", taken.front()) : fmt::format("one of {}", fmt::join(taken, ", "));
  }

  /// The setting of a row, by any of its names.
  [[nodiscard]] std::pair<std::string, const Setting*> find(const SettingRow& row) const {
    std::vector<std::string> keys{row.key};
    keys.insert(keys.end(), row.also.begin(), row.also.end());
    for (const std::string& key : keys)
      if (const auto found = stated_.find(folded_key(key)); found != stated_.end()) return *found;
    return {"", nullptr};
  }

  [[nodiscard]] bool holds(const SettingRow& row) const {
    if (row.when.first.empty()) return true;
    const auto found = stated_.find(folded_key(row.when.first));
    return found != stated_.end() && same_value(found->second->value, row.when.second);
  }

  /// What the framework's value is here; nothing where the row takes no such value. Of flags, that they stand there.
  [[nodiscard]] static std::optional<std::string> ours(const SettingRow& row, std::string value) {
    if (row.flag) value = flag_value(value);
    if (row.values.empty()) return value;
    for (const auto& [theirs, meaning] : row.values)
      if (theirs == "*" || same_value(theirs, value)) return meaning == "*" ? value : meaning;
    return std::nullopt;
  }

  void read(const SettingRow& row) {
    auto [key, setting] = find(row);
    if (setting != nullptr && !holds(row)) {
      matched_.insert(key);  // it has no meaning beside the others
      return;
    }
    if (setting != nullptr && row.flag && is_plain_word(setting->value) && !truth_of(setting->value) && row.unmodelled.empty())
      return refuse(*setting, "expected no value, true or false");
    if (setting != nullptr && folded_value(setting->value) == kAuto && !row.unmodelled.empty()) return;
    if (setting != nullptr && folded_value(setting->value) == kAuto && ours(row, setting->value) == std::string(kAuto)) {
      matched_.insert(key);
      open_.insert(row.option);
      layout_.notices.push_back(fmt::format("{}: \"auto\" is the caller's to say{}", setting->key,
                                            row.option.empty() ? "" : fmt::format(": --{}", row.option)));
      return;
    }
    if (setting == nullptr && (!row.absent || !row.when.first.empty())) return;
    const std::string value = setting != nullptr ? setting->value : *row.absent;
    if (!row.unmodelled.empty()) return unmodelled(row, key, setting, value);
    const auto meaning = ours(row, value);
    if (setting != nullptr) {
      auto& wanted = wanted_[key];
      for (const auto& [theirs, any] : row.values)
        if (std::find(wanted.begin(), wanted.end(), theirs) == wanted.end()) wanted.push_back(theirs);
      if (meaning) matched_.insert(key);
      if (meaning && !meaning->empty()) contradicted(row, *setting);
    }
    if (meaning && !meaning->empty()) apply(row, setting, *meaning);
  }

  /// What the framework refuses to start with.
  void contradicted(const SettingRow& row, const Setting& setting) {
    const auto other = stated_.find(folded_key(row.against.first));
    if (row.against.first.empty() || other == stated_.end()) return;
    const Setting& against = *other->second;
    if (!same_value(flag_value(against.value), row.against.second)) return;
    errors_.push_back(
        {fmt::format("{}: contradicts {} at line {}; give one of them", setting.key, against.key, against.where.line),
         setting.where});
  }

  void unmodelled(const SettingRow& row, const std::string& key, const Setting* setting, const std::string& value) {
    if (setting == nullptr || (!row.values.empty() && !ours(row, value))) return;
    matched_.insert(key);
    const std::string given = row.flag ? flag_value(value) : value;
    const bool harmless =
        std::any_of(row.harmless.begin(), row.harmless.end(), [&](const std::string& word) { return same_value(word, given); });
    if (harmless) return;
    const std::string hint = row.harmless.empty() ? "" : fmt::format(" (modelled: {})", fmt::join(row.harmless, ", "));
    layout_.unmodelled.push_back(
        {fmt::format("{}{}: {} is not modelled{}", setting->key, row.flag ? "" : fmt::format(" {}", value), row.unmodelled, hint),
         setting->where});
  }

  /// A whole number that a setting states.
  std::optional<int> whole(const Setting* setting, const std::string& value, int least) {
    const auto number = number_of(value);
    if (number && *number == std::floor(*number) && *number >= least && *number <= 1e9) return static_cast<int>(*number);
    if (setting != nullptr) refuse(*setting, fmt::format("expected a whole number of at least {}", least));
    return std::nullopt;
  }

  void apply(const SettingRow& row, const Setting* setting, const std::string& value) {
    switch (row.rule) {
      case SettingRule::factor:
        if (const auto factor = whole(setting, value, 1)) {
          gpus_ *= *factor;
          ++factors_;
        }
        return;
      case SettingRule::sharded_copies:
        sharded_ = whole(setting, value, -1);
        sharded_at_ = setting;
        return;
      case SettingRule::replicas:
        replicas_ = whole(setting, value, 1);
        return;
      case SettingRule::keeps_gathered:
        keeps_gathered_ = value == "true";
        return;
      case SettingRule::layers:
        layout_.layers = whole(setting, value, 1);
        return;
      case SettingRule::layers_per_part:
        layout_.layers_per_part = whole(setting, value, 1);
        return;
      case SettingRule::first_counts:
        layout_.first_counts = value == "true";
        return;
      case SettingRule::last_counts:
        layout_.last_counts = value == "true";
        return;
      case SettingRule::value:
        break;
    }
    if (!row.parallel.empty()) return apply_parallel(row, setting, value);
    apply_option(row, setting, value);
  }

  void apply_parallel(const SettingRow& row, const Setting* setting, std::string value) {
    if (row.each > 0.0) {
      const auto number = number_of(value);
      if (!number || *number <= 0.0) {
        if (setting != nullptr) refuse(*setting, "expected a number above 0");
        return;
      }
      value = fmt::format("{} B", *number * row.each);
    }
    const std::string key = fmt::format("stack.parallel.{}=", row.parallel);
    const bool before = std::any_of(layout_.parallel.begin(), layout_.parallel.end(),
                                    [&](const StatedSetting& other) { return other.assignment.starts_with(key); });
    if (!before) layout_.parallel.push_back({key + value, setting != nullptr ? setting->key : row.key, setting == nullptr});
  }

  void apply_option(const SettingRow& row, const Setting* setting, std::string value) {
    const OptionRow* const option = find_option(row.option, kInRow);
    if (setting == nullptr && open_.count(row.option) > 0) return;
    if (std::holds_alternative<std::optional<int> PredictOptions::*>(option->landing))
      if (const auto number = number_of(value); number && *number == std::floor(*number)) value = fmt::format("{:.0f}", *number);
    PredictOptions scratch;
    const std::string expected = read_option(*option, value, scratch, Range::checked);
    if (!expected.empty()) {
      const bool variable = value.find('$') != std::string::npos;
      if (setting != nullptr) refuse(*setting, "expected " + expected + (variable ? ", which the file does not set" : ""));
      return;
    }
    const auto before = std::find_if(layout_.options.begin(), layout_.options.end(),
                                     [&](const StatedOption& stated) { return stated.option == option; });
    StatedOption stated{option, std::move(value), setting != nullptr ? setting->key : row.key,
                        setting != nullptr ? setting->where : SourceRef{}, setting == nullptr};
    if (before == layout_.options.end())
      layout_.options.push_back(std::move(stated));
    else if (before->implied && !stated.implied)
      *before = std::move(stated);
  }

  /// Copies of the network, of which some share their states.
  void copies() {
    // A number of GPUs takes both that of nodes and that of each.
    if (factors_ > 1 && gpus_ <= 1e6) layout_.gpus = static_cast<int>(gpus_);
    if (!sharded_) return;
    const int replicas = replicas_.value_or(1);
    const bool shards = *sharded_ != 1;
    const std::string kept = keeps_gathered_ ? "2" : "3", zero = shards ? kept : "0";
    const std::string key = sharded_at_ != nullptr ? sharded_at_->key : "data parallel";
    layout_.options.push_back({find_option("zero", kInRow), zero, key, sharded_at_ != nullptr ? sharded_at_->where : SourceRef{},
                               sharded_at_ == nullptr});
    if (*sharded_ > 0) layout_.copies = *sharded_ * replicas;
    if (replicas == 1 || !shards) return;
    if (*sharded_ > 1)
      layout_.parallel.push_back({fmt::format("stack.parallel.shard_ranks={}", *sharded_), key, false});
    else
      layout_.unmodelled.push_back(
          {fmt::format("{} -1 beside {} replicas: expected how many copies share their states", key, replicas),
           sharded_at_ != nullptr ? sharded_at_->where : SourceRef{layout_.file, 0, 0}});
  }

  [[nodiscard]] bool has_row(const std::string& key) const {
    return std::any_of(framework_.rows.begin(), framework_.rows.end(), [&](const SettingRow& row) {
      const auto is = [&](const std::string& name) { return folded_key(name) == key; };
      return is(row.key) || std::any_of(row.also.begin(), row.also.end(), is);
    });
  }

  /// Whether it is the network's number of layers, of which the network alone decides.
  [[nodiscard]] bool tells_layers(const std::string& key) const {
    return std::any_of(framework_.rows.begin(), framework_.rows.end(),
                       [&](const SettingRow& row) { return row.rule == SettingRule::layers && folded_key(row.key) == key; });
  }

  /// Settings of the table that stands in a framework's files under this key; empty: none does.
  [[nodiscard]] std::string members_of(const std::string& key) const {
    std::vector<std::string> members;
    for (const SettingRow& row : framework_.rows) {
      const std::string own = folded_key(row.key);
      if (!own.starts_with(key + ".")) continue;
      std::string member = row.key.substr(row.key.size() - (own.size() - key.size() - 1));
      if (std::find(members.begin(), members.end(), member) == members.end()) members.push_back(std::move(member));
    }
    return fmt::format("{}", fmt::join(members, ", "));
  }

  /// What the network's own settings are, and what no list knows.
  void tell_rest() {
    std::vector<std::string> network, unknown;
    std::set<std::string> told;
    for (const std::string& key : order_) {
      if (!told.insert(key).second) continue;
      const Setting& setting = *stated_.at(key);
      if (tells_layers(key)) network.push_back(setting.key);
      if (has_row(key) || lists_key(framework_.no_cost, key)) continue;
      if (const std::string members = members_of(key); !members.empty())
        refuse(setting, fmt::format("expected a table with {}", members));
      else if (lists_key(framework_.network, key))
        network.push_back(setting.key);
      else
        unknown.push_back(setting.where.line > 0 ? fmt::format("{} (line {})", setting.key, setting.where.line) : setting.key);
    }
    if (!network.empty())
      layout_.notices.push_back(
          fmt::format("{}: --model says what the network is; not compared with it: {}", layout_.file, fmt::join(network, ", ")));
    if (!unknown.empty())
      layout_.notices.push_back(
          fmt::format("{}: not known, and without effect here: {}", layout_.file, fmt::join(unknown, ", ")));
  }
};

/// Settings that a framework knows.
std::size_t known_settings(const TrainingFramework& framework, const std::vector<Setting>& settings) {
  const auto known = [&](const Setting& setting) {
    const std::string key = folded_key(setting.key);
    // A value that stands where the framework has a table is its, too.
    const auto is = [&](const std::string& name) { return folded_key(name) == key || folded_key(name).starts_with(key + "."); };
    return lists_key(framework.network, key) || lists_key(framework.no_cost, key) ||
           std::any_of(framework.rows.begin(), framework.rows.end(),
                       [&](const SettingRow& row) { return is(row.key) || std::any_of(row.also.begin(), row.also.end(), is); });
  };
  return static_cast<std::size_t>(std::count_if(settings.begin(), settings.end(), known));
}

}  // namespace

Result<LayoutFile> translate(const TrainingFramework& framework, const std::vector<Setting>& settings, const std::string& file) {
  return Translator(framework, settings).translate(file);
}

Result<LayoutFile> read_layout_file(const std::string& root, const std::string& path) {
  auto text = read_file(path, kLargestSettings);
  if (!text) return tl::make_unexpected(text.error());
  const std::string digest = sha256_hex(*text);
  const auto settings = read_settings(std::move(*text), path);
  if (!settings) return tl::make_unexpected(settings.error());
  const auto frameworks = load_frameworks(root);
  if (!frameworks) return tl::make_unexpected(frameworks.error());
  const TrainingFramework* best = nullptr;
  std::size_t most = 0;
  std::vector<std::string> titles;
  for (const TrainingFramework& framework : *frameworks) {
    titles.push_back(framework.title);
    const std::size_t known = known_settings(framework, *settings);
    if (known <= most) continue;
    most = known;
    best = &framework;
  }
  if (best == nullptr)
    return tl::make_unexpected(Errors{Error{fmt::format("--layout-from: none of its {} settings is known; expected those of {}",
                                                        settings->size(), fmt::join(titles, ", ")),
                                            SourceRef{path, 0, 0}}});
  return translate(*best, *settings, path).map([&](LayoutFile file) {
    file.sha256 = digest;
    return file;
  });
}

}  // namespace tbdsim
