#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/note.hpp"

namespace tbdsim {

struct CsvField {
  std::string text;
  TextPlace place;
};

/// Splits CSV text into records. A quoted field may hold commas, line ends and doubled quotes.
class CsvLexer {
 public:
  explicit CsvLexer(std::string_view text) : text_(text) {}
  /// Passes over lines that are empty, and over lines that start with '#'.
  void skip_comments();
  /// The next record that is no empty line; false at the end of the text. Broken quotes are noted.
  [[nodiscard]] bool next(std::vector<CsvField>& record);
  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }

 private:
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] bool at_line_end() const;
  void step();
  void skip_line();
  [[nodiscard]] CsvField quoted_field();
  [[nodiscard]] CsvField plain_field();

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  std::vector<Note> notes_;
};

}  // namespace tbdsim
