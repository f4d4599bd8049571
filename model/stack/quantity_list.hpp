#pragma once
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/support/quote.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {

/// An array of quantities, each a string with its unit: `hop = ["0.6 us", "1.9 us"]`. `noun` and `example` tell what is
/// expected. Notes a problem for each entry that is none; the entry is then 0.
template <class Q>
[[nodiscard]] std::vector<Q> quantity_list(TomlTable& table, std::string_view key, std::string_view noun,
                                           std::string_view example) {
  std::vector<Q> found;
  for (const std::string& text : table.texts_or_empty(key)) {
    const auto value = parse<Q>(text);
    const bool good = value && *value >= Q(0.0);
    if (!good) table.problem(key, fmt::format("expected {} such as \"{}\", got {}", noun, example, quoted(text)));
    found.push_back(good ? *value : Q(0.0));
  }
  return found;
}

}  // namespace tbdsim
