#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// The text of `key`, which is one of `words`; `noun` says what they are ("class of boards"). Empty, and a problem with the
/// nearest word, where it is another.
[[nodiscard]] std::string read_known_word(TomlTable& table, std::string_view key, std::span<const std::string_view> words,
                                          std::string_view noun);

/// The enumerator whose name `key` holds, where `words` are the names of all in their order; absent as there.
template <class Kind, std::size_t N>
[[nodiscard]] std::optional<Kind> read_word(TomlTable& table, std::string_view key, const std::array<std::string_view, N>& words,
                                            std::string_view noun) {
  const std::string word = read_known_word(table, key, words, noun);
  for (std::size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<Kind>(i);
  return std::nullopt;
}

/// The same of a key that may be absent or wrong: then `absent`.
template <class Kind, std::size_t N>
[[nodiscard]] Kind word_or(TomlTable& table, std::string_view key, const std::array<std::string_view, N>& words, Kind absent,
                           std::string_view noun) {
  return table.has(key) ? read_word<Kind>(table, key, words, noun).value_or(absent) : absent;
}

/// The same of a table of concepts, whose rows have `kind` and `name`.
template <class Row>
[[nodiscard]] auto read_row(TomlTable& table, std::string_view key, std::span<const Row> rows, std::string_view noun)
    -> std::optional<decltype(Row::kind)> {
  std::vector<std::string_view> words;
  for (const Row& row : rows) words.push_back(row.name);
  const std::string word = read_known_word(table, key, words, noun);
  for (const Row& row : rows)
    if (row.name == word) return row.kind;
  return std::nullopt;
}

}  // namespace tbdsim
