#pragma once
#include <span>
#include <string>
#include <string_view>

#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// The text of `key`, which is one of `words`; `noun` says what they are ("class of boards"). Empty, and a problem with the
/// nearest word, where it is another.
[[nodiscard]] std::string read_known_word(TomlTable& table, std::string_view key, std::span<const std::string_view> words,
                                          std::string_view noun);

}  // namespace tbdsim
