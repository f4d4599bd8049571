#include "calibrate/decode/sample_table.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>

#include "model/input/csv_reader.hpp"
#include "model/input/file_text.hpp"
#include "model/support/edit_distance.hpp"

namespace tbdsim::calibrate {
namespace {

const std::vector<std::string> kColumns{
    "device",    "family", "op",        "precision",        "pass",    "shape",  "time_s",  "spread_s", "timing",
    "algorithm", "layout", "clock_mhz", "memory_clock_mhz", "power_w", "driver", "library", "date",     "flags",
    "source"};
const std::vector<std::string> kPrecisions{"fp32", "tf32", "fp16", "bf16", "fp8"};
const std::vector<std::string> kPasses{"forward", "backward_data", "backward_weights", "backward", "update", "none"};
const std::vector<std::string> kTimings{"kernel", "call"};

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const SampleFamily& family : sample_families()) names.emplace_back(family.name);
  return names;
}

std::string unknown(std::string_view noun, const std::string& word, const std::vector<std::string>& known) {
  if (const auto near = nearest(word, known)) return fmt::format("unknown {} \"{}\", did you mean \"{}\"?", noun, word, *near);
  return fmt::format("unknown {} \"{}\"; known are {}", noun, word, fmt::join(known, ", "));
}

bool is_text_key(std::string_view key) { return key == "cell" || key == "kind"; }

class Reader {
 public:
  explicit Reader(CsvTable& table) : table_(table) {}

  std::vector<Sample> run() {
    table_.unknown_columns(kColumns);
    for (const auto* name : {"device", "family", "op", "precision", "pass", "shape", "time_s", "timing"})
      required_.push_back(table_.column(name));
    for (const auto* name : {"spread_s", "clock_mhz", "algorithm", "layout", "library", "date", "flags", "source"})
      optional_.push_back(table_.column_if(name));
    if (std::any_of(required_.begin(), required_.end(), [](const auto& c) { return !c; })) return {};
    std::vector<Sample> samples;
    samples.reserve(table_.rows());
    for (std::size_t row = 0; row < table_.rows(); ++row) samples.push_back(read(row));
    return samples;
  }

 private:
  const std::string& text(std::size_t row, std::size_t which) const { return table_.text(row, *required_[which]); }
  std::string optional_text(std::size_t row, std::size_t which) const {
    return optional_[which] ? table_.text(row, *optional_[which]) : std::string();
  }
  std::optional<double> optional_number(std::size_t row, std::size_t which) {
    if (!optional_[which] || table_.text(row, *optional_[which]).empty()) return std::nullopt;
    return table_.number(row, *optional_[which]);
  }
  void one_of(std::size_t row, std::size_t which, std::string_view noun, const std::vector<std::string>& known) {
    const std::string& word = text(row, which);
    if (std::find(known.begin(), known.end(), word) == known.end())
      table_.problem(row, *required_[which], unknown(noun, word, known));
  }

  Sample read(std::size_t row) {
    Sample sample;
    sample.device = text(row, 0);
    sample.family = text(row, 1);
    sample.op = text(row, 2);
    sample.precision = text(row, 3);
    sample.pass = text(row, 4);
    sample.line = table_.where(row).line;
    if (sample.device.empty()) table_.problem(row, *required_[0], "expected a device such as \"v100-sxm2-16gb\", got nothing");
    one_of(row, 3, "precision", kPrecisions);
    one_of(row, 4, "pass", kPasses);
    one_of(row, 7, "timing", kTimings);
    sample.call_timing = text(row, 7) == "call";
    read_shape(row, sample);
    if (const auto time = table_.number(row, *required_[6])) {
      if (*time > 0.0)
        sample.time = Seconds(*time);
      else
        table_.problem(row, *required_[6], fmt::format("expected a time greater than 0 s, got {}", text(row, 6)));
    }
    if (const auto spread = optional_number(row, 0)) sample.spread = Seconds(*spread);
    if (const auto clock = optional_number(row, 1)) sample.clock = Hertz(*clock * 1e6);
    sample.algorithm = optional_text(row, 2);
    sample.layout = optional_text(row, 3);
    sample.library = optional_text(row, 4);
    sample.date = optional_text(row, 5);
    sample.flags = optional_text(row, 6);
    sample.source = optional_text(row, 7);
    return sample;
  }

