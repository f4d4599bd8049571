// What nccl-tests prints: comment lines that describe the run, then a line for each size.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "calibrate/decode/foreign_table.hpp"
#include "calibrate/decode/text_lines.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stopped != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One size of a run.
struct Row {
  std::int64_t bytes = 0;
  std::string precision;
  Seconds time;
  int line = 0;
};

/// One program's output: what its comment lines say, and its rows.
struct Run {
  std::string op, release;
  int ranks = 0;
  std::set<std::string_view> hosts;
  std::vector<Row> rows;
};

constexpr std::pair<std::string_view, std::string_view> kPrograms[] = {
    {"all_reduce", "all_reduce"}, {"all_gather", "all_gather"}, {"reduce_scatter", "reduce_scatter"},
    {"alltoall", "all_to_all"},   {"broadcast", "broadcast"},   {"reduce", "reduce"},
    {"sendrecv", "send_recv"},    {"gather", "gather"},         {"scatter", "scatter"}};

/// "22105" as 2.21.5.
std::string release_of(std::string_view code) {
  int value = 0;
  std::from_chars(code.data(), code.data() + code.size(), value);
  constexpr int kMajor = 10000, kMinor = 100;
  return value < kMajor ? std::string() : fmt::format("{}.{}.{}", value / kMajor, value / kMinor % kMinor, value % kMinor);
}

std::string_view word_after(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + mark.size());
  const auto words = words_of(rest);
  return words.empty() ? std::string_view() : words.front();
}

/// The collective of the program that a line names, such as "./build/all_reduce_perf -b 8"; empty: none.
std::string_view program_in(std::string_view line) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_", kEnd = "_perf";
  const std::size_t end = line.find(kEnd);
  if (end == std::string_view::npos) return {};
  const std::size_t before = line.find_last_not_of(kLetters, end);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view name = line.substr(begin, end - begin);
  const auto found = std::find_if(std::begin(kPrograms), std::end(kPrograms), [&](const auto& p) { return p.first == name; });
  return found == std::end(kPrograms) ? std::string_view() : found->second;
}

bool names_rank(std::string_view line) {
  return line.find(" Rank ") != std::string_view::npos && line.find(" device ") != std::string_view::npos;
}

void describe(std::string_view line, std::vector<Run>& runs) {
  const std::string_view op = program_in(line);
  const bool begins = !op.empty() || names_rank(line) || line.find("nThread") != std::string_view::npos;
  if (begins && line.find("concluded") == std::string_view::npos && !runs.back().rows.empty())
    runs.push_back({{}, runs.back().release, 0, {}, {}});
  Run& run = runs.back();
  if (!op.empty()) run.op = op;
  if (const auto code = word_after(line, "nccl-library="); !code.empty()) run.release = release_of(code);
  if (const auto version = word_after(line, "NCCL version "); !version.empty())
    run.release = std::string(version.substr(0, version.find('+')));
  if (!names_rank(line)) return;
  ++run.ranks;
  run.hosts.insert(word_after(line, " on "));
}

/// Rows of sizes begin with two numbers, the bytes and the elements.
bool is_row(const std::vector<std::string_view>& words) {
  return words.size() >= 2 && number<double>(words[0]) && number<double>(words[1]);
}

/// What a type is called in samples; `fallback` of what is no type of a network's numbers.
std::string precision_of(std::string_view type, const std::string& fallback) {
  if (type == "float") return "fp32";
  if (type == "half") return "fp16";
  if (type == "bfloat16") return "bf16";
  return type.substr(0, 2) == "f8" ? "fp8" : fallback;
}

/// A row ends with time, algbw, busbw and wrong results, out of place and again in place.
tl::expected<Row, std::string> read_row(const std::vector<std::string_view>& words, const std::string& precision) {
  constexpr std::size_t kFirst = 3, kMeasured = 8, kWrong = 3;
  if (words.size() < kFirst + kMeasured)
    return tl::make_unexpected(
        fmt::format("expected bytes, elements, type and twice time, algbw, busbw and #wrong, got {} words", words.size()));
  const std::size_t at = words.size() - kMeasured;
  Row row;
  const auto bytes = number<std::int64_t>(words[0]);
  if (!bytes || *bytes < 0) return tl::make_unexpected(fmt::format("expected a whole number of bytes, got {}", quoted(words[0])));
  row.bytes = *bytes;
  row.precision = precision_of(words[2], precision);
  if (row.precision.empty())
    return tl::make_unexpected(
        fmt::format("expected float, half, bfloat16, f8e4m3 or f8e5m2, got {}; --precision names one instead", quoted(words[2])));
  const auto time = number<double>(words[at]);
  constexpr double kMicro = 1e-6;
  if (!time || !std::isfinite(*time) || *time < 0.0 || (*time == 0.0 && row.bytes > 0))
    return tl::make_unexpected(fmt::format("expected a time in us above 0, got {}", quoted(words[at])));
  row.time = Seconds(*time * kMicro);
  const auto wrong = number<double>(words[at + kWrong]);
  if (wrong && *wrong > 0.0)
    return tl::make_unexpected(fmt::format("{} results are wrong: this run is broken", words[at + kWrong]));
  return row;
}

Errors lacking(const Run& run, const std::string& file) {
  const SourceRef place{file, run.rows.empty() ? 0 : run.rows.front().line, 0};
  Errors errors;
  if (run.op.empty()) errors.push_back({"which collective? the output does not name its program; use --op all_reduce", place});
  if (run.ranks == 0) errors.push_back({"how many ranks? there is no line \"#  Rank  0 ... on HOST device 0\"", place});
  return errors;
}

}  // namespace

Result<std::vector<Sample>> import_nccl_tests(std::string_view text, const std::string& file, const ForeignDefaults& defaults) {
  std::vector<Run> runs(1);
  Errors errors;
  bool no_row = true;
  int line_number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++line_number;
    const auto words = words_of(line);
    if (!is_row(words)) {
      describe(line, runs);
      continue;
    }
    no_row = false;
    auto row = read_row(words, defaults.precision);
    if (!row) {
      errors.push_back({row.error(), {file, line_number, 1}});
      continue;
    }
    row->line = line_number;
    if (row->time > Seconds(0.0)) runs.back().rows.push_back(std::move(*row));
  }
  if (runs.size() > 1 && runs.back().rows.empty()) runs.pop_back();
  std::vector<Sample> samples;
  for (Run& run : runs) {
    if (run.op.empty()) run.op = defaults.op;
    if (!defaults.op.empty() && run.op != defaults.op)
      errors.push_back({fmt::format("--op {}: the output is of {}; leave the option out", defaults.op, run.op), {file, 0, 0}});
    const Errors missing = lacking(run, file);
    errors.insert(errors.end(), missing.begin(), missing.end());
    for (Row& row : run.rows) {
      Sample sample;
      sample.line = row.line;
      sample.device = defaults.device;
      sample.family = "collective";
      sample.op = run.op;
      sample.pass = "none";
      sample.precision = std::move(row.precision);
      sample.library = !defaults.library.empty() ? defaults.library : run.release.empty() ? "" : "NCCL " + run.release;
      sample.shape = {{"bytes", row.bytes},
                      {"ranks", run.ranks},
                      {"nodes", std::max<std::int64_t>(1, static_cast<std::int64_t>(run.hosts.size()))}};
      sample.time = row.time;
      samples.push_back(std::move(sample));
    }
  }
  if (no_row) errors.push_back({"no row of sizes, such as \"1048576 262144 float sum -1 41.2 25.4 44.5 0 ...\"", {file, 0, 0}});
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return samples;
}

}  // namespace tbdsim::calibrate
