#include "calibrate/collect/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "calibrate/collect/convolution_algorithm.hpp"
#include "calibrate/decode/sample_writer.hpp"
#include "calibrate/decode/shape_text.hpp"
#include "model/input/file_text.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim::calibrate {
namespace {

using Block = std::vector<Measurement>;

/// The words of a list, each of which must be known.
std::vector<std::string> known_words(TomlTable& table, std::string_view name, std::string_view noun,
                                     std::span<const std::string_view> known, std::string_view fallback) {
  if (!table.has(name) && !fallback.empty()) {
    table.mark(name);
    return {std::string(fallback)};
  }
  std::vector<std::string> words = table.texts_or_empty(name);
  if (words.empty()) table.problem(name, fmt::format("expected at least one {} such as [\"{}\"]", noun, known.front()));
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      table.problem(name, unknown_word(noun, word, {known.begin(), known.end()}));
  }
  return words;
}

/// Algorithms that the plan names, else one empty word. Each must be one of some pass of the block.
std::vector<std::string> algorithms_of(TomlTable& table, const std::string& family, const std::vector<std::string>& passes) {
  std::vector<std::string> words = table.texts_or_empty("algorithm");
  if (words.empty()) return {""};
  if (family != "conv") table.problem("algorithm", "only convolutions have a choice of algorithm");
  std::vector<std::string> known;
  for (const std::string& pass : passes) {
    const auto of_pass = convolution_algorithms(pass);
    known.insert(known.end(), of_pass.begin(), of_pass.end());
  }
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      table.problem("algorithm", unknown_word("algorithm", word, known));
  }
  return words;
}

bool offers(std::string_view pass, const std::string& algorithm) {
  const auto offered = convolution_algorithms(pass);
  return algorithm.empty() || std::find(offered.begin(), offered.end(), algorithm) != offered.end();
}

Block read_block(TomlTable table) {
  const std::string family_name = table.text("family");
  const SampleFamily* const family = find_family(family_name);
  if (family == nullptr && !family_name.empty()) {
    std::vector<std::string> names;
    for (const SampleFamily& f : sample_families()) names.emplace_back(f.name);
    table.problem("family", unknown_word("family", family_name, names));
  }
  const std::string op = table.text_or("op", family_name);
  const auto precisions = known_words(table, "precision", "precision", sample_precisions(), "fp32");
  const auto passes = known_words(table, "pass", "pass", sample_passes(), "forward");
  constexpr std::array<std::string_view, 2> kCaches{"cold", "hot"};
  const auto caches = known_words(table, "cache", "cache state", kCaches, "cold");
  const auto algorithms = algorithms_of(table, family_name, passes);
  const std::vector<std::string> shapes = table.texts_or_empty("shape");
  if (shapes.empty()) table.problem("shape", "expected at least one shape such as [\"rows=1024;cols=1024\"]");
  Block block;
  for (const std::string& shape : shapes) {
    Measurement m;
    m.sample.family = family_name;
    m.sample.op = op;
    if (family == nullptr) continue;
    const std::vector<std::string> problems = read_shape(shape, *family, m.sample);
    for (const std::string& message : problems) table.problem("shape", message);
    m.shape_text = problems.empty() ? shape_text(m.sample) : shape;
    for (const std::string& precision : precisions) {
      for (const std::string& pass : passes) {
        for (const std::string& algorithm : algorithms) {
          if (!offers(pass, algorithm)) continue;
          for (const std::string& cache : caches) {
            m.sample.precision = precision;
            m.sample.pass = pass;
            m.sample.algorithm = algorithm;
            m.cold = cache == "cold";
            block.push_back(m);
          }
        }
      }
    }
  }
  table.finish();
  return block;
}

void read_stop(TomlTable table, StoppingRule& rule) {
  constexpr std::int64_t kMost = 1'000'000;
  rule.relative_error = table.number_or("relative_error", rule.relative_error, kPositive);
  rule.least = static_cast<int>(table.integer_or("least", rule.least, 3, kMost));
  rule.most = static_cast<int>(table.integer_or("most", rule.most, rule.least, kMost));
  rule.longest = table.quantity_if<Seconds>("longest").value_or(rule.longest);
  table.finish();
}

/// One of each block in turn.
std::vector<Measurement> interleaved(const std::vector<Block>& blocks) {
  std::vector<Measurement> result;
  std::size_t longest = 0;
  for (const Block& block : blocks) longest = std::max(longest, block.size());
  for (std::size_t i = 0; i < longest; ++i) {
    for (const Block& block : blocks) {
      if (i < block.size()) result.push_back(block[i]);
    }
  }
  return result;
}

}  // namespace

std::string key(const Measurement& measurement) {
  const Sample& s = measurement.sample;
  return fmt::format("{} {} {} {} {} {}{}{}", s.family, s.op, s.precision, s.pass, measurement.shape_text,
                     measurement.cold ? "cold" : "hot", s.algorithm.empty() ? "" : " ", s.algorithm);
}

Result<Plan> parse_plan(std::string text, const std::string& name) {
  auto file = TomlFile::parse(std::move(text), name);
  if (!file) return tl::make_unexpected(file.error());
  TomlTable root = file->root();
  Plan plan;
  plan.name = root.text("name");
  plan.budget = root.quantity<Seconds>("budget");
  if (auto stop = root.table_if("stop")) read_stop(*stop, plan.stop);
  std::vector<Block> blocks;
  std::set<std::string> seen;
  for (const TomlTable& table : root.tables_or_empty("measure")) {
    blocks.push_back(read_block(table));
    TomlTable block = table;
    for (const Measurement& m : blocks.back()) {
      if (!seen.insert(key(m)).second) block.problem("shape", fmt::format("{} is measured twice", key(m)));
    }
  }
  if (blocks.empty()) root.problem("", "expected at least one [[measure]]");
  root.finish();
  if (Errors errors = file->errors(); !errors.empty()) return tl::make_unexpected(std::move(errors));
  plan.measurements = interleaved(blocks);
  return plan;
}

Result<Plan> read_plan(const std::string& path) {
  return read_file(path).and_then([&](std::string text) { return parse_plan(std::move(text), path); });
}

}  // namespace tbdsim::calibrate
