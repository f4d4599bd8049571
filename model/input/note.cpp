#include "model/input/note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tbdsim {
namespace {

/// A longer line is not kept with a message: a thousand messages about one line of megabytes would fill the memory.
constexpr std::size_t kLongestKeptLine = 4096;

Error error_of(const Note& note, const std::vector<std::string_view>& lines, const std::string& name) {
  Error error{note.message, SourceRef{name, note.place.line, note.place.column}, "", note.place.width};
  const auto index = static_cast<std::size_t>(note.place.line) - 1;
  if (note.place.width == 0 || index >= lines.size() || lines[index].size() > kLongestKeptLine) return error;
  error.line_text = std::string(lines[index]);
  return error;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Errors in_order(std::vector<Note> notes, std::string_view text, const std::string& name) {
  const auto withdrawn = [](const Note& note) { return note.withdrawn; };
  notes.erase(std::remove_if(notes.begin(), notes.end(), withdrawn), notes.end());
  Errors errors;
  if (notes.empty()) return errors;
  const auto order = [](const Note& note) { return std::tie(note.place.line, note.place.column); };
  std::stable_sort(notes.begin(), notes.end(), [&](const Note& a, const Note& b) { return order(a) < order(b); });
  // A value that is read twice is wrong once.
  const auto same = [&](const Note& a, const Note& b) { return order(a) == order(b) && a.message == b.message; };
  notes.erase(std::unique(notes.begin(), notes.end(), same), notes.end());
  const std::vector<std::string_view> lines = split_lines(text);
  for (std::size_t i = 0; i < std::min(notes.size(), kMostErrors); ++i) errors.push_back(error_of(notes[i], lines, name));
  if (notes.size() > kMostErrors) {
    errors.push_back(Error{fmt::format("{} more problems", notes.size() - kMostErrors), SourceRef{name, 0, 0}});
  }
  return errors;
}

}  // namespace tbdsim
