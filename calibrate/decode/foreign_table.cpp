#include "calibrate/decode/foreign_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "calibrate/decode/shape_text.hpp"
#include "calibrate/decode/text_lines.hpp"
#include "model/input/csv_reader.hpp"
#include "model/support/quote.hpp"
#include "model/trace/work_family.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::array<std::string_view, 4> kNames{"products", "nccl-tests", "Nsight Systems", "PyTorch profiler"};

struct TimeColumn {
  std::string_view name;
  double seconds;
};
constexpr TimeColumn kTimes[] = {{"ms", 1e-3}, {"time_ms", 1e-3}, {"us", 1e-6}, {"time_us", 1e-6}, {"s", 1.0}, {"time_s", 1.0}};

/// Names under which tables list what the samples call otherwise.
constexpr std::pair<std::string_view, std::string_view> kPrecisions[] = {
    {"float32", "fp32"},  {"float", "fp32"}, {"float16", "fp16"},      {"half", "fp16"},
    {"bfloat16", "bf16"}, {"float8", "fp8"}, {"float8_e4m3fn", "fp8"}, {"e4m3", "fp8"}};

std::string precision_of(const std::string& text) {
  for (const auto& [other, own] : kPrecisions) {
    if (text == other) return std::string(own);
  }
  return text;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Reads one table of products.
class ProductReader {
 public:
  ProductReader(CsvTable& table, const ForeignDefaults& defaults) : table_(table), defaults_(defaults) {}

  std::vector<Sample> run() {
    m_ = table_.column("m");
    n_ = table_.column("n");
    k_ = table_.column("k");
    b_ = either("b", "batch");
    precision_ = either("precision", "dtype");
    find_time();
    table_.unknown_columns({"m", "n", "k", "b", "batch", "ta", "tb", "precision", "dtype", "device", "library", "ms", "time_ms",
                            "us", "time_us", "s", "time_s"});
    std::vector<Sample> samples;
    if (!m_ || !n_ || !k_ || !time_) return samples;
    for (row_ = 0; row_ < table_.rows(); ++row_) samples.push_back(read());
    return samples;
  }
  [[nodiscard]] const Errors& errors() const { return errors_; }

 private:
  /// The column of one of two names for the same.
  std::optional<std::size_t> either(std::string_view name, std::string_view other) {
    const auto first = table_.column_if(name), second = table_.column_if(other);
    if (first && second)
      errors_.push_back({fmt::format("two columns for the same, {} and {}: leave one", name, other), {table_.name(), 1, 1}});
    return first ? first : second;
  }

  void find_time() {
    std::vector<std::string> found;
    for (const TimeColumn& column : kTimes) {
      if (!table_.column_if(column.name)) continue;
      time_ = table_.column_if(column.name);
      scale_ = column.seconds;
      found.emplace_back(column.name);
    }
    if (found.empty())
      errors_.push_back({"no column of times: expected one of ms, time_ms, us, time_us, s, time_s", {table_.name(), 1, 1}});
    if (found.size() > 1)
      errors_.push_back({fmt::format("two columns of times, {}: leave one", fmt::join(found, " and ")), {table_.name(), 1, 1}});
  }

  std::int64_t size(std::optional<std::size_t> column, std::int64_t fallback, std::int64_t least) {
    if (!column) return fallback;
    const auto value = table_.number(row_, *column);
    if (!value) return fallback;
    const auto whole = static_cast<std::int64_t>(*value);
    if (static_cast<double>(whole) == *value && whole >= least) return whole;
    table_.problem(row_, *column,
                   fmt::format("expected a whole number of at least {}, got {}", least, quoted(table_.text(row_, *column))));
    return fallback;
  }

  std::string word(std::string_view column, const std::string& fallback) const {
    const auto at = table_.column_if(column);
    return at && !table_.text(row_, *at).empty() ? table_.text(row_, *at) : fallback;
  }

  Sample read() {
    Sample sample;
    sample.line = table_.where(row_).line;
    sample.family = "gemm";
    sample.op = "matmul";
    sample.pass = "forward";
    sample.device = word("device", defaults_.device);
    sample.library = word("library", defaults_.library);
    sample.call_timing = defaults_.call_timing;
    sample.precision = precision_of(precision_ ? table_.text(row_, *precision_) : defaults_.precision);
    const auto known = sample_precisions();
    if (precision_ && std::find(known.begin(), known.end(), sample.precision) == known.end())
      table_.problem(row_, *precision_, unknown_word("precision", sample.precision, {known.begin(), known.end()}));
    const std::int64_t tb = defaults_.transposed ? 1 : 0;
    sample.shape = {{"b", size(b_, 1, 1)},
                    {"m", size(m_, 1, 1)},
                    {"n", size(n_, 1, 1)},
                    {"k", size(k_, 1, 1)},
                    {"ta", size(table_.column_if("ta"), 0, 0)},
                    {"tb", size(table_.column_if("tb"), tb, 0)}};
    const auto time = table_.number(row_, *time_);
    if (time && *time <= 0.0)
      table_.problem(row_, *time_, fmt::format("expected a time above 0, got {}", quoted(table_.text(row_, *time_))));
    sample.time = Seconds(time.value_or(1.0) * scale_);
    return sample;
  }

  CsvTable& table_;
  const ForeignDefaults& defaults_;
  std::optional<std::size_t> m_, n_, k_, b_, precision_, time_;
  double scale_ = 1.0;
  std::size_t row_ = 0;
  Errors errors_;
};

}  // namespace

