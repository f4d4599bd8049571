#include "model/report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kBetweenColumns = 2;
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

}  // namespace

void TextTable::add(std::vector<std::string> row) {
  assert(row.size() == columns_.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (columns_[i].most > 0) row[i] = shortened(row[i], columns_[i].most);
  }
  rows_.push_back(std::move(row));
}

std::string TextTable::text(std::size_t indent) const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const bool titled = std::any_of(titles.begin(), titles.end(), [](const std::string& title) { return !title.empty(); });
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = characters(titles[i]);
    for (const auto& row : rows_) width = std::max(width, characters(row[i]));
    widths.push_back(width);
  }
  std::string all;
  const auto append = [&](const std::vector<std::string>& row) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line.append(kBetweenColumns, ' ');
      line += padded(row[i], widths[i], columns_[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + '\n';
  };
  if (titled) append(titles);
  for (const auto& row : rows_) append(row);
  return all;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string all;
  std::size_t column = indent;  // the caller has written as much before the first line
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = end_of_word(text, begin);
    const std::string word = text.substr(begin, end - begin);
    if (column > indent && column + 1 + characters(word) > width) {
      all += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      all += ' ';
      ++column;
    }
    all += word;
    column += characters(word);
    begin = end + 1;
  }
  return all;
}

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
