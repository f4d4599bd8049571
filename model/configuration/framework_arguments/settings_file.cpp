#include "model/configuration/framework_arguments/settings_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "model/configuration/framework_arguments/shell_words.hpp"
#include "model/input/file_text.hpp"
#include "model/input/json_reader.hpp"
#include "model/input/note.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim {
namespace {

/// A word's place in a table: that of its key.
SourceRef place_in(TomlTable table, const std::string& path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos || !table.is_table(path.substr(0, dot))) return table.where(path);
  return place_in(table.table(path.substr(0, dot)), path.substr(dot + 1));
}

/// The first element of a list as TOML writes it, without quotes; else the text itself.
std::string first_of_list(std::string text) {
  if (text.size() < 2 || text.front() != '[') return text;
  const std::size_t begin = text.find_first_not_of("[ \"'"), end = text.find_first_of("\"',]", begin);
  return begin == std::string::npos || end == std::string::npos || text[begin] == ']' ? "" : text.substr(begin, end - begin);
}

Result<std::vector<Setting>> read_toml(std::string text, const std::string& name) {
  auto file = TomlFile::parse(std::move(text), name);
  if (!file) return tl::make_unexpected(file.error());
  const auto records = std::make_shared<std::vector<DocumentRecord>>();
  file->edit(Edits{{}, records}, "settings");
  std::vector<Setting> settings;
  for (const DocumentRecord& record : *records)
    for (const DocumentLeaf& leaf : record.leaves)
      settings.push_back({leaf.path, leaf.text ? leaf.literal : first_of_list(leaf.literal), place_in(file->root(), leaf.path)});
  return settings;
}

Result<std::vector<Setting>> read_json(const std::string& text, const std::string& name) {
  const auto file = JsonFile::parse(text, name);
  if (!file) return tl::make_unexpected(file.error());
  std::vector<Setting> settings;
  for (JsonScalar& leaf : file->leaves()) settings.push_back({std::move(leaf.path), std::move(leaf.text), std::move(leaf.where)});
  return settings;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A scalar of YAML without its comment and quotes.
std::string yaml_scalar(std::string_view text) {
  if (const std::size_t comment = text.find(" #"); comment != std::string_view::npos) text = text.substr(0, comment);
  text = trimmed(text);
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

/// Maps by their indentation; elements of lists are passed over.
std::vector<Setting> read_yaml(std::string_view text, const std::string& name) {
  std::vector<Setting> settings;
  std::vector<std::pair<std::size_t, std::string>> open;  // indentation, path
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos || line[indent] == '#' || line[indent] == '-') continue;
    const std::size_t colon = line.find(':', indent);
    if (colon == std::string_view::npos || (colon + 1 < line.size() && line[colon + 1] != ' ')) continue;
    while (!open.empty() && open.back().first >= indent) open.pop_back();
    const std::string key(trimmed(line.substr(indent, colon - indent)));
    const std::string path = open.empty() ? key : fmt::format("{}.{}", open.back().second, key);
    std::string value = yaml_scalar(line.substr(colon + 1));
    if (value.empty() || value.front() == '#')
      open.emplace_back(indent, path);
    else
      settings.push_back({path, std::move(value), {name, number, static_cast<int>(indent) + 1}});
  }
  return settings;
}

/// Whether every line holds one word, as files that a program reads its arguments from: then an option's value is on the next.
bool one_word_a_line(const std::vector<ShellWord>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (!words[i].ends && !words[i + 1].ends) return false;
  return true;
}

/// `--key value`, `--key=value`, `--key`, and `a.b=value` of overrides.
std::vector<Setting> read_words(std::string_view text, const std::string& name) {
  std::vector<Setting> settings;
  std::vector<ShellWord> words = shell_words(text);
  if (one_word_a_line(words))
    words.erase(std::remove_if(words.begin(), words.end(), [](const ShellWord& word) { return word.ends; }), words.end());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    const std::size_t equals = word.find('=');
    const bool flag = word.size() > 2 && word.starts_with("--") && std::isalpha(static_cast<unsigned char>(word[2])) != 0;
    if (!flag && (equals == std::string::npos || word.find('.') > equals)) continue;
    Setting setting{word.substr(flag ? 2 : 0), "true", {name, words[i].line, words[i].column}};
    if (equals != std::string::npos) {
      setting.value = word.substr(equals + 1);
      setting.key.resize(equals - (flag ? 2 : 0));
    } else if (i + 1 < words.size() && !words[i + 1].ends && !words[i + 1].text.starts_with("--")) {
      setting.value = words[i + 1].text;
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

bool says_nothing(const Setting& setting) {
  return setting.value.empty() || setting.value == "null" || setting.value == "~" || setting.value == "None";
}

}  // namespace

Result<std::vector<Setting>> read_settings(std::string text, const std::string& name) {
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  if (auto binary = binary_problem(text, name)) return tl::make_unexpected(Errors{std::move(*binary)});
  Result<std::vector<Setting>> settings = ends(".json")                   ? read_json(text, name)
                                          : ends(".toml")                 ? read_toml(std::move(text), name)
                                          : ends(".yaml") || ends(".yml") ? read_yaml(text, name)
                                                                          : read_words(text, name);
  if (!settings) return settings;
  settings->erase(std::remove_if(settings->begin(), settings->end(), says_nothing), settings->end());
  if (settings->empty())
    return tl::make_unexpected(
        Errors{Error{"no settings found; expected --key value, key=value, .toml, .json or .yaml", SourceRef{name, 0, 0}}});
  return settings;
}

}  // namespace tbdsim
