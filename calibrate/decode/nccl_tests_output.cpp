// What nccl-tests prints: comment lines that describe the run, then a line for each size.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "calibrate/decode/foreign_table.hpp"
#include "calibrate/decode/text_lines.hpp"

namespace tbdsim::calibrate {
namespace {

std::optional<double> number(std::string_view text) {
  double value = 0.0;
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stopped != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What the comment lines say.
struct Run {
  std::string op, release;
  int ranks = 0;
  std::set<std::string_view> hosts;
};

constexpr std::pair<std::string_view, std::string_view> kPrograms[] = {
    {"all_reduce_perf", "all_reduce"}, {"all_gather_perf", "all_gather"}, {"reduce_scatter_perf", "reduce_scatter"},
    {"alltoall_perf", "all_to_all"},   {"broadcast_perf", "broadcast"},   {"reduce_perf", "reduce"},
    {"sendrecv_perf", "send_recv"}};

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

void describe(std::string_view line, Run& run) {
  for (const auto& [program, op] : kPrograms) {
    if (line.find(program) != std::string_view::npos) run.op = op;
  }
  if (const auto code = word_after(line, "nccl-library="); !code.empty()) run.release = release_of(code);
  if (const auto version = word_after(line, "NCCL version "); !version.empty())
    run.release = std::string(version.substr(0, version.find('+')));
  const bool rank = line.find(" Rank ") != std::string_view::npos && line.find(" device ") != std::string_view::npos;
  if (!rank) return;
  ++run.ranks;
  run.hosts.insert(word_after(line, " on "));
}

/// Bytes and the out-of-place time in us of a row of sizes: the time stands before its two bandwidths and the count of errors.
std::optional<std::pair<std::int64_t, double>> size_row(std::string_view line) {
  const auto words = words_of(line);
  constexpr std::size_t kLeast = 8;
  if (words.size() < kLeast) return std::nullopt;
  const auto bytes = number(words[0]);
  if (!bytes || !number(words[1]) || *bytes < 0.0) return std::nullopt;
  // size, elements, type, operation and root of some versions, then time, algbw, busbw, errors: twice.
  for (std::size_t i = 3; i + 3 < words.size(); ++i) {
    const bool fractions = words[i].find('.') != std::string_view::npos && words[i + 1].find('.') != std::string_view::npos;
    const auto time = number(words[i]);
    if (fractions && time && number(words[i + 1]) && number(words[i + 2]))
      return std::pair{static_cast<std::int64_t>(*bytes), *time};
  }
  return std::nullopt;
}

std::string precision_of(std::string_view type, const std::string& fallback) {
  if (type == "float") return "fp32";
  if (type == "half") return "fp16";
  if (type == "bfloat16") return "bf16";
  return fallback.empty() ? "fp32" : fallback;
}

}  // namespace

Result<std::vector<Sample>> import_nccl_tests(std::string_view text, const std::string& file, const ForeignDefaults& defaults) {
  Run run;
  std::vector<Sample> samples;
  int number_of_line = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number_of_line;
    if (line.substr(0, 1) == "#" || line.find("NCCL version") != std::string_view::npos) {
      describe(line, run);
      continue;
    }
    const auto row = size_row(line);
    if (!row || row->second <= 0.0) continue;
    Sample sample;
    sample.line = number_of_line;
    sample.device = defaults.device;
    sample.family = "collective";
    sample.pass = "none";
    sample.precision = precision_of(words_of(line)[2], defaults.precision);
    sample.shape = {{"bytes", row->first}};
    constexpr double kMicro = 1e-6;
    sample.time = Seconds(row->second * kMicro);
    samples.push_back(std::move(sample));
  }
  Errors errors;
  if (!defaults.op.empty()) run.op = defaults.op;
  if (run.op.empty())
    errors.push_back({"which collective? the output does not name its program; use --op all_reduce", {file, 0, 0}});
  if (run.ranks == 0) errors.push_back({"how many ranks? there is no line \"#  Rank  0 ... on HOST device 0\"", {file, 0, 0}});
  if (samples.empty())
    errors.push_back({"no row of sizes, such as \"1048576 262144 float sum -1 41.2 25.4 44.5 0 ...\"", {file, 0, 0}});
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  for (Sample& sample : samples) {
    sample.op = run.op;
    sample.library = !defaults.library.empty() ? defaults.library : run.release.empty() ? "" : "NCCL " + run.release;
    sample.shape.emplace_back("ranks", run.ranks);
    sample.shape.emplace_back("nodes", std::max<std::int64_t>(1, static_cast<std::int64_t>(run.hosts.size())));
  }
  return samples;
}

}  // namespace tbdsim::calibrate
