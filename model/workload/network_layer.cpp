#include "model/workload/network_layer.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

struct ActivationName {
  std::string_view name;
  ActivationKind kind;
};
constexpr std::array kActivations = {
    ActivationName{"relu", ActivationKind::relu},
    ActivationName{"relu6", ActivationKind::relu6},
    ActivationName{"tanh", ActivationKind::tanh},
    ActivationName{"sigmoid", ActivationKind::sigmoid},
    ActivationName{"gelu", ActivationKind::gelu},
    ActivationName{"hardswish", ActivationKind::hardswish},
    ActivationName{"hardsigmoid", ActivationKind::hardsigmoid},
    ActivationName{"silu", ActivationKind::silu},
    ActivationName{"power", ActivationKind::power},
};

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; known are: {}", fmt::join(known, ", "));
}

std::optional<OpKind> read_kind(TomlTable& table) {
  const std::string word = table.text("op");
  std::vector<std::string> known;
  for (const OperatorRow& row : op_kinds()) {
    if (!row.in_files) continue;
    if (row.name == word) return row.kind;
    known.emplace_back(row.name);
  }
  if (!word.empty()) table.problem("op", fmt::format("unknown operator \"{}\"{}", word, suggestion(word, known)));
  return std::nullopt;
}

/// Reads the keys that attributes name.
class KeyReader {
 public:
  explicit KeyReader(TomlTable& table) : table_(table) {}

  void operator()(std::monostate&) {}
  template <class Attributes>
  void operator()(Attributes& attributes) {
    attributes.keys(*this);
  }

  void required(const std::string& key, std::int64_t& value, std::int64_t low, std::int64_t high = kMostExtent) {
    value = table_.integer(key, low, high);
  }
  void integer(const std::string& key, std::int64_t& value, std::int64_t absent, std::int64_t low,
               std::int64_t high = kMostExtent) {
    value = table_.integer_or(key, absent, low, high);
  }
  /// `key = n` for both sides, or `key_h` and `key_w`.
  void pair(const std::string& key, std::int64_t& h, std::int64_t& w, std::int64_t absent_h, std::int64_t absent_w,
            std::int64_t low) {
    constexpr std::int64_t kAbsent = -1;
    const std::int64_t both = table_.integer_or(key, kAbsent, low, kMostExtent);
    h = table_.integer_or(key + "_h", both == kAbsent ? absent_h : both, low, kMostExtent);
    w = table_.integer_or(key + "_w", both == kAbsent ? absent_w : both, low, kMostExtent);
  }
  void flag(const std::string& key, bool& value, bool absent) { value = table_.boolean_or(key, absent); }
  void fraction(const std::string& key, double& value, double absent) { value = table_.number_or(key, absent, {0.0, 1.0}); }
  void list(const std::string& key, std::vector<std::int64_t>& values) { values = table_.integers_or_empty(key); }
  void word(const std::string& key, ActivationKind& value, ActivationKind absent) {
    value = read_activation(table_, key, std::string(activation_word(absent)));
  }
  void word(const std::string& key, PoolKind& value, PoolKind absent) {
    const std::string word = table_.text_or(key, std::string(pool_word(absent)));
    if (word.empty()) return;
    for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
      if (pool_word(kind) != word) continue;
      value = kind;
      return;
    }
    table_.problem(key, fmt::format("unknown pool \"{}\"{}", word, suggestion(word, {"max", "average"})));
  }

 private:
  TomlTable& table_;
};

OpAttributes read_attributes(const OperatorRow& row, TomlTable& table) {
  if (row.attributes == nullptr) return std::monostate{};
  OpAttributes attributes = row.attributes();
  std::visit(KeyReader(table), attributes);
  return attributes;
}

void read_inputs(TomlTable& table, LayerText& layer) {
  if (table.has("input")) {
    layer.input_key = "input";
    layer.input_names = {table.text("input")};
  }
  if (table.has("inputs")) {
    if (!layer.input_key.empty()) table.problem("inputs", "give either input or inputs, not both");
    layer.input_key = "inputs";
    layer.input_names = table.texts_or_empty("inputs");
  }
}

GraphBuilder::Weights read_weights(TomlTable& table) {
  using Weights = GraphBuilder::Weights;
  return word_or<Weights>(table, "weights", GraphBuilder::kWeights, Weights::own, "kind of weights");
}

}  // namespace

Shape read_dimensions(TomlTable& table, const std::string& key) {
  constexpr double kMostElements = 1e12;
  Shape shape = table.integers_or_empty(key);
  bool fits = !shape.empty() && shape.size() <= 3;
  for (const std::int64_t extent : shape) fits = fits && extent >= 1 && extent <= kMostExtent;
  if (!fits)
    table.problem(key, fmt::format("expected one to three dimensions of 1 to {}, such as [3, 224, 224] (channels, height, width)",
                                   kMostExtent));
  if (fits && static_cast<double>(elements(shape)) > kMostElements) {
    table.problem(key, fmt::format("expected at most {:g} numbers in all", kMostElements));
    fits = false;
  }
  return fits ? shape : Shape{};
}

std::string_view attention_word(AttentionCode code) { return code == AttentionCode::framework ? "framework" : "separate"; }

std::optional<AttentionCode> read_attention(TomlTable& table) {
  const std::string word = table.text_or("attention", "");
  for (const AttentionCode code : {AttentionCode::framework, AttentionCode::separate})
    if (attention_word(code) == word) return code;
  if (!word.empty()) table.problem("attention", fmt::format("expected \"framework\" or \"separate\", got {}", quoted(word)));
  return std::nullopt;
}

std::string_view activation_word(ActivationKind kind) {
  for (const ActivationName& row : kActivations)
    if (row.kind == kind) return row.name;
  return kActivations.front().name;
}

std::string_view pool_word(PoolKind kind) { return kind == PoolKind::average ? "average" : "max"; }

ActivationKind read_activation(TomlTable& table, const std::string& key, const std::string& fallback) {
  const std::string word = table.text_or(key, fallback);
  std::vector<std::string> known;
  for (const ActivationName& row : kActivations) {
    if (row.name == word) return row.kind;
    known.emplace_back(row.name);
  }
  if (!word.empty()) table.problem(key, fmt::format("unknown activation \"{}\"{}", word, suggestion(word, known)));
  return ActivationKind::relu;
}

LayerText read_layer(TomlTable table) {
  LayerText layer{table, table.text("name"), read_kind(table), {}, {}, {}};
  layer.attention = read_attention(table);
  const bool another_input = layer.kind == OpKind::input;
  if (another_input)
    layer.shape = read_dimensions(table, "shape");
  else
    read_inputs(table, layer);
  if (!layer.kind) {
    for (const std::string& key : table.keys()) table.mark(key);  // which keys are right depends on the operator
    return layer;
  }
  const OperatorRow& row = info(*layer.kind);
  layer.attributes = read_attributes(row, table);
  if (row.may_overwrite) layer.inplace = table.boolean_or("inplace", false);
  if (row.has_parameters()) layer.weights = read_weights(table);
  if (!row.loss) layer.unused = table.boolean_or("unused", false);
  table.finish();
  return layer;
}

}  // namespace tbdsim