std::string_view name(ForeignFormat format) { return kNames[static_cast<std::size_t>(format)]; }

namespace {

/// Whether a line is the header of a table of products whose columns `separator` parts.
bool heads_products(std::string_view line, char separator) {
  std::set<std::string_view> columns;
  for (std::string_view word : split(line, separator)) {
    if (word.size() > 2 && word.front() == '"' && word.back() == '"') word = word.substr(1, word.size() - 2);
    columns.insert(word);
  }
  return columns.count("m") != 0 && columns.count("n") != 0 && columns.count("k") != 0;
}

constexpr std::string_view kOtherSeparators = ";\t";  // that spreadsheets write

}  // namespace

std::optional<ForeignFormat> format_of(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  for (const std::string_view line : lines_of(text)) {
    if (contains(line, "Total Time") && contains(line, "Instances") && contains(line, "Name"))
      return ForeignFormat::nsight_systems;
    if (contains(line, "Self CUDA") && contains(line, "# of Calls")) return ForeignFormat::pytorch_profiler;
    if (contains(line, "nccl-tests") || contains(line, "# nThread") || (contains(line, "algbw") && contains(line, "busbw")))
      return ForeignFormat::nccl_tests;
    if (heads_products(line, ',')) return ForeignFormat::products;
    for (const char separator : kOtherSeparators)
      if (heads_products(line, separator)) return ForeignFormat::products;
  }
  return std::nullopt;
}

Result<std::vector<Sample>> import_products(std::string text, const std::string& file, const ForeignDefaults& defaults) {
  for (const char separator : kOtherSeparators) {
    const auto lines = lines_of(text);
    if (std::none_of(lines.begin(), lines.end(), [&](std::string_view line) { return heads_products(line, separator); }))
      continue;
    return fail(fmt::format("{}: columns are parted by {}: write commas between them, and points in decimals", file,
                            separator == ';' ? "semicolons" : "tabs"));
  }
  auto table = CsvTable::parse(std::move(text), file);
  if (!table) return tl::make_unexpected(std::move(table.error()));
  ProductReader reader(*table, defaults);
  std::vector<Sample> samples = reader.run();
  Errors errors = reader.errors();
  const Errors more = table->errors();
  errors.insert(errors.end(), more.begin(), more.end());
  if (errors.empty() && samples.empty()) errors.push_back({"no product below the header", {file, 0, 0}});
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return samples;
}

std::string_view kernel_kind(std::string_view kernel) {
  using trace::WorkFamily;
  switch (trace::family_of_name(kernel)) {
    case WorkFamily::copy:
      return "copies";
    case WorkFamily::exchange:
      return "exchange";
    case WorkFamily::attention:
      return "attention";
    case WorkFamily::convolution:
    case WorkFamily::product:
    case WorkFamily::recurrent:
      return "products";
    default:
      return "memory";
  }
}

}  // namespace tbdsim::calibrate
