#include "model/input/csv_lexer.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

bool blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

bool CsvLexer::at_line_end() const {
  return at_end() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n" || text_.substr(at_) == "\r";
}

void CsvLexer::step() {
  const auto byte = static_cast<unsigned char>(text_[at_++]);
  if (byte == '\n') {
    ++line_;
    column_ = 1;
  } else if (at_end() || (static_cast<unsigned char>(text_[at_]) & 0xC0u) != 0x80u) {
    ++column_;  // columns count characters: the bytes that continue one do not count
  }
}

void CsvLexer::skip_line() {
  while (!at_end() && text_[at_] != '\n') step();
  if (!at_end()) step();
}

void CsvLexer::skip_comments() {
  while (!at_end() && (at_line_end() || text_[at_] == '#')) skip_line();
}

bool CsvLexer::next(std::vector<CsvField>& record) {
  record.clear();
  while (!at_end() && at_line_end()) skip_line();
  if (at_end()) return false;
  while (true) {
    while (!at_line_end() && blank(text_[at_])) step();
    record.push_back(!at_line_end() && text_[at_] == '"' ? quoted_field() : plain_field());
    if (at_line_end()) break;
    step();  // the comma
  }
  skip_line();
  return true;
}

CsvField CsvLexer::quoted_field() {
  CsvField field{"", {line_, column_, 1}};
  step();
  while (!at_end() && (text_[at_] != '"' || text_.substr(at_, 2) == "\"\"")) {
    field.text += text_[at_];
    if (text_[at_] == '"') step();
    step();
  }
  if (at_end()) {
    notes_.push_back({"a quoted field that is never closed", field.place});
    return field;
  }
  step();
  if (line_ == field.place.line) field.place.width = column_ - field.place.column;
  while (!at_line_end() && blank(text_[at_])) step();
  if (!at_line_end() && text_[at_] != ',') {
    notes_.push_back({"expected a comma after the closing quote", {line_, column_, 1}});
    while (!at_line_end() && text_[at_] != ',') step();
  }
  return field;
}

CsvField CsvLexer::plain_field() {
  CsvField field{"", {line_, column_, 1}};
  const std::size_t begin = at_;
  std::size_t end = at_;
  bool reported = false;
  while (!at_line_end() && text_[at_] != ',') {
    if (text_[at_] == '"' && !reported) {
      notes_.push_back({"a quote inside an unquoted field; quote the whole field and double the quote", {line_, column_, 1}});
      reported = true;
    }
    const bool ink = !blank(text_[at_]);
    step();
    if (!ink) continue;
    end = at_;
    field.place.width = column_ - field.place.column;
  }
  field.text = std::string(text_.substr(begin, end - begin));
  return field;
}

}  // namespace tbdsim
