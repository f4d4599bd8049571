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
    {"[transformer]", "`rotary`, `alibi`",
     "queries and keys are turned by their positions, or scores fall with distance inside the attention kernel; words then have "
     "no positions",
     "false"},
    {"[transformer]", "`embedding`", "width of a word's vector", "that of the layers"},
    {"[transformer]", "`norm`", "`layer`, or `rms`: without mean and shift", "`layer`"},
    {"[transformer]", "`norm_first`, `activation`", "the norm before a block rather than after it; as of layers", "true, `gelu`"},
    {"[transformer]", "`post_norm`, `head_norm`, `embedding_norm`",
     "with `norm_first`: another norm after a block, before its sum; root-mean-square norms of each head's queries and keys; a "
     "norm "
     "of the words",
     "false"},
    {"[transformer]", "`parallel`, `shared_norm`",
     "attention and feed-forward block read the same input; with `parallel`, the same norm of it", "false"},
    {"[transformer]", "`kv_heads`", "of keys and values, each shared by equally many heads of queries", "`heads`"},
    {"[transformer]", "`window`, `full_every`, `sinks`",
     "of causal attention: tokens that one sees, itself among them; each so manieth layer sees all; each head has a trainable "
     "score",
     "all, none, false"},
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
    {"[transformer]", "`tied`, `scores_bias`, `capped_scores`",
     "words are scored with the table of their vectors; a bias of the scores; a tanh keeps them small", "true, false, false"},
    {"[transformer]", "`scaled_embedding`", "words times the root of the width", "false"},
    {"[transformer.experts]", "**`count`**, **`per_token`**, `filter`",
     "the feed-forward blocks are mixtures of experts: how many a layer has, how many a token goes to, the width of one",
     "`filter`: that of the layers"},
    {"[transformer.experts]", "`shared`", "experts as wide that every token goes through", "0"},
    {"[transformer.experts]", "`first_dense`, `every`",
     "layers with one block before the first of experts; of those after, each so manieth has experts", "0, 1"},
    {"[transformer.experts]", "`router_bias`, `bias`", "a number added to each expert's score; biases of the experts' products",
     "false"},
    {"[transformer.experts]", "`groups`, `groups_per_token`",
     "all experts of a token lie in so many of the groups, whose nodes are then all that it is sent to", "any"},
    {"[transformer.latent]", "**`kv_rank`**, `query_rank`",
     "keys and values come from a vector of this width, queries from another one (multi-head latent attention)",
     "`query_rank`: queries come from the layer's input"},
    {"[transformer.latent]", "**`nope_width`**, **`rope_width`**, **`value_width`**",
     "features of a head: those without and those with rotary positions, the latter of keys the same in all heads; of values",
     ""},
};

OpKind read_norm(TomlTable& table) {
  const std::string norm = table.text_or("norm", "layer");
  if (norm != "layer" && norm != "rms") table.problem("norm", fmt::format("expected \"layer\" or \"rms\", got \"{}\"", norm));
  return norm == "rms" ? OpKind::rms_norm : OpKind::layer_norm;
}

Experts read_experts(TomlTable& transformer, std::int64_t filter) {
  Experts e;
  auto table = transformer.table_if("experts");
  if (!table) return e;
  e.count = table->integer("count", 1, kMost);
  e.per_token = table->integer("per_token", 1, kMost);
  if (e.per_token > e.count)
    table->problem("per_token", fmt::format("a token cannot go to {} of {} experts", e.per_token, e.count));
  e.filter = table->integer_or("filter", filter, 1, kMost);
  e.shared = table->integer_or("shared", 0, 0, kMost);
  if (e.shared * e.filter > kMost) table->problem("shared", fmt::format("expected a width of at most {} together", kMost));
  e.first_dense = table->integer_or("first_dense", 0, 0, kMostLayers);
  e.every = table->integer_or("every", 1, 1, kMostLayers);
  e.router_bias = table->boolean_or("router_bias", false);
  e.bias = table->boolean_or("bias", false);
  e.groups = table->integer_or("groups", 0, 1, kMost);
  if (e.groups > 0) e.groups_per_token = table->integer("groups_per_token", 1, kMost);
  if (const auto trouble = unfit_groups(e)) table->problem("groups", *trouble);
  return e;
}

