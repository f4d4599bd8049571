#include "model/input/known_word.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {

std::string read_known_word(TomlTable& table, std::string_view key, std::span<const std::string_view> words,
                            std::string_view noun) {
  std::string text = table.text(key);
  if (text.empty() || std::find(words.begin(), words.end(), text) != words.end()) return text;
  const auto near = nearest(text, {words.begin(), words.end()});
  table.problem(key, near ? fmt::format("no {} {}, did you mean \"{}\"?", noun, quoted(text), *near)
                          : fmt::format("no {} {}, expected one of {}", noun, quoted(text), fmt::join(words, ", ")));
  return {};
}

}  // namespace tbdsim
