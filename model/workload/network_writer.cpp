// The keys are those of network_layer.cpp, with the same defaults; a test writes and reads back every network of the zoo.
#include "model/workload/network_writer.hpp"

#include <fmt/format.h>

#include <set>
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

  void operator()(const std::monostate&) {}
  void operator()(const ConvolutionAttributes& a) {
    number("channels", a.out_channels, 0);
    pair("kernel", a.kernel_h, a.kernel_w, 1, 1);
    pair("stride", a.stride_h, a.stride_w, 1, 1);
    pair("pad", a.pad_h, a.pad_w, 0, 0);
    number("dilation", a.dilation, 1);
    number("groups", a.groups, 1);
    flag("bias", a.bias, true);
  }
  void operator()(const LinearAttributes& a) {
    number("features", a.out_features, 0);
    flag("bias", a.bias, true);
    flag("tied", a.tied, false);
  }
  void operator()(const BatchNormAttributes& a) { flag("scale", a.scale, true); }
  void operator()(const ActivationAttributes& a) { word("kind", activation_word(a.kind), "relu"); }
  void operator()(const PoolAttributes& a) {
    word("kind", a.kind == PoolKind::average ? "average" : "max", "max");
    pair("kernel", a.kernel_h, a.kernel_w, 2, 2);
    pair("stride", a.stride_h, a.stride_w, a.kernel_h, a.kernel_w);
    pair("pad", a.pad_h, a.pad_w, 0, 0);
    flag("ceil_mode", a.ceil_mode, false);
  }
  void operator()(const DropoutAttributes& a) {
    if (a.probability != 0.5) text_ += fmt::format("probability = {}\n", number_literal(a.probability));
  }
  void operator()(const LocalResponseNormAttributes& a) { number("size", a.size, 5); }
  void operator()(const SliceAttributes& a) {
    number("axis", a.axis, 0);
    number("begin", a.begin, -1);
    number("end", a.end, -1);
  }
  void operator()(const PadAttributes& a) {
    number("top", a.top, 0);
    number("bottom", a.bottom, 0);
    number("left", a.left, 0);
    number("right", a.right, 0);
  }
  void operator()(const ShuffleAttributes& a) { number("groups", a.groups, 2); }
  void operator()(const EmbeddingAttributes& a) {
    number("rows", a.rows, 0);
    number("width", a.width, 0);
    flag("tied", a.tied, false);
  }
  void operator()(const RecurrentAttributes& a) {
    number("hidden", a.hidden, 0);
    number("layers", a.layers, 1);
    flag("bidirectional", a.bidirectional, false);
    flag("bias", a.bias, true);
    flag("state_given", a.state_given, false);
  }
  void operator()(const MatmulAttributes& a) { flag("transpose_b", a.transpose_b, false); }
  void operator()(const MultiplyAttributes& a) { flag("keeps_scalar", a.keeps_scalar, false); }
  void operator()(const MaskAttributes& a) { flag("selects", a.selects, false); }
  void operator()(const ConcatAttributes& a) { number("axis", a.axis, -1); }
  void operator()(const ReshapeAttributes& a) { list("to", a.to); }
  void operator()(const TransposeAttributes& a) { list("order", a.order); }
  void operator()(const LearnedBiasAttributes& a) {
    number("rows", a.rows, 0);
    flag("tied", a.tied, false);
  }
  void operator()(const GatherAttributes& a) { number("rows", a.rows, 0); }
  void operator()(const ReduceAttributes& a) { number("axis", a.axis, 0); }
  void operator()(const GroupNormAttributes& a) { number("groups", a.groups, 1); }
  void operator()(const UpsampleAttributes& a) { number("factor", a.factor, 2); }
  void operator()(const ProposalAttributes& a) {
    number("candidates", a.candidates, 0);
    number("kept", a.kept, 0);
  }
  void operator()(const RoiPoolAttributes& a) {
    number("regions", a.regions, 0);
    number("size", a.size, 0);
  }
  void operator()(const AttentionAttributes& a) {
    number("heads", a.heads, 1);
    flag("causal", a.causal, false);
  }
  void operator()(const ByBytesAttributes& a) { list("to", a.output); }

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

std::string_view weights_word(const OpGraph& graph, const Op& op) {
  if (op.shares_weights) return "shared";
  if (!info(op.kind).has_parameters || !op.parameters.empty()) return "own";
  return parameters_of(op.kind, op.attributes, graph.input_shape(op), false).empty() ? "own" : "frozen";
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

}  // namespace

std::string network_toml(const OpGraph& graph) {
  std::string text = header(graph);
  const std::vector<std::string> names = distinct_names(graph);
  const auto name_of = [&](TensorId tensor) { return names[static_cast<std::size_t>(graph.tensor(tensor).producer.value)]; };
  for (std::size_t i = 1; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    text += fmt::format("\n[[layer]]\nname = {}\nop = {}\n", LayerWriter::toml_string(names[i]),
                        LayerWriter::toml_string(info(op.kind).name));
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
    std::visit(writer, op.attributes);
    writer.flag("inplace", op.inplace, false);
    writer.word("weights", weights_word(graph, op), "own");
    writer.flag("unused", graph.tensor(op.output).consumers.empty() && !is_loss(op.kind), false);
  }
  return text;
}

}  // namespace tbdsim
