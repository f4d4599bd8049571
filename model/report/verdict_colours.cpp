#include "model/report/verdict_colours.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

constexpr std::string_view kGreen = "\x1b[32m", kRed = "\x1b[1;31m", kYellow = "\x1b[33m", kPlain = "\x1b[0m";

/// A verdict in the words of the reports.
struct Verdict {
  std::string_view words, colour;
  bool cell;  ///< only as a cell of a table or its beginning up to a comma; else wherever the words stand
};
constexpr Verdict kVerdicts[] = {{"DOES NOT FIT", kRed, false}, {"does not fit", kRed, false}, {"NO", kRed, true},
                                 {"fails", kRed, true},         {"LOOK", kYellow, true},       {"too big", kRed, true},
                                 {"too dear", kYellow, true},   {"yes", kGreen, true},         {"ok", kGreen, true},
                                 {"holds", kGreen, true},       {": fits,", kGreen, false},    {"  fits,", kGreen, false},
                                 {"?", kYellow, true},          {"? *", kYellow, true},        {"?*", kYellow, true}};

/// Whether a cell begins at a place of a line: at its beginning or behind two blanks.
bool begins_cell(std::string_view line, std::size_t at) {
  if (at == 0) return true;
  return line[at - 1] == ' ' && (at == 1 || line[at - 2] == ' ');
}

/// The last cell of a row whose columns stand one blank apart, behind a size: "24.2 GB NO".
bool ends_row(std::string_view line, std::size_t at, std::string_view words) {
  return at > 1 && line.substr(at - 2, 2) == "B " && at + words.size() == line.size();
}

bool ends_cell(std::string_view line, std::size_t at) {
  return at == line.size() || line[at] == ',' || line.substr(at, 2) == "  ";
}

const Verdict* verdict_at(std::string_view line, std::size_t at) {
  const auto* const found = std::find_if(std::begin(kVerdicts), std::end(kVerdicts), [&](const Verdict& v) {
    return line.substr(at, v.words.size()) == v.words &&
           (!v.cell || (begins_cell(line, at) && ends_cell(line, at + v.words.size())) || ends_row(line, at, v.words));
  });
  return found == std::end(kVerdicts) ? nullptr : found;
}

std::string coloured(std::string_view line) {
  std::string shown;
  for (std::size_t at = 0; at < line.size();) {
    const Verdict* const verdict = verdict_at(line, at);
    if (verdict == nullptr) {
      shown += line[at++];
      continue;
    }
    shown.append(verdict->colour).append(verdict->words).append(kPlain);
    at += verdict->words.size();
  }
  return shown;
}

}  // namespace

std::string with_verdict_colours(std::string_view text) {
  if (text.starts_with('{')) return std::string(text);
  std::string shown;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    shown += coloured(text.substr(begin, end - begin));
    if (end < text.size()) shown += '\n';
    begin = end + 1;
  }
  return shown;
}

}  // namespace tbdsim
