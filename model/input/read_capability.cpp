#include "model/input/read_capability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "model/support/quote.hpp"

namespace tbdsim {

std::string read_capability(TomlTable& table, const std::string& key) {
  std::string text = table.text_or(key, "");
  const std::size_t dot = text.find('.');
  const bool digits =
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; }) + 1 == std::ssize(text);
  const bool sound = digits && (dot == 1 || dot == 2) && text.size() == dot + 2;
  if (!text.empty() && !sound)
    table.problem(key, fmt::format("expected a compute capability such as \"7.5\", got {}", quoted(text)));
  return text;
}

}  // namespace tbdsim
