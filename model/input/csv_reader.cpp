#include "model/input/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <system_error>

#include "model/input/csv_lexer.hpp"
#include "model/input/file_kind.hpp"
#include "model/input/file_text.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

void note_header_problems(const std::vector<CsvField>& header, std::vector<Note>& notes) {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i].text.empty()) {
      notes.push_back({fmt::format("column {} has no name", i + 1), header[i].place});
    } else if (const auto [earlier, fresh] = first.emplace(header[i].text, i); !fresh) {
      notes.push_back({fmt::format("{}: repeated column, it is also column {}", printable(header[i].text), earlier->second + 1),
                       header[i].place});
    }
  }
}

std::string count_of_fields(std::size_t count) { return count == 1 ? "1 field" : fmt::format("{} fields", count); }

}  // namespace

Result<CsvTable> CsvTable::open(const std::string& path) {
  return read_file(path).and_then([&](std::string text) { return parse(std::move(text), path); });
}

Result<CsvTable> CsvTable::parse(std::string text, std::string name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets write it
  if (text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) text.erase(0, kByteOrderMark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return tl::make_unexpected(Errors{Error{"empty file", SourceRef{std::move(name), 0, 0}}});
  }
  if (const auto form = check_form(text, TextForm::csv, name); !form) return tl::make_unexpected(form.error());
  if (auto binary = binary_problem(text, name)) return tl::make_unexpected(Errors{std::move(*binary)});
  CsvTable table;
  table.name_ = std::move(name);
  table.text_ = std::move(text);
  CsvLexer lexer(table.text_);
  lexer.skip_comments();
  std::vector<CsvField> record;
  if (!lexer.next(record)) {
    return tl::make_unexpected(Errors{Error{"no header row, only comments", SourceRef{table.name_, 0, 0}}});
  }
  std::vector<Note> notes;
  note_header_problems(record, notes);
  for (CsvField& field : record) {
    table.columns_.push_back(std::move(field.text));
    table.column_places_.push_back(field.place);
  }
  while (lexer.next(record)) table.add_row(record, notes);
  notes.insert(notes.end(), lexer.notes().begin(), lexer.notes().end());
  if (!notes.empty()) return tl::make_unexpected(in_order(std::move(notes), table.text_, table.name_));
  return table;
}

void CsvTable::add_row(std::vector<CsvField>& record, std::vector<Note>& notes) {
  if (record.size() != columns_.size()) {
    const TextPlace start{record.front().place.line, 1, 0};
    notes.push_back(
        {fmt::format("expected {} as in the header, got {}", count_of_fields(columns_.size()), record.size()), start});
    return;
  }
  lines_.push_back(record.front().place.line);
  for (CsvField& field : record) {
    cells_.push_back(std::move(field.text));
    places_.push_back(field.place);
  }
}

std::optional<std::size_t> CsvTable::column_if(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

std::optional<std::size_t> CsvTable::column(std::string_view name) {
  if (const auto found = column_if(name)) return found;
  const bool known = std::any_of(missing_.begin(), missing_.end(), [&](const auto& entry) { return entry.first == name; });
  if (known) return std::nullopt;
  const std::optional<std::string> near = nearest(name, columns_);
  const std::string hint = near ? fmt::format(", is it the one called {}?", quoted(*near)) : "";
  missing_.emplace_back(std::string(name), notes_.size());
  notes_.push_back({fmt::format("{}: missing column{}", name, hint), {column_places_.front().line, 1, 0}});
  return std::nullopt;
}

std::optional<double> CsvTable::number(std::size_t row, std::size_t column) {
  const std::string& field = text(row, column);
  double value = 0.0;
  const char* const end = field.data() + field.size();
  const auto [stopped, status] = std::from_chars(field.data(), end, value);
  if (status == std::errc{} && stopped == end && std::isfinite(value)) return value;
  const bool read = status == std::errc{} && stopped == end;
  const std::string found = field.empty() ? "an empty field" : quoted(field);
  problem(row, column, fmt::format("expected a {}number, got {}", read ? "finite " : "", found));
  return std::nullopt;
}

void CsvTable::problem(std::size_t row, std::size_t column, const std::string& message) {
  notes_.push_back({fmt::format("{}: {}", printable(columns_[column]), message), places_[row * columns_.size() + column]});
}

void CsvTable::unknown_columns(const std::vector<std::string>& known) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (std::find(known.begin(), known.end(), columns_[i]) != known.end()) continue;
    std::optional<std::string> near = nearest(columns_[i], known);
    // "batch" for "batch_per_gpu"
    const auto longer =
        std::find_if(known.begin(), known.end(), [&](const std::string& name) { return name.starts_with(columns_[i] + "_"); });
    if (!near && longer != known.end()) near = *longer;
    const std::string hint = near ? fmt::format(", did you mean \"{}\"?", *near) : "";
    for (const auto& [name, index] : missing_) notes_[index].withdrawn |= near && name == *near;
    TextPlace place = column_places_[i];
    place.width = 0;  // the message names the column; its line would add nothing
    notes_.push_back({fmt::format("{}: unknown column{}", printable(columns_[i]), hint), place});
  }
}

Errors CsvTable::errors() const { return in_order(notes_, text_, name_); }

}  // namespace tbdsim
