// Fields and their defaults: huggingface/transformers v4.57, src/transformers/models/*/configuration_*.py.
#include "model/workload/hugging_face_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbdsim {
namespace {

constexpr std::int64_t kMost = kMostExtent, kMostLayers = 1000;
constexpr double kMostDropout = 0.99;

struct Activation {
  std::string_view name;
  ActivationKind kind;
};
constexpr Activation kActivations[] = {
    {"silu", ActivationKind::silu},        {"swish", ActivationKind::silu},     {"gelu", ActivationKind::gelu},
    {"gelu_new", ActivationKind::gelu},    {"gelu_fast", ActivationKind::gelu}, {"gelu_pytorch_tanh", ActivationKind::gelu},
    {"gelu_python", ActivationKind::gelu}, {"relu", ActivationKind::relu},      {"tanh", ActivationKind::tanh},
    {"sigmoid", ActivationKind::sigmoid},
};

ActivationKind activation(JsonObject& c, std::string_view key, std::string_view fallback) {
  const std::string word = c.text_or(key, fallback);
  std::vector<std::string_view> known;
  for (const Activation& row : kActivations) {
    if (row.name == word) return row.kind;
    known.push_back(row.name);
  }
  c.problem(key, fmt::format("expected one of {}, got \"{}\"", fmt::join(known, ", "), word));
  return ActivationKind::silu;
}

double dropout(JsonObject& c, std::string_view key, double fallback = 0.0) {
  return c.number_or(key, fallback, 0.0, kMostDropout);
}

/// Layers that see a window, as those of a network are described: all, none, or all but each so manieth.
void read_layer_types(JsonObject& c, TransformerNetwork& n) {
  const std::vector<std::string> types = c.texts_or_empty("layer_types");
  if (types.empty()) return;
  if (static_cast<std::int64_t>(types.size()) != n.decoder_layers)
    return c.problem("layer_types", fmt::format("expected {} of them, got {}", n.decoder_layers, types.size()));
  std::int64_t full = 0, first = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != "full_attention" && types[i] != "sliding_attention")
      return c.problem("layer_types", fmt::format("expected full_attention or sliding_attention, got \"{}\"", types[i]));
    if (types[i] == "sliding_attention") continue;
    ++full;
    if (first == 0) first = static_cast<std::int64_t>(i) + 1;
  }
  n.full_every = first;
  if (full == n.decoder_layers) n.layer.window = 0, n.full_every = 0;
  if (n.layer.window == 0 || first == 0) return;
  bool regular = true;
  for (std::size_t i = 0; i < types.size(); ++i)
    regular = regular && ((static_cast<std::int64_t>(i) + 1) % first == 0) == (types[i] == "full_attention");
  if (!regular) c.problem("layer_types", "expected full_attention at each so manieth layer; write the network as [[layer]]s");
}

/// Sizes under the names that Llama's configuration gives them.
void read_sizes(JsonObject& c, TransformerNetwork& n, std::int64_t head_width = 0) {
  TransformerLayers& t = n.layer;
  n.decoder_layers = c.integer("num_hidden_layers", 1, kMostLayers);
  n.words = n.words > 0 ? c.integer_or("vocab_size", n.words, 1, kMost) : c.integer("vocab_size", 1, kMost);
  t.width = c.integer("hidden_size", 1, kMost);
  t.heads = c.integer("num_attention_heads", 1, kMost);
  t.head_width = c.integer_or("head_dim", head_width, 1, kMost);
  t.kv_heads = c.integer_or("num_key_value_heads", t.heads, 1, kMost);
  c.mark("max_position_embeddings");
}

void base_llama(JsonObject& c, TransformerNetwork& n, std::int64_t head_width = 0) {
  read_sizes(c, n, head_width);
  TransformerLayers& t = n.layer;
  t.filter = c.integer("intermediate_size", 1, kMost);
  t.norm = OpKind::rms_norm;
  t.pre_norm = t.rotary = t.gated = true;
  t.attention_bias = t.output_bias = c.boolean_or("attention_bias", false);
  t.feed_forward_bias = c.boolean_or("mlp_bias", false);
  t.activation = activation(c, "hidden_act", "silu");
  t.dropout = n.embedding_dropout = 0.0;
  t.attention_dropout = dropout(c, "attention_dropout");
  n.tied = c.boolean_or("tie_word_embeddings", false);
}

