#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace tbdsim {

enum class Align { left, right };

/// Rows of text in columns that are as wide as they need. Text only: whoever fills it has formatted the numbers.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
    std::size_t most = 0;  ///< longer cells lose their middle; 0: never
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Expects one cell per column.
  void add(std::vector<std::string> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Title line unless every title is empty, then the rows; each line begins with `indent` blanks and ends in a
  /// newline, without blanks before it. Columns stand two blanks apart.
  [[nodiscard]] std::string text(std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` in lines of at most `width` characters, broken at blanks; every line but the first begins with `indent`
/// blanks. A longer word stands alone; a number and its unit stay together. Without a newline at the end.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

/// Three significant digits and no exponent: "2560", "52.1", "0.0314".
[[nodiscard]] std::string number_text(double value);
/// A share as "52 %", or "0.4 %" where it is small.
[[nodiscard]] std::string percent_text(double share);
/// A difference as "+5.2 %".
[[nodiscard]] std::string signed_percent_text(double share);

}  // namespace tbdsim
