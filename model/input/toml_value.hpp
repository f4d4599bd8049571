#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/note.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

struct TomlMember;

/// One parsed value with its place. Keeps the TOML library out of headers.
struct TomlValue {
  enum class Kind { string, integer, decimal, boolean, date, array, table };
  Kind kind = Kind::table;
  TextPlace place;
  std::string text;  ///< of a string
  std::int64_t integer = 0;
  double decimal = 0.0;
  bool boolean = false;
  std::vector<TomlValue> elements;   ///< of an array
  std::vector<TomlMember> members;   ///< of a table, in file order
  std::vector<std::size_t> ordered;  ///< places in `members` by key; empty: they are few

  [[nodiscard]] const TomlMember* find(std::string_view key) const;
  [[nodiscard]] TomlMember* find(std::string_view key);
  /// Makes `find` fast again after a change of `members`.
  void index();
};

struct TomlMember {
  std::string key;
  TextPlace key_place;
  TomlValue value;
};

/// "a string", "a whole number", "a table", ...
[[nodiscard]] std::string_view kind_words(TomlValue::Kind kind);

/// Parses TOML 1.0. Error: the first syntax error, with its place. Expects text that passed `nesting_problem`.
[[nodiscard]] Result<TomlValue> parse_toml(std::string_view text, const std::string& name);

/// A value as TOML writes it: `"25 GB/s"`, `3`, `[1, 2]`. Nothing if the text is no such value.
[[nodiscard]] std::optional<TomlValue> toml_literal(std::string_view literal);

}  // namespace tbdsim
