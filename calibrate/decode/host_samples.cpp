#include "calibrate/decode/host_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "model/input/csv_reader.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::array<std::string_view, 9> kColumns{"cpu",    "framework", "op",   "pass",  "device",
                                                   "time_s", "spread_s",  "date", "source"};

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string inside = text;
  for (std::size_t at = 0; (at = inside.find('"', at)) != std::string::npos; at += 2) inside.insert(at, 1, '"');
  return fmt::format("\"{}\"", inside);
}

/// A time of a row: a finite number that is not negative.
Seconds time_of(CsvTable& table, std::size_t row, std::size_t column) {
  const auto value = table.number(row, column);
  if (value && *value < 0.0) table.problem(row, column, fmt::format("expected no negative time, got {}", *value));
  return Seconds(value.value_or(0.0));
}

}  // namespace

std::string to_csv(const HostSamples& host) {
  std::string text = fmt::format("{}\n", kHostHeader);
  for (const HostSample& s : host.samples)
    text += fmt::format("{},{},{},{},{},{:.4g},{:.2g},{},{}\n", cell(host.cpu), cell(host.framework), cell(s.op), s.pass,
                        s.device, s.time.base(), s.spread.base(), host.date, cell(host.source));
  return text;
}

Result<HostSamples> read_host_samples(const std::string& path) {
  auto opened = CsvTable::open(path);
  if (!opened) return tl::make_unexpected(opened.error());
  CsvTable& table = *opened;
  std::array<std::size_t, kColumns.size()> at{};
  bool whole = true;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const auto column = table.column(kColumns[i]);
    whole = whole && column.has_value();
    at[i] = column.value_or(0);
  }
  table.unknown_columns({kColumns.begin(), kColumns.end()});
  if (!whole) return tl::make_unexpected(table.errors());
  if (table.rows() == 0) return fail(fmt::format("{}: no samples", path));
  HostSamples host{table.text(0, at[0]), table.text(0, at[1]), table.text(0, at[7]), table.text(0, at[8]), {}};
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (table.text(row, at[i]) != table.text(0, at[i]))
        table.problem(row, at[i],
                      fmt::format("a table is of one host, which is {} above, got {}", quoted(table.text(0, at[i])),
                                  quoted(table.text(row, at[i]))));
    host.samples.push_back({table.text(row, at[2]), table.text(row, at[3]), table.text(row, at[4]), time_of(table, row, at[5]),
                            time_of(table, row, at[6])});
  }
  if (const Errors errors = table.errors(); !errors.empty()) return tl::make_unexpected(errors);
  return host;
}

Result<void> add_pytorch_output(const std::string& text, HostSamples& host) {
  std::istringstream lines(text);
  std::string line;
  int number = 0;
  while (std::getline(lines, line)) {
    ++number;
    if (line.rfind("# ", 0) == 0) {
      host.framework = line.substr(2);
      continue;
    }
    HostSample sample;
    std::array<std::string, 5> cells;
    std::istringstream fields(line);
    for (std::string& field : cells) std::getline(fields, field, ',');
    const auto seconds = [](const std::string& word, Seconds& into) {
      char* end = nullptr;
      into = Seconds(std::strtod(word.c_str(), &end));
      return !word.empty() && *end == '\0' && into >= Seconds(0.0);
    };
    if (!fields || !seconds(cells[3], sample.time) || !seconds(cells[4], sample.spread))
      return fail(fmt::format("line {} of what pytorch_host.py printed: expected op,pass,device,time_s,spread_s, got {}", number,
                              quoted(line)));
    sample.op = cells[0], sample.pass = cells[1], sample.device = cells[2];
    host.samples.push_back(std::move(sample));
  }
  if (host.framework.empty() || host.samples.empty()) return fail("pytorch_host.py printed no version or no rows");
  return {};
}

}  // namespace tbdsim::calibrate