LatentProjections read_latent(TomlTable& transformer) {
  LatentProjections l;
  auto table = transformer.table_if("latent");
  if (!table) return l;
  l.kv_rank = table->integer("kv_rank", 1, kMost);
  l.query_rank = table->integer_or("query_rank", 0, 1, kMost);
  l.nope_width = table->integer("nope_width", 1, kMost);
  l.rope_width = table->integer("rope_width", 2, kMost);
  l.value_width = table->integer("value_width", 1, kMost);
  for (const char* const key : {"kv_heads", "head_width", "head_norm", "fused_projection"})
    if (transformer.has(key)) transformer.problem(key, "has no effect beside [transformer.latent]");
  return l;
}

TransformerLayers read_layers(TomlTable& table, bool fused_attention) {
  TransformerLayers t;
  t.width = table.integer("width", 1, kMost);
  t.heads = table.integer("heads", 1, kMost);
  t.head_width = table.integer_or("head_width", 0, 1, kMost);
  if (t.head_width == 0 && t.heads > 0 && t.width % t.heads != 0 && !table.has("latent"))
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
  t.post_norm = table.boolean_or("post_norm", false);
  if (t.post_norm && !t.pre_norm) table.problem("post_norm", "expected norm_first = true beside it");
  t.head_norm = table.boolean_or("head_norm", false);
  t.parallel = table.boolean_or("parallel", false);
  t.shared_norm = table.boolean_or("shared_norm", false);
  if (t.shared_norm && !t.parallel) table.problem("shared_norm", "expected parallel = true beside it");
  if (t.parallel && (!t.pre_norm || t.post_norm))
    table.problem("parallel", "expected norm_first = true and no post_norm beside it");
  t.window = table.integer_or("window", 0, 1, kMost);
  t.sinks = table.boolean_or("sinks", false);
  t.experts = read_experts(table, t.filter);
  t.latent = read_latent(table);
  if (t.latent.kv_rank > 0 && !t.rotary) table.problem("latent", "expected rotary = true beside it");
  t.feed_forward_bias = table.boolean_or("feed_forward_bias", true);
  t.gated = table.boolean_or("gated", false);
  t.activation = read_activation(table, "activation", "gelu");
  t.dropout = table.number_or("dropout", 0.1, {0.0, kMostDropout});
  t.attention_dropout = table.number_or("attention_dropout", t.dropout, {0.0, kMostDropout});
  t.fused_attention = read_attention(table) != AttentionCode::separate && fused_attention;
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
  n.alibi = table.boolean_or("alibi", false);
  if (n.alibi && (n.positions > 0 || n.layer.rotary)) table.problem("alibi", "give one of positions, rotary and alibi");
  n.full_every = table.integer_or("full_every", 0, 1, kMostLayers);
  if (n.full_every > 0 && n.layer.window == 0) table.problem("full_every", "expected a window beside it");
  const bool decoder_alone = n.encoder_layers == 0;
  for (const char* const key : {"window", "sinks", "experts", "latent", "parallel"})
    if (table.has(key) && !decoder_alone) table.problem(key, "expected a decoder alone, got encoder_layers");
  n.embedding_norm = table.boolean_or("embedding_norm", false);
  n.scaled_embedding = table.boolean_or("scaled_embedding", false);
  n.scores_bias = table.boolean_or("scores_bias", false);
  n.capped_scores = table.boolean_or("capped_scores", false);
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
  if (file.errors().empty())
    if (const auto trouble = too_large(network, length)) table.problem("", *trouble);
  root.finish();
  if (Errors errors = file.errors(); !errors.empty()) return tl::make_unexpected(std::move(errors));
  GraphBuilder graph(name, "file", unit, Shape{length}, batch);
  graph.counts_in("token", static_cast<double>(length));
  transformer_network(graph, network);
  return std::move(graph).finish();
}

}  // namespace tbdsim
