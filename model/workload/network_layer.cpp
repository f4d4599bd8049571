#include "model/workload/network_layer.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

// Bounds of every number in a network file: beyond any network, and small enough that products of three fit 64 bits.
constexpr std::int64_t kMost = 1000000;
constexpr std::int64_t kMostLayers = 1000;

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
};

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; known are: {}", fmt::join(known, ", "));
}

std::optional<OpKind> read_kind(TomlTable& table) {
  const std::string word = table.text("op");
  std::vector<std::string> known;
  for (const OpKindInfo& row : op_kinds()) {
    if (row.name == word) return row.kind;
    known.emplace_back(row.name);
  }
  if (!word.empty()) table.problem("op", fmt::format("unknown operator \"{}\"{}", word, suggestion(word, known)));
  return std::nullopt;
}

struct Pair {
  std::int64_t h, w;
};

/// `key = n` for both sides, or `key_h` and `key_w`.
Pair read_pair(TomlTable& table, const std::string& key, std::int64_t fallback, std::int64_t low) {
  const std::int64_t both = table.integer_or(key, fallback, low, kMost);
  return {table.integer_or(key + "_h", both, low, kMost), table.integer_or(key + "_w", both, low, kMost)};
}

ConvolutionAttributes read_convolution(TomlTable& table) {
  ConvolutionAttributes a;
  a.out_channels = table.integer("channels", 1, kMost);
  const Pair kernel = read_pair(table, "kernel", 1, 1);
  const Pair stride = read_pair(table, "stride", 1, 1);
  const Pair pad = read_pair(table, "pad", 0, 0);
  a.kernel_h = kernel.h, a.kernel_w = kernel.w;
  a.stride_h = stride.h, a.stride_w = stride.w;
  a.pad_h = pad.h, a.pad_w = pad.w;
  a.dilation = table.integer_or("dilation", 1, 1, kMost);
  a.groups = table.integer_or("groups", 1, 1, kMost);
  a.bias = table.boolean_or("bias", true);
  return a;
}

PoolAttributes read_pool(TomlTable& table) {
  PoolAttributes a;
  const std::string word = table.text_or("kind", "max");
  if (word == "average") {
    a.kind = PoolKind::average;
  } else if (word != "max" && !word.empty()) {
    table.problem("kind", fmt::format("unknown pool \"{}\"{}", word, suggestion(word, {"max", "average"})));
  }
  const Pair kernel = read_pair(table, "kernel", 2, 1);
  a.kernel_h = kernel.h, a.kernel_w = kernel.w;
  // Windows side by side unless told otherwise, as in every framework.
  const std::int64_t both = table.integer_or("stride", 0, 1, kMost);
  a.stride_h = table.integer_or("stride_h", both > 0 ? both : a.kernel_h, 1, kMost);
  a.stride_w = table.integer_or("stride_w", both > 0 ? both : a.kernel_w, 1, kMost);
  const Pair pad = read_pair(table, "pad", 0, 0);
  a.pad_h = pad.h, a.pad_w = pad.w;
  a.ceil_mode = table.boolean_or("ceil_mode", false);
  return a;
}

RecurrentAttributes read_recurrent(TomlTable& table) {
  RecurrentAttributes a;
  a.hidden = table.integer("hidden", 1, kMost);
  a.layers = table.integer_or("layers", 1, 1, kMostLayers);
  a.bidirectional = table.boolean_or("bidirectional", false);
  a.bias = table.boolean_or("bias", true);
  a.state_given = table.boolean_or("state_given", false);
  return a;
}

PadAttributes read_pad(TomlTable& table) {
  const auto side = [&](const char* key) { return table.integer_or(key, 0, 0, kMost); };
  return {side("top"), side("bottom"), side("left"), side("right")};
}

ProposalAttributes read_proposals(TomlTable& table) {
  const std::int64_t candidates = table.integer("candidates", 1, kMost);
  return {candidates, table.integer("kept", 1, kMost)};
}

RoiPoolAttributes read_roi_pool(TomlTable& table) {
  const std::int64_t regions = table.integer("regions", 1, kMost);
  return {regions, table.integer("size", 1, kMost)};
}