void llama(JsonObject& c, TransformerNetwork& n) { base_llama(c, n); }

void mistral(JsonObject& c, TransformerNetwork& n) {
  base_llama(c, n);
  n.layer.window = c.integer_or("sliding_window", 0, 1, kMost);
  read_layer_types(c, n);
}

void qwen_window(JsonObject& c, TransformerNetwork& n) {
  const bool uses = c.boolean_or("use_sliding_window", false);
  const std::int64_t window = c.integer_or("sliding_window", 0, 1, kMost);
  const std::int64_t without = c.integer_or("max_window_layers", 0, 0, kMost);
  if (uses) n.layer.window = window;
  if (uses && !c.has("layer_types") && without > 0 && without < n.decoder_layers)
    c.problem("max_window_layers", "expected a window in all layers or in none");
  if (without >= n.decoder_layers) n.layer.window = 0;
  read_layer_types(c, n);
}

void qwen2(JsonObject& c, TransformerNetwork& n) {
  base_llama(c, n);
  n.layer.attention_bias = true;
  n.layer.output_bias = false;
  qwen_window(c, n);
}

void qwen3(JsonObject& c, TransformerNetwork& n) {
  base_llama(c, n, 128);
  n.layer.head_norm = true;
  qwen_window(c, n);
}

void mixtral(JsonObject& c, TransformerNetwork& n) {
  base_llama(c, n);
  n.layer.window = c.integer_or("sliding_window", 0, 1, kMost);
  n.layer.experts.count = c.integer("num_local_experts", 1, kMost);
  n.layer.experts.per_token = c.integer("num_experts_per_tok", 1, kMost);
  n.layer.experts.filter = n.layer.filter;
}

void qwen3_moe(JsonObject& c, TransformerNetwork& n) {
  qwen3(c, n);
  Experts& e = n.layer.experts;
  e.count = c.integer(c.has("num_local_experts") ? "num_local_experts" : "num_experts", 1, kMost);
  e.per_token = c.integer("num_experts_per_tok", 1, kMost);
  e.filter = c.integer("moe_intermediate_size", 1, kMost);
  e.every = c.integer_or("decoder_sparse_step", 1, 1, kMostLayers);
  if (c.count("mlp_only_layers") > 0) c.problem("mlp_only_layers", "expected none; write the network as [[layer]]s");
}

void deepseek(JsonObject& c, TransformerNetwork& n) {
  base_llama(c, n);
  c.mark("num_key_value_heads");
  TransformerLayers& t = n.layer;
  LatentProjections& l = t.latent;
  l.kv_rank = c.integer("kv_lora_rank", 1, kMost);
  l.query_rank = c.integer_or("q_lora_rank", 0, 1, kMost);
  l.nope_width = c.integer("qk_nope_head_dim", 1, kMost);
  l.rope_width = c.integer("qk_rope_head_dim", 2, kMost);
  l.value_width = c.integer("v_head_dim", 1, kMost);
  c.mark("qk_head_dim");
  t.kv_heads = t.heads;
  t.head_width = 0;
  Experts& e = t.experts;
  e.count = c.integer_or("n_routed_experts", 0, 1, kMost);
  for (const char* const key : {"n_group", "topk_group", "topk_method"}) c.mark(key);
  if (e.count == 0) return;
  e.per_token = c.integer("num_experts_per_tok", 1, kMost);
  e.filter = c.integer("moe_intermediate_size", 1, kMost);
  e.shared = c.integer_or("n_shared_experts", 0, 0, kMost);
  e.first_dense = c.integer_or("first_k_dense_replace", 0, 0, n.decoder_layers);
  e.every = c.integer_or("moe_layer_freq", 1, 1, kMostLayers);
  // Other methods look at all experts. Source: deepseek-ai/DeepSeek-V2 and -V3, modeling_deepseek.py, MoEGate.
  const std::int64_t groups = c.integer_or("n_group", 1, 1, kMost);
  if (groups == 1 || c.text_or("topk_method", "noaux_tc") == "greedy") return;
  e.groups = groups;
  e.groups_per_token = c.integer("topk_group", 1, kMost);
  if (const auto trouble = unfit_groups(e)) c.problem("n_group", *trouble);
}

