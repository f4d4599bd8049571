#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/input/note.hpp"
#include "model/input/toml_reader.hpp"
#include "model/input/toml_value.hpp"

// What TomlFile and TomlTable keep; for their two sources only.
namespace tbdsim {

/// `path.key`; a key that TOML would not accept bare is shown quoted.
[[nodiscard]] std::string joined_key(const std::string& path, std::string_view key);

struct TomlTable::Node {
  TomlFile::Impl* file = nullptr;
  const TomlValue* table = nullptr;  ///< null: missing or no table, already reported
  std::string path;
  std::set<std::string, std::less<>> known;
  std::map<std::string, std::size_t, std::less<>> missing;  ///< keys reported missing, into the file's notes
  std::set<std::string, std::less<>> named;                 ///< keys that `named_tables` has given out
  bool finished = false;

  [[nodiscard]] const TomlValue* find(std::string_view key) const {
    const TomlMember* member = table ? table->find(key) : nullptr;
    return member ? &member->value : nullptr;
  }
  void know(std::string_view key) {
    if (known.find(key) == known.end()) known.emplace(key);
  }
  /// The value of a required key; notes a missing one. `expected` is worded then only.
  const TomlValue* require(std::string_view key, const std::function<std::string()>& expected);
  void note(std::string_view key, const TomlValue& value, std::string_view message);
  void note_element(std::string_view key, std::size_t index, const TomlValue& element, std::string_view message);
  void note_unknown(const TomlMember& member);
};

/// A document that another one extends: its lines follow those of that one.
struct TomlBase {
  std::string name;
  int first_line = 1;  ///< in the text of the whole
};

struct TomlFile::Impl {
  std::string name;
  std::string text;                     ///< of the file, then of those that it extends
  std::vector<TomlBase> bases;          ///< in the order of their lines
  std::string whole;                    ///< `text` and the assignments that changed it, where there are any
  int own_lines = 0;                    ///< of `text`, where it was changed
  std::vector<std::string_view> lines;  ///< of `whole`, else of `text`
  TomlValue root;
  std::vector<Note> notes;
  std::unordered_map<const TomlValue*, std::shared_ptr<TomlTable::Node>> nodes;  ///< one per table, so that copies agree

  std::shared_ptr<TomlTable::Node> node(const TomlValue* table, std::string path);
  /// The file, or the user's assignments, and its own line for a line of `whole`.
  [[nodiscard]] SourceRef place(int line, int column) const;
  [[nodiscard]] std::string as_written(const TomlValue& value) const;
  [[nodiscard]] std::string shown(const TomlValue& value) const;
  void note(const std::string& subject, const TomlValue& value, std::string_view message);
  void finish(const TomlValue& value);
};

}  // namespace tbdsim
