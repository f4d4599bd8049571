#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace tbdsim {

enum class Align { left, right };

/// Width that texts are written for.
constexpr std::size_t kTextWidth = 80;
/// Width that tables may take: that of the terminal which standard output is, else `kTextWidth`. Never less.
[[nodiscard]] std::size_t table_width();

/// Rows of text in columns that are as wide as they need and `width` allows. Text only: whoever fills it has formatted the
/// numbers.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
    std::size_t most = 0;  ///< longer cells lose their middle, 16 characters at least stay; 0: never
    bool whole = false;    ///< never broken, such as a name that is to be copied; a long one of the first column has its own line
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Expects one cell per column.
  void add(std::vector<std::string> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Title line unless every title is empty, then the rows; each line begins with `indent` blanks and ends in a
  /// newline, without blanks before it. Columns stand two blanks apart. Where that passes `width`, titles and texts are
  /// broken over several lines, numbers never; what still does not fit stands out on the right.
  [[nodiscard]] std::string text(std::size_t indent = 0, std::size_t width = table_width()) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` in lines of at most `width` characters, broken at blanks; every line but the first begins with `indent`
/// blanks. A longer word is broken after one of its / @ - _ . : ; , or else stands out; a number and its unit stay
/// together. Without a newline at the end.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);
/// `text` in lines that fit a terminal, those after the first behind `indent` blanks, with a newline at the end.
[[nodiscard]] std::string paragraph(const std::string& text, std::size_t indent = 0);

/// Three significant digits and no exponent: "2560", "52.1", "0.0314".
[[nodiscard]] std::string number_text(double value);
/// A share as "52 %", or "0.4 %" where it is small.
[[nodiscard]] std::string percent_text(double share);
/// A difference as "+5.2 %".
[[nodiscard]] std::string signed_percent_text(double share);

}  // namespace tbdsim
