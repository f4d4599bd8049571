#include "model/workload/transformer_file.hpp"

#include <fmt/format.h>

#include "model/workload/network_layer.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

// Bounds beyond any network, small enough that products of three fit 64 bits.
constexpr std::int64_t kMost = 1000000, kMostLayers = 1000;
constexpr double kMostDropout = 0.99;

constexpr KeyMeaning kKeys[] = {
    {"[transformer]", "`encoder_layers`, `decoder_layers`", "at least one of both; a decoder alone is GPT's", "0"},
    {"[transformer]", "**`width`**, **`heads`**, `head_width`, `filter`", "of the layers; of the feed-forward block",
     "`head_width`: width over heads; `filter`: 4 times the width"},
    {"[transformer]", "**`words`**, **`length`**",
     "of the vocabulary; tokens of a sequence (an encoder and decoder have as many each)", ""},
    {"[transformer]", "`positions`", "learned ones", "sinusoids"},
    {"[transformer]", "`rotary`", "queries and keys are turned by their positions, which words then lack", "false"},
    {"[transformer]", "`embedding`", "width of a word's vector", "that of the layers"},
    {"[transformer]", "`norm`", "`layer`, or `rms`: without mean and shift", "`layer`"},
    {"[transformer]", "`norm_first`, `activation`", "the norm before a block rather than after it; as of layers", "true, `gelu`"},
    {"[transformer]", "`kv_heads`", "of keys and values, each shared by equally many heads of queries", "`heads`"},
    {"[transformer]", "`attention_bias`, `output_bias`, `fused_projection`",
     "biases of the projections of queries, keys and values; of the context's; queries, keys and values from one product",
     "true, as `attention_bias`, false"},
    {"[transformer]", "`gated`, `feed_forward_bias`",
     "the feed-forward block has a third product, whose activation scales the first one's result (SwiGLU with `silu`); biases of "
     "its products",
     "false, true"},
    {"[transformer]", "`dropout`, `attention_dropout`", "probabilities", "0.1, as `dropout`"},
    {"[transformer]", "`attention`",
     "`framework`: its one kernel where the stack has it (scaled_dot_product_attention since PyTorch 2.0), as "
     "nn.MultiheadAttention and Hugging Face's transformers since 4.36 call it; `separate`: products and a softmax of their own, "
     "as older libraries",
     "`framework`"},
    {"[transformer]", "`tied`", "words are scored with the table of their vectors", "true"},
};

/// Whether a library calls the framework's attention kernel or writes attention out.
bool calls_framework(TomlTable& table) {
  const std::string attention = table.text_or("attention", "framework");
  if (attention != "framework" && attention != "separate")
    table.problem("attention", fmt::format("expected \"framework\" or \"separate\", got \"{}\"", attention));
  return attention == "framework";
}

OpKind read_norm(TomlTable& table) {
  const std::string norm = table.text_or("norm", "layer");
  if (norm != "layer" && norm != "rms") table.problem("norm", fmt::format("expected \"layer\" or \"rms\", got \"{}\"", norm));
  return norm == "rms" ? OpKind::rms_norm : OpKind::layer_norm;
}

TransformerLayers read_layers(TomlTable& table, bool fused_attention) {
  TransformerLayers t;
  t.width = table.integer("width", 1, kMost);
  t.heads = table.integer("heads", 1, kMost);
  t.head_width = table.integer_or("head_width", 0, 1, kMost);
  if (t.head_width == 0 && t.heads > 0 && t.width % t.heads != 0)
    table.problem("heads", fmt::format("{} heads do not divide a width of {}; say head_width", t.heads, t.width));
  t.kv_heads = table.integer_or("kv_heads", 0, 1, kMost);
  if (t.kv_heads > 0 && t.heads % t.kv_heads != 0)
    table.problem("kv_heads", fmt::format("{} heads do not share {} of keys and values evenly", t.heads, t.kv_heads));
  t.filter = table.integer_or("filter", 4 * t.width, 1, kMost);
  t.norm = read_norm(table);
  t.pre_norm = table.boolean_or("norm_first", true);
  t.attention_bias = table.boolean_or("attention_bias", true);
  t.output_bias = table.boolean_or("output_bias", t.attention_bias);
  t.fused_projection = table.boolean_or("fused_projection", false);
  t.rotary = table.boolean_or("rotary", false);
  t.feed_forward_bias = table.boolean_or("feed_forward_bias", true);
  t.gated = table.boolean_or("gated", false);
  t.activation = read_activation(table, "activation", "gelu");
  t.dropout = table.number_or("dropout", 0.1, {0.0, kMostDropout});
  t.attention_dropout = table.number_or("attention_dropout", t.dropout, {0.0, kMostDropout});
  t.fused_attention = calls_framework(table) && fused_attention;
  t.padding_mask = true;  // as Hugging Face's encoders have it
  return t;
}

TransformerNetwork read_hyper_parameters(TomlTable& table, std::int64_t length, bool fused_attention) {
  TransformerNetwork n;
  n.encoder_layers = table.integer_or("encoder_layers", 0, 0, kMostLayers);
  n.decoder_layers = table.integer_or("decoder_layers", 0, 0, kMostLayers);
  n.layer = read_layers(table, fused_attention);
  n.words = table.integer("words", 1, kMost);
  n.positions = table.integer_or("positions", 0, 1, kMost);
  if (n.positions > 0 && n.layer.rotary) table.problem("positions", "give either positions or rotary, not both");
  if (n.positions > 0 && n.positions < length)
    table.problem("positions", fmt::format("{} positions are too few for a length of {}", n.positions, length));
  n.embedding = table.integer_or("embedding", 0, 1, kMost);
  n.embedding_dropout = n.layer.dropout;
  n.tied = table.boolean_or("tied", true);
  return n;
}

}  // namespace

std::span<const KeyMeaning> transformer_keys() { return kKeys; }

Result<OpGraph> read_transformer(const TomlFile& file, TomlTable& root, bool fused_attention) {
  (void)root.integer("schema", 1, 1);
  const std::string name = root.text("name"), unit = root.text_or("input_unit", "sequence");
  const auto batch = static_cast<int>(root.integer_or("batch", 32, 1, kMost));
  TomlTable table = root.table("transformer");
  const std::int64_t length = table.integer("length", 1, kMost);
  const TransformerNetwork network = read_hyper_parameters(table, length, fused_attention);
  if (network.encoder_layers + network.decoder_layers == 0 && file.errors().empty())
    table.problem("", "expected encoder_layers, decoder_layers or both");
  root.finish();
  if (Errors errors = file.errors(); !errors.empty()) return tl::make_unexpected(std::move(errors));
  GraphBuilder graph(name, "file", unit, Shape{length}, batch);
  graph.counts_in("token", static_cast<double>(length));
  transformer_network(graph, network);
  return std::move(graph).finish();
}

}  // namespace tbdsim
