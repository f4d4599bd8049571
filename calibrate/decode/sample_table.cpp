#include "calibrate/decode/sample_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include "calibrate/decode/shape_text.hpp"
#include "model/input/csv_reader.hpp"
#include "model/input/file_text.hpp"

namespace tbdsim::calibrate {
namespace {

enum Column : std::size_t {
  kDevice,
  kFamily,
  kOp,
  kPrecision,
  kPass,
  kShape,
  kTime,
  kSpread,
  kTiming,
  kAlgorithm,
  kLayout,
  kClock,
  kMemoryClock,
  kPower,
  kDriver,
  kLibrary,
  kDate,
  kFlags,
  kSource,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kColumnNames{
    "device",    "family", "op",        "precision",        "pass",    "shape",  "time_s",  "spread_s", "timing",
    "algorithm", "layout", "clock_mhz", "memory_clock_mhz", "power_w", "driver", "library", "date",     "flags",
    "source"};
constexpr std::array kRequired{kDevice, kFamily, kOp, kPrecision, kPass, kShape, kTime, kTiming};

constexpr std::array<std::string_view, 5> kPrecisions{"fp32", "tf32", "fp16", "bf16", "fp8"};
constexpr std::array<std::string_view, 6> kPasses{"forward", "backward_data", "backward_weights", "backward", "update", "none"};
constexpr std::array<std::string_view, 2> kTimings{"kernel", "call"};

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const SampleFamily& family : sample_families()) names.emplace_back(family.name);
  return names;
}

std::vector<std::string_view> words(std::string_view rest) {
  std::vector<std::string_view> result;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    result.push_back(word);
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return result;
}

std::optional<double> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || stopped != text.data() + text.size() || number < 0) return std::nullopt;
  return static_cast<double>(number);
}

std::optional<double> number(std::string_view text) {
  double value = 0.0;
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stopped != text.data() + text.size() || !std::isfinite(value) || value < 0.0) return std::nullopt;
  return value;
}

class Reader {
 public:
  explicit Reader(CsvTable& table) : table_(table) {}