OpAttributes read_attributes(OpKind kind, TomlTable& table) {
  switch (kind) {
    case OpKind::convolution:
    case OpKind::transposed_convolution:
      return read_convolution(table);
    case OpKind::linear: {
      const std::int64_t features = table.integer("features", 1, kMost);
      const bool bias = table.boolean_or("bias", true);
      return LinearAttributes{features, bias, table.boolean_or("tied", false)};
    }
    case OpKind::batch_norm:
      return BatchNormAttributes{table.boolean_or("scale", true)};
    case OpKind::activation:
      return ActivationAttributes{read_activation(table, "kind", "relu")};
    case OpKind::pool:
      return read_pool(table);
    case OpKind::slice: {
      const std::int64_t begin = table.integer("begin", 0, kMost);
      const std::int64_t end = table.integer("end", 1, kMost);
      return SliceAttributes{table.integer_or("axis", 0, 0, 2), begin, end};
    }
    case OpKind::dropout:
      return DropoutAttributes{table.number_or("probability", 0.5, {0.0, 1.0})};
    case OpKind::local_response_norm:
      return LocalResponseNormAttributes{table.integer_or("size", 5, 1, kMost)};
    case OpKind::channel_shuffle:
      return ShuffleAttributes{table.integer_or("groups", 2, 1, kMost)};
    case OpKind::pad:
      return read_pad(table);
    case OpKind::embedding: {
      const std::int64_t rows = table.integer("rows", 1, kMost);
      const std::int64_t width = table.integer("width", 1, kMost);
      return EmbeddingAttributes{rows, width, table.boolean_or("tied", false)};
    }
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::vanilla_rnn:
      return read_recurrent(table);
    case OpKind::attention: {
      const std::int64_t heads = table.integer_or("heads", 1, 1, kMost);
      return AttentionAttributes{heads, table.boolean_or("causal", false)};
    }
    case OpKind::matmul:
      return MatmulAttributes{table.boolean_or("transpose_b", false)};
    case OpKind::multiply:
      return MultiplyAttributes{table.boolean_or("keeps_scalar", false)};
    case OpKind::mask:
      return MaskAttributes{table.boolean_or("selects", false)};
    case OpKind::reshape:
      return ReshapeAttributes{table.integers_or_empty("to")};
    case OpKind::concat:
      return ConcatAttributes{table.integer_or("axis", -1, 0, 2)};
    case OpKind::transpose:
      return TransposeAttributes{table.integers_or_empty("order")};
    case OpKind::learned_bias:
      return LearnedBiasAttributes{table.integer_or("rows", 0, 1, kMost), table.boolean_or("tied", false)};
    case OpKind::gather:
      return GatherAttributes{table.integer("rows", 1, kMost)};
    case OpKind::reduce:
      return ReduceAttributes{table.integer_or("axis", 0, 0, 2)};
    case OpKind::group_norm:
      return GroupNormAttributes{table.integer_or("groups", 1, 1, kMost)};
    case OpKind::upsample:
      return UpsampleAttributes{table.integer_or("factor", 2, 1, kMost)};
    case OpKind::proposals:
      return read_proposals(table);
    case OpKind::by_bytes:
      return ByBytesAttributes{table.integers_or_empty("to"), {}};
    case OpKind::roi_pool:
      return read_roi_pool(table);
    default:
      return std::monostate{};
  }
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
  const std::string word = table.text_or("weights", "own");
  if (word == "shared") return Weights::shared;
  if (word == "frozen") return Weights::frozen;
  if (word != "own" && !word.empty())
    table.problem("weights", fmt::format("expected own, shared or frozen, got {}", quoted(word)));
  return Weights::own;
}

}  // namespace

Shape read_dimensions(TomlTable& table, const std::string& key) {
  constexpr double kMostElements = 1e12;
  Shape shape = table.integers_or_empty(key);
  bool fits = !shape.empty() && shape.size() <= 3;
  for (const std::int64_t extent : shape) fits = fits && extent >= 1 && extent <= kMost;
  if (!fits)
    table.problem(
        key, fmt::format("expected one to three dimensions of 1 to {}, such as [3, 224, 224] (channels, height, width)", kMost));
  if (fits && static_cast<double>(elements(shape)) > kMostElements) {
    table.problem(key, fmt::format("expected at most {:g} numbers in all", kMostElements));
    fits = false;
  }
  return fits ? shape : Shape{};
}

std::string_view activation_word(ActivationKind kind) {
  for (const ActivationName& row : kActivations)
    if (row.kind == kind) return row.name;
  return kActivations.front().name;
}

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
  const bool another_input = layer.kind == OpKind::input;
  if (another_input)
    layer.shape = read_dimensions(table, "shape");
  else
    read_inputs(table, layer);
  if (!layer.kind) {
    for (const std::string& key : table.keys()) table.mark(key);  // which keys are right depends on the operator
    return layer;
  }
  layer.attributes = read_attributes(*layer.kind, table);
  if (*layer.kind == OpKind::activation || *layer.kind == OpKind::add || *layer.kind == OpKind::multiply)
    layer.inplace = table.boolean_or("inplace", false);
  if (info(*layer.kind).has_parameters) layer.weights = read_weights(table);
  if (!is_loss(*layer.kind)) layer.unused = table.boolean_or("unused", false);
  table.finish();
  return layer;
}

}  // namespace tbdsim