void deepseek_v3(JsonObject& c, TransformerNetwork& n) {
  deepseek(c, n);
  n.layer.experts.router_bias = n.layer.experts.count > 0;
}

void gpt_oss(JsonObject& c, TransformerNetwork& n) {
  base_llama(c, n, 64);
  TransformerLayers& t = n.layer;
  t.attention_bias = t.output_bias = c.boolean_or("attention_bias", true);
  t.sinks = t.experts.router_bias = t.experts.bias = true;
  t.experts.count = c.integer("num_local_experts", 1, kMost);
  c.mark("experts_per_token");
  t.experts.per_token = c.integer("num_experts_per_tok", 1, kMost);
  t.experts.filter = t.filter;
  t.window = c.integer_or("sliding_window", 128, 1, kMost);
  n.full_every = 2;
  read_layer_types(c, n);
}

void gemma(JsonObject& c, TransformerNetwork& n) {
  base_llama(c, n, 256);
  c.mark("hidden_act");
  n.layer.activation = activation(c, c.has("hidden_activation") ? "hidden_activation" : "hidden_act", "gelu_pytorch_tanh");
  n.tied = c.boolean_or("tie_word_embeddings", true);
  n.scaled_embedding = true;
}

void gemma2(JsonObject& c, TransformerNetwork& n) {
  gemma(c, n);
  n.layer.post_norm = true;
  n.layer.window = c.integer_or("sliding_window", 4096, 1, kMost);
  n.full_every = 2;
  n.capped_scores = c.number_or("final_logit_softcapping", 0.0, 0.0, 1e6) > 0.0;
  read_layer_types(c, n);
}

