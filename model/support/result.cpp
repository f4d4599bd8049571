#include "model/support/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

/// A line longer than this is shown as a window around its caret, so that it fits a terminal.
constexpr std::size_t kWidestLine = 120;
/// How much of a cut line is kept to the left of the caret.
constexpr std::size_t kLeftOfCaret = 40;

/// The characters of `line`; empty if one of them would upset a terminal.
std::vector<std::string_view> characters(std::string_view line) {
  std::vector<std::string_view> all;
  while (!line.empty()) {
    const std::size_t length = utf8_length(line);
    const auto first = static_cast<unsigned char>(line.front());
    if (length == 0 || (first < 0x20 && first != '\t') || first == 0x7F) return {};
    all.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
  return all;
}

struct Window {
  std::size_t begin;
  std::size_t end;
};

Window window_around(std::size_t caret, std::size_t length) {
  if (length <= kWidestLine) return {0, length};
  const std::size_t begin = std::min(caret > kLeftOfCaret ? caret - kLeftOfCaret : 0, length - kWidestLine);
  return {begin, begin + kWidestLine};
}

std::string snippet(const Error& error) {
  const std::vector<std::string_view> line = characters(error.line_text);
  if (line.empty()) return "";
  const bool has_caret = error.where.column > 0 && error.caret_width > 0;
  const std::size_t caret = has_caret ? static_cast<std::size_t>(error.where.column - 1) : 0;
  const Window window = window_around(std::min(caret, line.size()), line.size());
  const std::string number = fmt::format("{:>4}", error.where.line);
  std::string shown = window.begin > 0 ? "..." : "";
  std::string padding(shown.size(), ' ');
  for (std::size_t i = window.begin; i < window.end; ++i) {
    shown += line[i];
    // A tab is repeated, not counted, so that the caret stands right whatever the tab width.
    if (i < caret) padding += line[i] == "\t" ? '\t' : ' ';
  }
  if (window.end < line.size()) shown += "...";
  std::string text = fmt::format("\n{} | {}", number, shown);
  if (!has_caret || caret > line.size()) return text;
  const std::size_t room = std::max<std::size_t>(window.end > caret ? window.end - caret : 1, 1);
  const std::size_t width = std::min(static_cast<std::size_t>(error.caret_width), room);
  return text + fmt::format("\n{} | {}^{}", std::string(number.size(), ' '), padding, std::string(width - 1, '~'));
}

}  // namespace

std::string Error::text() const {
  // A file may be called anything; its name neither ends the line nor steers the terminal.
  std::string place = printable(where.file, where.file.size());
  if (where.line > 0) place += fmt::format("{}{}", place.empty() ? "line " : ":", where.line);
  if (where.line > 0 && where.column > 0) place += fmt::format(":{}", where.column);
  // So it is with a name in a message.
  const std::string shown = printable(message, message.size());
  const std::string head = place.empty() ? shown : place + ": " + shown;
  return where.line > 0 ? head + snippet(*this) : head;
}

std::string to_text(const Errors& errors) {
  std::string all;
  for (const Error& error : errors) all += error.text() + '\n';
  return all;
}

}  // namespace tbdsim
