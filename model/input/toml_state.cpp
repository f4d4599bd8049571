#include "model/input/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "model/input/file_kind.hpp"
#include "model/input/file_text.hpp"
#include "model/input/nesting_guard.hpp"
#include "model/input/plain_toml.hpp"
#include "model/input/toml_state.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

/// A longer list of known keys is noise in a message.
constexpr std::size_t kMostKeysListed = 12;

bool bare(std::string_view key) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !key.empty() && key.size() <= 60 && std::all_of(key.begin(), key.end(), allowed);
}

}  // namespace

std::string joined_key(const std::string& path, std::string_view key) {
  const std::string shown = bare(key) ? std::string(key) : quoted(key);
  return path.empty() ? shown : path + "." + shown;
}

std::shared_ptr<TomlTable::Node> TomlFile::Impl::node(const TomlValue* table, std::string path) {
  if (table == nullptr) {
    auto silent = std::make_shared<TomlTable::Node>();
    silent->file = this;
    silent->path = std::move(path);
    return silent;
  }
  std::shared_ptr<TomlTable::Node>& kept = nodes[table];
  if (!kept) {
    kept = std::make_shared<TomlTable::Node>();
    kept->file = this;
    kept->table = table;
    kept->path = std::move(path);
  }
  return kept;
}

/// The characters of a value that fits on one line.
std::string TomlFile::Impl::as_written(const TomlValue& value) const {
  const TextPlace& place = value.place;
  if (place.width == 0 || place.line < 1 || static_cast<std::size_t>(place.line) > lines.size()) return "";
  std::string_view rest = lines[static_cast<std::size_t>(place.line - 1)];
  for (int i = 1; i < place.column; ++i) rest.remove_prefix(std::min(std::max<std::size_t>(utf8_length(rest), 1), rest.size()));
  std::string_view tail = rest;
  for (int i = 0; i < place.width; ++i) tail.remove_prefix(std::min(std::max<std::size_t>(utf8_length(tail), 1), tail.size()));
  return std::string(rest.substr(0, rest.size() - tail.size()));
}

/// What was found, with its kind: `25 (a whole number)`, `"25 GB" (a size)`, `a table`.
std::string TomlFile::Impl::shown(const TomlValue& value) const {
  switch (value.kind) {
    case TomlValue::Kind::array:
    case TomlValue::Kind::table:
      return std::string(kind_words(value.kind));
    case TomlValue::Kind::string: {
      const auto measured = parse_measured(value.text);
      return fmt::format("{} ({})", quoted(value.text), measured ? words(measured->dimension).noun : kind_words(value.kind));
    }
    default:
      return fmt::format("{} ({})", printable(as_written(value)), kind_words(value.kind));
  }
}

void TomlFile::Impl::note(const std::string& subject, const TomlValue& value, std::string_view message) {
  TextPlace place = value.place;
  if (place.width == 0 && &value != &root) place.width = 1;
  notes.push_back({subject.empty() ? std::string(message) : fmt::format("{}: {}", subject, message), place});
}

void TomlFile::Impl::finish(const TomlValue& value) {
  for (const TomlValue& element : value.elements) finish(element);
  if (value.kind != TomlValue::Kind::table) return;
  const auto found = nodes.find(&value);
  if (found != nodes.end() && !found->second->finished) {
    found->second->finished = true;
    for (const TomlMember& member : value.members) {
      if (found->second->known.count(member.key) == 0) found->second->note_unknown(member);
    }
  }
  for (const TomlMember& member : value.members) finish(member.value);
}

Result<TomlFile> TomlFile::open(const std::string& path) {
  return read_file(path, kLargestToml).and_then([&](std::string text) { return parse(std::move(text), path); });
}

Result<TomlFile> TomlFile::parse(std::string text, std::string name) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return tl::make_unexpected(Errors{Error{"empty file", SourceRef{std::move(name), 0, 0}}});
  }
  if (const auto form = check_form(text, TextForm::toml, name); !form) return tl::make_unexpected(form.error());
  std::optional<TomlValue> root = parse_plain_toml(text);
  if (!root) {
    if (auto binary = binary_problem(text, name)) return tl::make_unexpected(Errors{std::move(*binary)});
    if (auto deep = nesting_problem(text, name)) return tl::make_unexpected(Errors{std::move(*deep)});
    Result<TomlValue> parsed = parse_toml(text, name);
    if (!parsed) return tl::make_unexpected(std::move(parsed.error()));
    root = std::move(*parsed);
  }
  auto impl = std::make_unique<Impl>();
  impl->name = std::move(name);
  impl->text = std::move(text);
  impl->root = std::move(*root);
  // Keys missing from the whole file belong to its start, where there is nothing to underline.
  impl->root.place = TextPlace{1, 1, 0};
  impl->lines = split_lines(impl->text);
  return TomlFile(std::move(impl));
}