  void read_shape(std::size_t row, Sample& sample) {
    const auto& families = sample_families();
    const auto family =
        std::find_if(families.begin(), families.end(), [&](const SampleFamily& f) { return f.name == sample.family; });
    if (family == families.end()) {
      table_.problem(row, *required_[1], unknown("family", sample.family, family_names()));
      return;
    }
    std::string_view rest = text(row, 5);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      read_key(row, rest.substr(0, end), *family, sample);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    for (const std::string_view key : family->keys) {
      if (is_text_key(key) ? sample.kind.empty() : sample.shape.find(key) == sample.shape.end())
        table_.problem(row, *required_[5], fmt::format("missing key \"{}\" of family {}", key, family->name));
    }
  }

  void read_key(std::size_t row, std::string_view pair, const SampleFamily& family, Sample& sample) {
    const std::size_t equals = pair.find('=');
    const std::string key(pair.substr(0, std::min(equals, pair.size())));
    const std::string value(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1));
    if (std::find(family.keys.begin(), family.keys.end(), key) == family.keys.end()) {
      table_.problem(row, *required_[5], unknown("shape key", key, {family.keys.begin(), family.keys.end()}));
      return;
    }
    if (is_text_key(key)) {
      sample.kind = value;
      return;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0) {
      table_.problem(row, *required_[5], fmt::format("{}: expected a whole number, got \"{}\"", key, value));
      number = 1;
    }
    if (!sample.shape.emplace(key, number).second)
      table_.problem(row, *required_[5], fmt::format("key \"{}\" appears twice", key));
  }

  CsvTable& table_;
  std::vector<std::optional<std::size_t>> required_, optional_;
};

}  // namespace

const std::vector<SampleFamily>& sample_families() {
  static const std::vector<SampleFamily> kFamilies{
      {"gemm", {"b", "m", "n", "k", "ta", "tb"}},
      {"conv", {"n", "c", "h", "w", "k", "r", "s", "stride_h", "stride_w", "pad_h", "pad_w", "dilation", "groups"}},
      {"rnn", {"cell", "input", "hidden", "batch", "steps", "layers", "directions"}},
      {"attention", {"b", "heads", "sq", "sk", "d", "causal", "fused"}},
      {"softmax", {"rows", "cols"}},
      {"layer_norm", {"rows", "cols"}},
      {"batch_norm", {"n", "c", "hw"}},
      {"pool", {"n", "c", "h", "w", "r", "s", "stride", "pad", "kind"}},
      {"elementwise", {"elements", "inputs", "outputs"}},
      {"dropout", {"elements", "inputs", "outputs"}},
      {"embedding", {"rows", "width", "lookups"}},
      {"optimizer", {"elements", "states", "tensors"}},
      {"copy", {"bytes", "kind"}},
      {"collective", {"bytes", "ranks", "nodes"}},
  };
  return kFamilies;
}

Result<std::vector<Sample>> parse_samples(std::string text, const std::string& name) {
  auto table = CsvTable::parse(std::move(text), name);
  if (!table) return tl::make_unexpected(table.error());
  if (table->rows() == 0) return fail(fmt::format("{}: no samples below the header", name));
  std::vector<Sample> samples = Reader(*table).run();
  if (!table->errors().empty()) return tl::make_unexpected(table->errors());
  return samples;
}

Result<std::vector<Sample>> read_samples(const std::string& path) {
  auto text = read_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return parse_samples(std::move(*text), path);
}

}  // namespace tbdsim::calibrate
