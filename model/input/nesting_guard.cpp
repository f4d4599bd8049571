#include "model/input/nesting_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tbdsim {
namespace {

constexpr int kMostKeyParts = 16;
constexpr int kMostBrackets = 32;

/// Just past the string or comment that starts at `i`; `i` itself when neither does.
std::size_t skip_string_or_comment(std::string_view text, std::size_t i) {
  const char quote = text[i];
  if (quote == '#') return std::min(text.find('\n', i), text.size());
  if (quote != '"' && quote != '\'') return i;
  const bool escapes = quote == '"';
  const std::string three(3, quote);
  const bool multi_line = text.substr(i, 3) == three;
  for (i += multi_line ? 3 : 1; i < text.size(); ++i) {
    if (escapes && text[i] == '\\') {
      ++i;
    } else if (multi_line && text.substr(i, 3) == three) {
      return i + 3;
    } else if (!multi_line && (text[i] == quote || text[i] == '\n')) {
      return text[i] == quote ? i + 1 : i;
    }
  }
  return text.size();
}

Error too_deep(std::string_view text, std::size_t i, const std::string& name, std::string message) {
  const std::size_t newline = text.substr(0, i).rfind('\n');
  const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n');
  return Error{std::move(message), SourceRef{name, static_cast<int>(lines) + 1, static_cast<int>(i - line_begin) + 1}};
}

}  // namespace

std::optional<Error> nesting_problem(std::string_view text, const std::string& name) {
  int brackets = 0, parts = 1;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t past = skip_string_or_comment(text, i);
    if (past != i) {
      i = past;
      continue;
    }
    const char c = text[i];
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') --brackets;
    if (c == '.') ++parts;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') parts = 1;
    if (brackets > kMostBrackets) return too_deep(text, i, name, fmt::format("more than {} brackets open", kMostBrackets));
    if (parts > kMostKeyParts) return too_deep(text, i, name, fmt::format("a key of more than {} parts", kMostKeyParts));
    ++i;
  }
  return std::nullopt;
}

}  // namespace tbdsim
