#include "model/report/text_table.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kBetweenColumns = 2;
constexpr std::size_t kLeastName = 16;    ///< of a column whose cells may lose their middle
constexpr std::size_t kLongestName = 34;  ///< of a first column that is never broken: a longer one has a line of its own
constexpr int kSignificantDigits = 3;

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(std::max<std::size_t>(1, utf8_length(text)));
  return count;
}

/// At most `most` characters, the middle left out: what tells long names apart stands at their end.
std::string shortened(const std::string& text, std::size_t most) {
  constexpr std::string_view kGap = "..";
  if (text.size() <= most || characters(text) != text.size()) return printable(text, most);
  const std::size_t head = (most - kGap.size()) / 2;
  return text.substr(0, head) + std::string(kGap) + text.substr(text.size() - (most - kGap.size() - head));
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, characters(text)), ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

/// Where the word that starts at `begin` ends; a number takes its unit with it.
std::size_t end_of_word(const std::string& text, std::size_t begin) {
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  const bool number =
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
                  [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return number && end < text.size() ? std::min(text.find(' ', end + 1), text.size()) : end;
}

/// Between this character of a word and the next: in names and addresses, not in "31.24 TFLOP/s".
bool may_break(std::string_view word, std::size_t at) {
  if (at + 1 >= word.size() || std::string_view("/@-_.:;,").find(word[at]) == std::string_view::npos) return false;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return word.find(' ') == std::string_view::npos && !(word[at] == '.' && digit(word[at + 1]));
}

/// Where a word may be broken so that its first part has at most `most` characters; 0: nowhere.
std::size_t end_of_piece(std::string_view word, std::size_t most) {
  std::size_t end = 0, count = 0;
  for (std::size_t at = 0; at < word.size() && count < most;) {
    at += std::max<std::size_t>(1, utf8_length(word.substr(at)));
    ++count;
    if (may_break(word, at - 1)) end = at;
  }
  return end;
}

/// The longest part of a cell that cannot be broken; titles are broken at blanks only.
std::size_t longest_piece(const std::string& cell, bool title) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < cell.size();) {
    const std::size_t end = end_of_word(cell, begin);
    std::string_view word = std::string_view(cell).substr(begin, end - begin);
    for (std::size_t at = 0; !title && at < word.size();) {
      const bool here = may_break(word, at++);
      if (!here) continue;
      longest = std::max(longest, characters(word.substr(0, at)));
      word.remove_prefix(at);
      at = 0;
    }
    longest = std::max(longest, characters(word));
    begin = end + 1;
  }
  return longest;
}

struct ColumnWidth {
  std::size_t natural = 0, least = 0;
};

struct Spacing {
  std::vector<std::size_t> widths;
  std::size_t gap = kBetweenColumns;
};

/// Widths that keep a line within `width` where the columns' least widths allow it: the widest column gives first.
Spacing fitted(const std::vector<ColumnWidth>& columns, std::size_t width) {
  Spacing layout;
  std::size_t total = 0;
  for (const ColumnWidth& column : columns) {
    layout.widths.push_back(column.natural);
    total += column.natural;
  }
  const auto wide = [&] { return total + layout.gap * (columns.size() - std::min<std::size_t>(1, columns.size())) > width; };
  while (wide()) {
    std::size_t widest = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (layout.widths[i] > columns[i].least && (widest == columns.size() || layout.widths[i] > layout.widths[widest]))
        widest = i;
    }
    if (widest == columns.size()) break;
    --layout.widths[widest];
    --total;
  }
  if (wide()) layout.gap = 1;
  return layout;
}

