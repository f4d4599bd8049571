#include "calibrate/decode/text_lines.hpp"

#include <algorithm>

namespace tbdsim::calibrate {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  return lines;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string_view> words_of(std::string_view text, std::size_t least) {
  std::vector<std::string_view> words;
  text = trimmed(text);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t blank = std::min(text.find_first_of(kBlanks, i), text.size());
    const std::size_t next = std::min(text.find_first_not_of(kBlanks, blank), text.size());
    if (blank == text.size() || next - blank >= least) {
      words.push_back(text.substr(begin, blank - begin));
      begin = next;
    }
    i = next;
  }
  return words;
}

}  // namespace tbdsim::calibrate
