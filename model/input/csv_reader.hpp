#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/input/note.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

struct CsvField;

/// A CSV table with a header row: comma separated, double quotes with "" inside, LF or CRLF, '#' comment lines
/// before the header, empty lines passed over. Fields keep their text, less blanks around an unquoted one; typed
/// access notes problems and goes on, as the TOML reader does. Source of the quoting rules: RFC 4180, section 2.
class CsvTable {
 public:
  /// Errors, all of them at once: cannot open, not text, empty, no header, an unnamed or repeated column, broken
  /// quotes, a row with another number of fields.
  [[nodiscard]] static Result<CsvTable> open(const std::string& path);
  [[nodiscard]] static Result<CsvTable> parse(std::string text, std::string name);

  [[nodiscard]] std::size_t rows() const { return lines_.size(); }
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  /// Index of a column; a missing one is noted once, with a suggestion, and gives nullopt.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name);
  [[nodiscard]] std::optional<std::size_t> column_if(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::size_t row, std::size_t column) const {
    return cells_[row * columns_.size() + column];
  }
  /// A finite number; otherwise notes `column: expected a number, got "x"` and gives nullopt.
  [[nodiscard]] std::optional<double> number(std::size_t row, std::size_t column);
  /// Notes a problem of one field; `message` without the name of the column.
  void problem(std::size_t row, std::size_t column, const std::string& message);
  void unknown_columns(const std::vector<std::string>& known);  ///< notes every column not in `known`, with a suggestion
  [[nodiscard]] SourceRef where(std::size_t row) const { return {name_, lines_[row], 1}; }
  /// Every problem noted so far, sorted by line, then column; the first 20 and a count of the rest.
  [[nodiscard]] Errors errors() const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& file_text() const { return text_; }  ///< the bytes that were parsed (for a digest)

 private:
  void add_row(std::vector<CsvField>& record, std::vector<Note>& notes);

  std::string name_;
  std::string text_;
  std::vector<std::string> columns_;
  std::vector<TextPlace> column_places_;
  std::vector<std::string> cells_;                            ///< row-major
  std::vector<TextPlace> places_;                             ///< of each cell
  std::vector<int> lines_;                                    ///< line of each row in the file
  std::vector<std::pair<std::string, std::size_t>> missing_;  ///< columns reported missing, with their note
  std::vector<Note> notes_;
};

}  // namespace tbdsim