std::vector<std::string> lines_of(const std::string& cell, const TextTable::Column& column, std::size_t width, bool title) {
  if (characters(cell) <= width) return {cell};
  if (!title && column.most > 0) return {shortened(cell, width)};
  std::vector<std::string> lines;
  const std::string text = wrapped(cell, width, 0);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// A row, on as many lines as its tallest cell needs; titles stand on the last of theirs.
void append_row(std::string& all, const std::vector<TextTable::Column>& columns, const Spacing& layout,
                const std::vector<std::string>& row, std::size_t indent, bool title) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    cells.push_back(lines_of(row[i], columns[i], layout.widths[i], title));
    height = std::max(height, cells.back().size());
  }
  for (std::size_t at = 0; at < height; ++at) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line.append(layout.gap, ' ');
      const std::size_t before = title ? height - cells[i].size() : 0;
      const bool inside = at >= before && at - before < cells[i].size();
      line += padded(inside ? cells[i][at - before] : "", layout.widths[i], columns[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + '\n';
  }
}

}  // namespace

void TextTable::add(std::vector<std::string> row) {
  assert(row.size() == columns_.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (columns_[i].most > 0) row[i] = shortened(row[i], columns_[i].most);
  }
  rows_.push_back(std::move(row));
}

std::size_t table_width() {
  winsize terminal{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) != 0) return kTextWidth;
  return std::max<std::size_t>(kTextWidth, terminal.ws_col);
}

std::string TextTable::text(std::size_t indent, std::size_t width) const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const bool titled = std::any_of(titles.begin(), titles.end(), [](const std::string& title) { return !title.empty(); });
  std::vector<ColumnWidth> fits;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    ColumnWidth fit{characters(titles[i]), longest_piece(titles[i], true)};
    const bool whole = columns_[i].whole || columns_[i].align == Align::right;  // numbers are never broken
    for (const auto& row : rows_) {
      const std::size_t cell = i == 0 && columns_[0].whole ? std::min(characters(row[i]), kLongestName) : characters(row[i]);
      fit.natural = std::max(fit.natural, cell);
      fit.least = std::max(fit.least, whole                  ? cell
                                      : columns_[i].most > 0 ? std::min(cell, kLeastName)
                                                             : longest_piece(row[i], false));
    }
    fits.push_back(fit);
  }
  const Spacing layout = fitted(fits, width - std::min(width, indent));
  std::string all;
  if (titled) append_row(all, columns_, layout, titles, indent, true);
  for (std::vector<std::string> row : rows_) {
    if (!row.empty() && columns_[0].whole && characters(row[0]) > layout.widths[0])
      all += std::string(indent, ' ') + std::exchange(row[0], "") + '\n';
    append_row(all, columns_, layout, row, indent, false);
  }
  return all;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string all;
  std::size_t column = indent;  // the caller has written as much before the first line
  const auto next_line = [&] {
    all += '\n' + std::string(indent, ' ');
    column = indent;
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = end_of_word(text, begin);
    std::string word = text.substr(begin, end - begin);
    if (column > indent && column + 1 + characters(word) > width) {
      next_line();
    } else if (column > indent) {
      all += ' ';
      ++column;
    }
    while (column + characters(word) > width) {
      // An address or a path that no line can hold goes on below.
      std::size_t piece = end_of_piece(word, width - std::min(width, column));
      for (std::size_t most = 1; piece == 0 && most < word.size(); ++most) piece = end_of_piece(word, most);
      if (piece == 0) break;
      all += word.substr(0, piece);
      word.erase(0, piece);
      next_line();
    }
    all += word;
    column += characters(word);
    begin = end + 1;
  }
  return all;
}

std::string paragraph(const std::string& text, std::size_t indent) { return wrapped(text, kTextWidth, indent) + '\n'; }

std::string number_text(double value) {
  const double size = std::abs(value);
  const int whole_digits = size >= 1.0  ? static_cast<int>(std::floor(std::log10(size))) + 1
                           : size > 0.0 ? static_cast<int>(std::ceil(std::log10(size)))
                                        : 1;
  return fmt::format("{:.{}f}", value, std::clamp(kSignificantDigits - whole_digits, 0, 12));
}

std::string percent_text(double share) {
  const double percent = 100.0 * share;
  const bool small = percent != 0.0 && std::abs(percent) < 9.95;
  return fmt::format("{:.{}f} %", percent, small ? 1 : 0);
}

std::string signed_percent_text(double share) { return fmt::format("{:+.1f} %", 100.0 * share); }

}  // namespace tbdsim
