#include "model/input/edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "model/input/toml_state.hpp"

namespace tbdsim {
namespace {

using Kind = TomlValue::Kind;

/// Lists every value below `value`, and every table.
class Recorder {
 public:
  Recorder(const TomlFile::Impl& file, DocumentRecord& record) : file_(file), record_(record) {}

  void table(const TomlValue& value, const std::string& path, const std::string& alias) {
    record_.tables.push_back(path);
    for (const TomlMember& member : value.members)
      visit(member.value, joined_key(path, member.key), joined_key(alias, member.key));
  }

 private:
  const TomlFile::Impl& file_;
  DocumentRecord& record_;

  void visit(const TomlValue& value, const std::string& path, const std::string& alias) {
    if (value.kind == Kind::table) return table(value, path, alias);
    const bool of_tables = value.kind == Kind::array && !value.elements.empty() && value.elements.front().kind == Kind::table;
    if (!of_tables) {
      const bool text = value.kind == Kind::string;
      record_.leaves.push_back({path, alias == path ? "" : alias, text ? value.text : file_.as_written(value), text});
      return;
    }
    for (std::size_t i = 0; i < value.elements.size(); ++i) {
      const TomlMember* name = value.elements[i].find("name");
      const std::string index = fmt::format("{}[{}]", path, i);
      const bool named = name != nullptr && name->value.kind == Kind::string;
      if (value.elements[i].kind == Kind::table)
        table(value.elements[i], index, named ? fmt::format("{}{}{}", alias, alias.empty() ? "" : ".", name->value.text) : index);
    }
  }
};

/// The value that `path` names, made where only its last key is missing; null where the way does not exist here.
TomlValue* target(TomlValue& value, std::string_view path, const TextPlace& key_place) {
  if (path.empty()) return &value;
  if (path.front() == '.') return target(value, path.substr(1), key_place);
  if (path.front() == '[') {
    const std::size_t close = std::min(path.find(']'), path.size() - 1);
    std::size_t index = 0;
    const auto [end, status] = std::from_chars(path.data() + 1, path.data() + close, index);
    const bool whole = status == std::errc{} && end == path.data() + close;
    if (!whole || value.kind != Kind::array || index >= value.elements.size()) return nullptr;
    return target(value.elements[index], path.substr(close + 1), key_place);
  }
  if (value.kind != Kind::table) return nullptr;
  for (TomlMember& member : value.members) {
    const std::string shown = joined_key("", member.key);
    if (path.substr(0, shown.size()) != shown) continue;
    const std::string_view rest = path.substr(shown.size());
    if (rest.empty() || rest.front() == '[' || rest.front() == '.') return target(member.value, rest, key_place);
  }
  if (path.find_first_of(".[") != std::string_view::npos) return nullptr;
  value.members.push_back({std::string(path), key_place, {}});
  value.index();
  return &value.members.back().value;
}

void place_all(TomlValue& value, const TextPlace& place) {
  value.place = place;
  for (TomlValue& element : value.elements) place_all(element, place);
  for (TomlMember& member : value.members) {
    member.key_place = place;
    place_all(member.value, place);
  }
}

}  // namespace

std::optional<TomlValue> toml_literal(std::string_view literal) {
  if (literal.find('\n') != std::string_view::npos) return std::nullopt;
  auto parsed = parse_toml(fmt::format("v = {}", literal), "");
  if (!parsed || parsed->members.size() != 1) return std::nullopt;
  return std::move(parsed->members.front().value);
}

void TomlFile::edit(const Edits& edits, const std::string& role) {
  if (edits.records) {
    DocumentRecord record{role, impl_->name, {}, {}};
    Recorder(*impl_, record).table(impl_->root, "", "");
    edits.records->push_back(std::move(record));
  }
  int last = 0;
  for (const Edit& edit : edits.changes) last = std::max(last, edit.line);
  if (last == 0) return;
  // The assignments follow the file's own lines, so that messages can show them.
  std::vector<std::string_view> assignments(static_cast<std::size_t>(last));
  for (const Edit& edit : edits.changes) assignments[static_cast<std::size_t>(edit.line - 1)] = edit.text;
  impl_->own_lines = static_cast<int>(split_lines(impl_->text).size());
  impl_->whole = fmt::format("{}{}{}\n", impl_->text, impl_->text.back() == '\n' ? "" : "\n", fmt::join(assignments, "\n"));
  impl_->lines = split_lines(impl_->whole);
  for (const Edit& edit : edits.changes) {
    if (edit.key.compare(0, role.size(), role) != 0 || edit.key.size() <= role.size() || edit.key[role.size()] != '.') continue;
    const int line = impl_->own_lines + edit.line;
    TomlValue* value = target(impl_->root, std::string_view(edit.key).substr(role.size() + 1), {line, 1, 0});
    if (value == nullptr) continue;
    auto literal = toml_literal(edit.literal);
    if (!literal) continue;
    const int width = static_cast<int>(edit.text.size()) - edit.column + 1;
    const TextPlace place{line, edit.column, std::max(width, 1)};
    *value = std::move(*literal);
    place_all(*value, place);
  }
}

}  // namespace tbdsim
