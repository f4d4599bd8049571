// The keys of operators are those that their attributes name; a test writes and reads back every network of the zoo.
#include "model/workload/network_writer.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/workload/network_layer.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

class LayerWriter {
 public:
  explicit LayerWriter(std::string& text) : text_(text) {}

  void number(std::string_view key, std::int64_t value, std::int64_t fallback) {
    if (value != fallback) text_ += fmt::format("{} = {}\n", key, value);
  }
  void flag(std::string_view key, bool value, bool fallback) {
    if (value != fallback) text_ += fmt::format("{} = {}\n", key, value);
  }
  void word(std::string_view key, std::string_view value, std::string_view fallback) {
    if (value != fallback) text_ += fmt::format("{} = {}\n", key, toml_string(value));
  }
  void list(std::string_view key, const std::vector<std::int64_t>& values) {
    if (!values.empty()) text_ += fmt::format("{} = [{}]\n", key, fmt::join(values, ", "));
  }
  /// `key` for both sides where they are equal, else a key for each.
  void pair(const std::string& key, std::int64_t h, std::int64_t w, std::int64_t fallback_h, std::int64_t fallback_w) {
    if (h == fallback_h && w == fallback_w) return;
    if (h == w) return number(key, h, -1);
    number(key + "_h", h, -1);
    number(key + "_w", w, -1);
  }

  // The keys that attributes name.
  void operator()(std::monostate&) {}
  template <class Attributes>
  void operator()(Attributes& attributes) {
    attributes.keys(*this);
  }
  void required(std::string_view key, std::int64_t value, std::int64_t, std::int64_t = 0) {
    text_ += fmt::format("{} = {}\n", key, value);
  }
  void integer(std::string_view key, std::int64_t value, std::int64_t absent, std::int64_t, std::int64_t = 0) {
    number(key, value, absent);
  }
  void pair(const std::string& key, std::int64_t h, std::int64_t w, std::int64_t absent_h, std::int64_t absent_w, std::int64_t) {
    pair(key, h, w, absent_h, absent_w);
  }
  void fraction(std::string_view key, double value, double absent) {
    if (value != absent) text_ += fmt::format("{} = {}\n", key, number_literal(value));
  }
  void word(std::string_view key, ActivationKind value, ActivationKind absent) {
    word(key, activation_word(value), activation_word(absent));
  }
  void word(std::string_view key, PoolKind value, PoolKind absent) { word(key, pool_word(value), pool_word(absent)); }

  static std::string toml_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return quoted + '"';
  }
  /// TOML tells numbers with a fraction by their point.
  static std::string number_literal(double value) {
    std::string literal = fmt::format("{}", value);
    return literal.find_first_of(".e") == std::string::npos ? literal + ".0" : literal;
  }

 private:
  std::string& text_;
};

/// Distinct names: a layer named like one before gets the first number that is free.
std::vector<std::string> distinct_names(const OpGraph& graph) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Op& op : graph.ops) {
    std::string name = op.name;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", op.name, i);
    names.push_back(std::move(name));
  }
  return names;
}

GraphBuilder::Weights weights_of(const OpGraph& graph, const Op& op) {
  using Weights = GraphBuilder::Weights;
  if (op.shares_weights) return Weights::shared;
  if (!info(op.kind).has_parameters() || !op.parameters.empty()) return Weights::own;
  if (!op.frozen.empty()) return Weights::frozen;
  return parameters_of(op.kind, op.attributes, graph.input_shape(op), false).empty() ? Weights::own : Weights::borrowed;
}

std::string_view weights_word(const OpGraph& graph, const Op& op) {
  return GraphBuilder::kWeights[static_cast<std::size_t>(weights_of(graph, op))];
}

std::string header(const OpGraph& graph) {
  std::string text = "schema = 1\n";
  LayerWriter writer(text);
  writer.word("name", graph.name, "");
  writer.word("variant", graph.variant, "file");
  writer.list("input", graph.tensors.front().shape);
  writer.word("input_unit", graph.input_unit, "sample");
  writer.number("batch", graph.default_batch, 32);
  writer.word("optimizer", graph.default_optimizer, "");
  writer.word("part_unit", graph.part_unit, "");
  if (graph.parts_per_sample != 0.0)
    text += fmt::format("parts_per_sample = {}\n", LayerWriter::number_literal(graph.parts_per_sample));
  if (graph.label_elements != 0.0) text += fmt::format("labels = {}\n", LayerWriter::number_literal(graph.label_elements));
  return text;
}

/// Each layer as it stands in a file.
std::vector<std::string> layer_texts(const OpGraph& graph) {
  std::vector<std::string> texts;
  const std::vector<std::string> names = distinct_names(graph);
  const auto name_of = [&](TensorId tensor) { return names[static_cast<std::size_t>(graph.tensor(tensor).producer.value)]; };
  for (std::size_t i = 1; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    std::string& text = texts.emplace_back(fmt::format("\n[[layer]]\nname = {}\nop = {}\n", LayerWriter::toml_string(names[i]),
                                                       LayerWriter::toml_string(info(op.kind).name)));
    LayerWriter writer(text);
    if (op.kind == OpKind::input) {
      writer.list("shape", graph.output_shape(op));
      continue;
    }
    // One input of the layer before needs no key.
    const bool follows =
        op.inputs.size() == 1 && static_cast<std::size_t>(graph.tensor(op.inputs.front()).producer.value) == i - 1;
    if (op.inputs.size() == 1 && !follows) writer.word("input", name_of(op.inputs.front()), "");
    if (op.inputs.size() > 1) {
      std::vector<std::string> inputs;
      for (const TensorId input : op.inputs) inputs.push_back(LayerWriter::toml_string(name_of(input)));
      text += fmt::format("inputs = [{}]\n", fmt::join(inputs, ", "));
    }
    OpAttributes attributes = op.attributes;
    std::visit(writer, attributes);
    writer.flag("inplace", op.inplace, false);
    writer.word("weights", weights_word(graph, op), "own");
    writer.flag("unused", graph.tensor(op.output).consumers.empty() && !is_loss(op.kind), false);
  }
  return texts;
}

constexpr std::string_view kBothCodes =
    "# attention = \"framework\": a layer of stacks that fuse attention alone; \"separate\": of the others alone\n";

std::string of_code(const std::string& layer, AttentionCode code) {
  return fmt::format("{}attention = \"{}\"\n", layer, attention_word(code));
}

}  // namespace

std::string network_toml(const OpGraph& graph) { return fmt::format("{}{}", header(graph), fmt::join(layer_texts(graph), "")); }

std::string network_toml(const OpGraph& separate, const OpGraph& framework) {
  const std::vector<std::string> first = layer_texts(separate), second = layer_texts(framework);
  // Names are distinct within a graph, so texts are. What both have in the same order stands once.
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < second.size(); ++i) places.emplace(second[i], i);
  std::string text = fmt::format("{}{}", first == second ? "" : kBothCodes, header(separate));
  std::size_t written = 0;  // of `second`
  const auto write_up_to = [&](std::size_t end) {
    for (; written < end; ++written) text += of_code(second[written], AttentionCode::framework);
  };
  for (const std::string& layer : first) {
    const auto found = places.find(layer);
    if (found == places.end() || found->second < written) {
      text += of_code(layer, AttentionCode::separate);
      continue;
    }
    write_up_to(found->second);
    text += layer;
    ++written;
  }
  write_up_to(second.size());
  return text;
}

}  // namespace tbdsim