TomlFile::TomlFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TomlFile::TomlFile(TomlFile&&) noexcept = default;
TomlFile& TomlFile::operator=(TomlFile&&) noexcept = default;
TomlFile::~TomlFile() = default;

TomlTable TomlFile::root() { return TomlTable(impl_->node(&impl_->root, "")); }
const std::string& TomlFile::name() const { return impl_->name; }
const std::string& TomlFile::text() const { return impl_->text; }

SourceRef TomlFile::Impl::place(int line, int column) const {
  if (own_lines > 0 && line > own_lines) return {kAssignments, line - own_lines, column};
  for (auto base = bases.rbegin(); base != bases.rend(); ++base)
    if (line >= base->first_line) return {base->name, line - base->first_line + 1, column};
  return {name, line, column};
}

Errors TomlFile::errors() const {
  // Where an assignment is wrong, what else is wrong follows from it. Told apart before only the first problems are kept.
  std::vector<Note> notes = impl_->notes;
  const bool edited = !impl_->whole.empty();
  const auto assigned = [&](const Note& note) { return !note.withdrawn && note.place.line > impl_->own_lines; };
  if (edited && std::any_of(notes.begin(), notes.end(), assigned))
    notes.erase(std::remove_if(notes.begin(), notes.end(), std::not_fn(assigned)), notes.end());
  Errors errors = in_order(std::move(notes), edited ? impl_->whole : impl_->text, impl_->name);
  for (Error& error : errors) error.where = impl_->place(error.where.line, error.where.column);
  return errors;
}

const TomlValue* TomlTable::Node::require(std::string_view key, const std::function<std::string()>& expected) {
  know(key);
  if (table == nullptr) return nullptr;
  if (const TomlValue* value = find(key)) return value;
  if (missing.emplace(std::string(key), file->notes.size()).second) {
    file->notes.push_back({fmt::format("{}: missing key, expected {}", joined_key(path, key), expected()), table->place});
  }
  return nullptr;
}

void TomlTable::Node::note(std::string_view key, const TomlValue& value, std::string_view message) {
  const std::string subject = key.empty() ? path : joined_key(path, key);
  file->note(subject, value, message);
}

void TomlTable::Node::note_element(std::string_view key, std::size_t index, const TomlValue& element, std::string_view message) {
  file->note(fmt::format("{}[{}]", joined_key(path, key), index), element, message);
}

void TomlTable::Node::note_unknown(const TomlMember& member) {
  const std::vector<std::string> candidates(known.begin(), known.end());
  const std::optional<std::string> near = nearest(member.key, candidates);
  std::string hint;
  if (near) {
    hint = fmt::format(", did you mean \"{}\"?", *near);
    const auto reported = missing.find(*near);
    if (reported != missing.end()) file->notes[reported->second].withdrawn = true;
  } else if (!candidates.empty() && candidates.size() <= kMostKeysListed) {
    hint = fmt::format(", expected {}{}", candidates.size() > 1 ? "one of " : "", fmt::join(candidates, ", "));
  }
  TextPlace place = member.key_place;
  place.width = 0;  // the message names the key; its line would add nothing
  file->notes.push_back({fmt::format("{}: unknown key{}", joined_key(path, member.key), hint), place});
}

TomlTable::TomlTable(std::shared_ptr<Node> node) : node_(std::move(node)) {}

bool TomlTable::has(std::string_view key) const {
  node_->know(key);
  return node_->find(key) != nullptr;
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> names;
  if (node_->table == nullptr) return names;
  for (const TomlMember& member : node_->table->members) names.push_back(member.key);
  return names;
}

const std::string& TomlTable::path() const { return node_->path; }

void TomlTable::mark(std::string_view key) { node_->know(key); }

void TomlTable::finish() {
  if (node_->table != nullptr) node_->file->finish(*node_->table);
}

}  // namespace tbdsim