  std::vector<Sample> run() {
    bool complete = true;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const bool required = std::find(kRequired.begin(), kRequired.end(), i) != kRequired.end();
      at_[i] = required ? table_.column(kColumnNames[i]) : table_.column_if(kColumnNames[i]);
      complete = complete && (at_[i] || !required);
    }
    table_.unknown_columns({kColumnNames.begin(), kColumnNames.end()});
    std::vector<Sample> samples;
    if (!complete) return samples;
    samples.reserve(table_.rows());
    for (row_ = 0; row_ < table_.rows(); ++row_) samples.push_back(read());
    return samples;
  }

 private:
  std::string text(Column column) const { return at_[column] ? table_.text(row_, *at_[column]) : std::string(); }
  void problem(Column column, const std::string& message) { table_.problem(row_, *at_[column], message); }

  std::string named(Column column, std::string_view example) {
    std::string word = text(column);
    if (word.empty()) problem(column, fmt::format("expected a name such as \"{}\", got an empty field", example));
    return word;
  }

  template <std::size_t N>
  std::string one_of(Column column, std::string_view noun, const std::array<std::string_view, N>& known) {
    std::string word = text(column);
    if (std::find(known.begin(), known.end(), word) == known.end())
      problem(column, unknown_word(noun, word, {known.begin(), known.end()}));
    return word;
  }

  /// A number above zero, or zero where it may be.
  std::optional<double> amount(Column column, std::string_view noun, bool may_be_zero = false) {
    const std::optional<double> value = table_.number(row_, *at_[column]);
    if (!value || *value > 0.0 || (may_be_zero && *value == 0.0)) return value;
    problem(column, fmt::format("expected {} {} 0, got \"{}\"", noun, may_be_zero ? "of at least" : "above", text(column)));
    return std::nullopt;
  }
  std::optional<double> optional_amount(Column column, std::string_view noun, bool may_be_zero = false) {
    if (!at_[column] || table_.text(row_, *at_[column]).empty()) return std::nullopt;
    return amount(column, noun, may_be_zero);
  }

  Sample read() {
    constexpr double kMega = 1e6;
    Sample sample;
    sample.line = table_.where(row_).line;
    sample.device = named(kDevice, "v100-sxm2-16gb");
    sample.op = named(kOp, "matmul");
    sample.precision = one_of(kPrecision, "precision", kPrecisions);
    sample.pass = one_of(kPass, "pass", kPasses);
    sample.call_timing = one_of(kTiming, "timing", kTimings) == "call";
    read_family(sample);
    sample.time = Seconds(amount(kTime, "a time").value_or(0.0));
    if (const auto spread = optional_amount(kSpread, "a spread", true)) sample.spread = Seconds(*spread);
    if (const auto clock = optional_amount(kClock, "a clock")) sample.clock = Hertz(*clock * kMega);
    if (const auto clock = optional_amount(kMemoryClock, "a clock")) sample.memory_clock = Hertz(*clock * kMega);
    if (const auto power = optional_amount(kPower, "a power")) sample.power = Watts(*power);
    sample.algorithm = text(kAlgorithm);
    sample.layout = text(kLayout);
    sample.driver = text(kDriver);
    sample.library = text(kLibrary);
    sample.date = text(kDate);
    read_flags(sample);
    sample.source = text(kSource);
    return sample;
  }

  void read_flags(Sample& sample) {
    constexpr std::string_view kCounted = "shapes_before";
    sample.flags = text(kFlags);
    for (const std::string_view word : words(sample.flags)) {
      if (word.substr(0, kCounted.size()) != kCounted) continue;
      const std::string_view rest = word.substr(kCounted.size());
      if (rest.substr(0, 1) != "=" || !whole_number(rest.substr(1)))
        problem(kFlags, fmt::format("expected a count such as \"{}=120\", got \"{}\"", kCounted, word));
    }
  }

  void read_family(Sample& sample) {
    sample.family = text(kFamily);
    const SampleFamily* const family = find_family(sample.family);
    if (family == nullptr) {
      problem(kFamily, unknown_word("family", sample.family, family_names()));
      return;
    }
    for (const std::string& message : read_shape(table_.text(row_, *at_[kShape]), *family, sample)) problem(kShape, message);
  }

  CsvTable& table_;
  std::array<std::optional<std::size_t>, kColumns> at_{};
  std::size_t row_ = 0;
};

}  // namespace

std::span<const std::string_view> sample_precisions() { return kPrecisions; }
std::span<const std::string_view> sample_passes() { return kPasses; }
std::span<const std::string_view> sample_columns() { return kColumnNames; }

double Sample::at(std::string_view key) const {
  const auto found = std::find_if(shape.begin(), shape.end(), [&](const auto& entry) { return entry.first == key; });
  assert(found != shape.end());
  return static_cast<double>(found->second);
}

bool Sample::flagged(std::string_view flag) const {
  const std::vector<std::string_view> all = words(flags);
  return std::find(all.begin(), all.end(), flag) != all.end();
}

std::optional<double> Sample::flag_value(std::string_view flag) const {
  for (const std::string_view word : words(flags)) {
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && word.substr(0, equals) == flag) return number(word.substr(equals + 1));
  }
  return std::nullopt;
}

Result<std::vector<Sample>> parse_samples(std::string text, const std::string& name) {
  auto table = CsvTable::parse(std::move(text), name);
  if (!table) return tl::make_unexpected(std::move(table.error()));
  std::vector<Sample> samples = Reader(*table).run();
  Errors errors = table->errors();
  if (errors.empty() && samples.empty()) errors.push_back({"no sample below the header", {name, 0, 0}});
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return samples;
}

Result<std::vector<Sample>> read_samples(const std::string& path) {
  return read_file(path).and_then([&](std::string text) { return parse_samples(std::move(text), path); });
}

}  // namespace tbdsim::calibrate
