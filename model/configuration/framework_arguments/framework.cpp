#include "model/configuration/framework_arguments/framework.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/configuration/option_table.hpp"
#include "model/hardware/lookup.hpp"
#include "model/input/known_word.hpp"
#include "model/input/toml_reader.hpp"
#include "model/support/edit_distance.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kSchema = 1;
const std::string kFolder = "frameworks";
constexpr std::array<std::string_view, 4> kForms{"arguments", "toml", "json", "overrides"};
constexpr std::array<std::string_view, 9> kRules{"value",  "factor",          "sharded-copies", "replicas",   "keeps-gathered",
                                                 "layers", "layers-per-part", "first-counts",   "last-counts"};

/// "theirs=ours".
std::pair<std::string, std::string> read_pair(TomlTable& table, std::string_view key, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    table.problem(key, fmt::format("expected two words such as \"full=layer\", got \"{}\"", text));
  return {text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
}

SettingValues read_pairs(TomlTable& table, std::string_view key) {
  SettingValues pairs;
  for (const std::string& text : table.texts_or_empty(key)) pairs.push_back(read_pair(table, key, text));
  return pairs;
}

SettingRow read_setting(TomlTable table) {
  SettingRow row;
  row.key = table.text("key");
  row.also = table.texts_or_empty("also");
  row.option = table.text_or("option", "");
  row.parallel = table.text_or("parallel", "");
  if (table.has("rule")) row.rule = read_word<SettingRule>(table, "rule", kRules, "rule of a setting").value_or(SettingRule{});
  row.flag = table.boolean_or("flag", false);
  row.values = read_pairs(table, "values");
  row.each = table.quantity_if<Bytes>("each").value_or(Bytes(0.0)).base();
  if (table.has("absent")) row.absent = table.text("absent");
  if (table.has("when")) row.when = read_pair(table, "when", table.text("when"));
  if (table.has("against")) row.against = read_pair(table, "against", table.text("against"));
  row.beside = read_pairs(table, "beside");
  row.written = table.boolean_or("written", true);
  row.unmodelled = table.text_or("unmodelled", "");
  row.harmless = table.texts_or_empty("harmless");
  constexpr std::array kTold{SettingRule::layers,         SettingRule::sharded_copies, SettingRule::replicas,
                             SettingRule::keeps_gathered, SettingRule::first_counts,   SettingRule::last_counts};
  const bool told = std::find(kTold.begin(), kTold.end(), row.rule) != kTold.end();
  if (!told && (!row.option.empty()) + (!row.parallel.empty()) + (!row.unmodelled.empty()) != 1)
    table.problem("", "expected one of `option`, `parallel` and `unmodelled`");
  if (!row.option.empty() && find_option(row.option, kInRow) == nullptr)
    table.problem("option", fmt::format("no option of a job: \"{}\"", row.option));
  return row;
}

Result<TrainingFramework> read_framework(const std::string& path) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  TomlTable root = file->root();
  (void)root.integer("schema", kSchema, kSchema);
  TrainingFramework framework;
  framework.name = root.text("name");
  framework.title = root.text("title");
  framework.stack = root.text("stack");
  framework.form = read_word<SettingsForm>(root, "form", kForms, "form of settings").value_or(SettingsForm{});
  framework.network = root.texts_or_empty("network");
  framework.no_cost = root.texts_or_empty("no_cost");
  framework.divides_layers = root.boolean_or("divides_layers", false);
  framework.unsaid = read_pairs(root, "unsaid");
  framework.source = root.text("source");
  for (const TomlTable& table : root.tables_or_empty("setting")) framework.rows.push_back(read_setting(table));
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return framework;
}

}  // namespace

std::string folded_key(std::string_view key) {
  while (!key.empty() && (key.front() == '+' || key.front() == '-' || key.front() == '~')) key.remove_prefix(1);
  constexpr std::string_view kLauncher = "training.model.", kTrainer = "training.trainer.";
  for (const std::string_view prefix : {kLauncher, kTrainer})
    if (key.starts_with(prefix)) key.remove_prefix(std::string_view("training.").size());
  std::string folded(key);
  std::transform(folded.begin(), folded.end(), folded.begin(), [](char c) {
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return folded;
}

bool lists_key(const std::vector<std::string>& list, std::string_view folded) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& entry) {
    const std::string key = folded_key(entry);
    return key.ends_with('*') ? folded.starts_with(std::string_view(key).substr(0, key.size() - 1)) : folded == key;
  });
}

Result<TrainingFramework> load_framework(const std::string& root, const std::string& name) {
  const std::vector<std::string> known = catalogue_ids({root}, kFolder);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const auto near = nearest(name, known);
    return fail(
        fmt::format("unknown framework \"{}\"{}", name,
                    near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; there are {}", fmt::join(known, ", "))));
  }
  return read_framework(catalogue_path({root}, kFolder, name));
}

Result<std::vector<TrainingFramework>> load_frameworks(const std::string& root) {
  std::vector<TrainingFramework> frameworks;
  Errors errors;
  for (const std::string& id : catalogue_ids({root}, kFolder)) {
    auto read = read_framework(catalogue_path({root}, kFolder, id));
    if (read)
      frameworks.push_back(std::move(*read));
    else
      errors.insert(errors.end(), read.error().begin(), read.error().end());
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return frameworks;
}

}  // namespace tbdsim
