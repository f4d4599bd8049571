#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim {

/// Where something stands in a text: line and column count from 1, columns and width in characters.
struct TextPlace {
  int line = 0;
  int column = 0;
  int width = 0;  ///< characters to underline; 0: it has no one line to show
};

/// One problem that a reader found and has not reported yet.
struct Note {
  std::string message;
  TextPlace place = {};
  bool withdrawn = false;
};

/// More problems than this in one file say nothing new: its reader mends the first ones and asks again.
inline constexpr std::size_t kMostErrors = 20;

/// The notes as errors of the file `name`: sorted by line, then column; repeated ones once; withdrawn ones left out;
/// each with its line of `text` where it has a width. After `kMostErrors` only a count of the rest.
[[nodiscard]] Errors in_order(std::vector<Note> notes, std::string_view text, const std::string& name);

/// The lines of a text without their ends (LF or CRLF).
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

}  // namespace tbdsim