void gemma3(JsonObject& c, TransformerNetwork& n) {
  n.words = 262208;
  gemma(c, n);
  n.layer.post_norm = n.layer.head_norm = true;
  n.layer.window = c.integer_or("sliding_window", 4096, 1, kMost);
  n.full_every =
      c.integer_or(c.has("_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern", 6, 1, kMostLayers);
  n.capped_scores = c.number_or("final_logit_softcapping", 0.0, 0.0, 1e6) > 0.0;
  read_layer_types(c, n);
}

void phi3(JsonObject& c, TransformerNetwork& n) {
  base_llama(c, n);
  n.layer.fused_projection = true;
  n.layer.dropout = dropout(c, "resid_pdrop");
  n.embedding_dropout = dropout(c, "embd_pdrop");
  n.layer.window = c.integer_or("sliding_window", 0, 1, kMost);
}

/// Layer norms, biases and two products with GELU or ReLU, as GPT-2's kin have them.
void base_gpt(TransformerNetwork& n) { n.layer.pre_norm = n.layer.fused_projection = true; }

void gpt2(JsonObject& c, TransformerNetwork& n) {
  base_gpt(n);
  TransformerLayers& t = n.layer;
  n.decoder_layers = c.integer("n_layer", 1, kMostLayers);
  n.words = c.integer("vocab_size", 1, kMost);
  t.width = c.integer("n_embd", 1, kMost);
  t.heads = c.integer("n_head", 1, kMost);
  t.filter = c.integer_or("n_inner", std::min(4 * t.width, kMost), 1, kMost);
  n.positions = c.integer_or("n_positions", 1024, 1, kMost);
  t.activation = activation(c, "activation_function", "gelu_new");
  t.dropout = dropout(c, "resid_pdrop", 0.1);
  t.attention_dropout = dropout(c, "attn_pdrop", 0.1);
  n.embedding_dropout = dropout(c, "embd_pdrop", 0.1);
  t.selecting_mask = true;
  n.tied = c.boolean_or("tie_word_embeddings", true);
}

void opt(JsonObject& c, TransformerNetwork& n) {
  TransformerLayers& t = n.layer;
  constexpr std::int64_t kOffset = 2;
  read_sizes(c, n);
  t.filter = c.integer("ffn_dim", 1, kMost);
  n.positions = c.integer_or("max_position_embeddings", 2048, 1, kMost) + kOffset;
  n.embedding = c.integer_or("word_embed_proj_dim", t.width, 1, kMost);
  t.pre_norm = c.boolean_or("do_layer_norm_before", true);
  t.attention_bias = t.output_bias = t.feed_forward_bias = c.boolean_or("enable_bias", true);
  if (!c.boolean_or("layer_norm_elementwise_affine", true))
    c.problem("layer_norm_elementwise_affine", "expected true: norms without weights are not modelled");
  if (c.boolean_or("_remove_final_layer_norm", false) && t.pre_norm)
    c.problem("_remove_final_layer_norm", "expected false beside do_layer_norm_before");
  t.activation = activation(c, "activation_function", "relu");
  t.activation_dropout = dropout(c, "activation_dropout");
  t.dropout = dropout(c, "dropout", 0.1);
  t.attention_dropout = dropout(c, "attention_dropout");
  n.embedding_dropout = 0.0;
  t.scale = AttentionScale::query;
  if (dropout(c, "layerdrop") > 0.0) c.problem("layerdrop", "expected 0: layers that are passed over are not modelled");
  n.tied = c.boolean_or("tie_word_embeddings", true);
}

void bloom(JsonObject& c, TransformerNetwork& n) {
  base_gpt(n);
  TransformerLayers& t = n.layer;
  n.decoder_layers = c.integer(c.has("num_hidden_layers") ? "num_hidden_layers" : "n_layer", 1, kMostLayers);
  n.words = c.integer("vocab_size", 1, kMost);
  t.width = c.integer(c.has("n_embed") ? "n_embed" : "hidden_size", 1, kMost);
  t.heads = c.integer(c.has("num_attention_heads") ? "num_attention_heads" : "n_head", 1, kMost);
  t.filter = c.integer_or("n_inner", std::min(4 * t.width, kMost), 1, kMost);
  for (const char* const other : {"n_layer", "hidden_size", "n_head", "seq_length"}) c.mark(other);
  if (c.boolean_or("apply_residual_connection_post_layernorm", false))
    c.problem("apply_residual_connection_post_layernorm", "expected false: sums of norms are not modelled");
  t.dropout = n.embedding_dropout = dropout(c, "hidden_dropout");
  t.attention_dropout = dropout(c, "attention_dropout");
  n.alibi = n.embedding_norm = true;
  n.tied = c.boolean_or("tie_word_embeddings", true);
}

void gpt_neox(JsonObject& c, TransformerNetwork& n) {
  base_gpt(n);
  read_sizes(c, n);
  TransformerLayers& t = n.layer;
  t.filter = c.integer("intermediate_size", 1, kMost);
  t.rotary = true;
  t.parallel = c.boolean_or("use_parallel_residual", true);
  t.attention_bias = t.output_bias = c.boolean_or("attention_bias", true);
  t.activation = activation(c, "hidden_act", "gelu");
  t.dropout = n.embedding_dropout = dropout(c, "hidden_dropout");
  t.attention_dropout = dropout(c, "attention_dropout");
  n.tied = c.boolean_or("tie_word_embeddings", false);
}

constexpr std::array kFamilies = {
    LanguageFamily{"bloom", bloom},
    LanguageFamily{"deepseek_v2", deepseek},
    LanguageFamily{"deepseek_v3", deepseek_v3},
    LanguageFamily{"gemma", gemma},
    LanguageFamily{"gemma2", gemma2},
    LanguageFamily{"gemma3", gemma3},
    LanguageFamily{"gemma3_text", gemma3},
    LanguageFamily{"gpt2", gpt2},
    LanguageFamily{"gpt_neox", gpt_neox},
    LanguageFamily{"gpt_oss", gpt_oss},
    LanguageFamily{"llama", llama},
    LanguageFamily{"mistral", mistral},
    LanguageFamily{"mixtral", mixtral},
    LanguageFamily{"opt", opt},
    LanguageFamily{"phi3", phi3},
    LanguageFamily{"qwen2", qwen2},
    LanguageFamily{"qwen3", qwen3},
    LanguageFamily{"qwen3_moe", qwen3_moe},
};

}  // namespace

std::span<const LanguageFamily> language_families() { return kFamilies; }

}  // namespace tbdsim
