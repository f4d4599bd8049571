#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim {

/// A CSV table with a header row: comma separated, double quotes with "" inside, LF or CRLF, '#' comment lines
/// before the header. Fields keep their text; typed access notes problems and goes on, as the TOML reader does.
class CsvTable {
 public:
  /// Errors: cannot open, empty, no header, a repeated column, a row with another number of fields.
  [[nodiscard]] static Result<CsvTable> open(const std::string& path);
  [[nodiscard]] static Result<CsvTable> parse(std::string text, std::string name);

  [[nodiscard]] std::size_t rows() const { return lines_.size(); }
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  /// Index of a column; a missing one is noted once, with a suggestion, and gives nullopt.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name);
  [[nodiscard]] std::optional<std::size_t> column_if(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::size_t row, std::size_t column) const { return cells_[row * columns_.size() + column]; }
  /// A finite number; otherwise notes `column: expected a number, got "x"` and gives nullopt.
  [[nodiscard]] std::optional<double> number(std::size_t row, std::size_t column);
  void problem(std::size_t row, std::size_t column, std::string message);
  void unknown_columns(const std::vector<std::string>& known);  ///< notes every column not in `known`, with a suggestion
  [[nodiscard]] SourceRef where(std::size_t row) const { return {name_, lines_[row], 1}; }
  [[nodiscard]] const Errors& errors() const { return errors_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::string> cells_;  ///< row-major
  std::vector<int> lines_;          ///< line of each row in the file
  Errors errors_;
};

}  // namespace tbdsim
