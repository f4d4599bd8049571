#include "model/workload/zoo/transformer_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbdsim {
namespace {

std::int64_t head_width(const TransformerLayers& t) { return t.head_width > 0 ? t.head_width : t.width / t.heads; }

TensorId scale(GraphBuilder& g, TensorId x, const TransformerLayers& t, const std::string& name) {
  return g.add(OpKind::multiply, {x}, MultiplyAttributes{t.scale == AttentionScale::query_and_key}, name);
}

/// T x (heads d) to heads x T x d, which a batched product wants. Heads that it reads where they lie are only looked at
/// otherwise.
TensorId split_heads(GraphBuilder& g, TensorId x, const TransformerLayers& t, const std::string& name) {
  const std::int64_t steps = g.shape(x).front();
  const std::int64_t heads = g.shape(x).back() / head_width(t);
  if (t.strided_heads) return g.reshape(x, {heads, steps, head_width(t)}, name + "_heads");
  const TensorId parts = g.reshape(x, {steps, heads, head_width(t)}, name + "_heads");
  return g.transpose(parts, {1, 0, 2}, name + "_permute");
}

std::int64_t kv_heads(const TransformerLayers& t) { return t.kv_heads > 0 ? t.kv_heads : t.heads; }

/// Keys or values in heads, copied for each head of queries that shares them (Hugging Face's repeat_kv).
TensorId split_shared_heads(GraphBuilder& g, TensorId x, const TransformerLayers& t, const std::string& name) {
  const TensorId heads = split_heads(g, x, t, name);
  if (kv_heads(t) == t.heads) return heads;
  return g.add(OpKind::repeat, {heads}, RepeatAttributes{t.heads / kv_heads(t)}, name + "_repeat");
}

/// Queries, T x (heads d), keys and values.
std::array<TensorId, 3> project(GraphBuilder& g, TensorId x, TensorId memory, const TransformerLayers& t,
                                const std::string& prefix) {
  const std::int64_t inner = t.heads * head_width(t), shared = kv_heads(t) * head_width(t);
  if (!t.fused_projection)
    return {g.linear(x, inner, prefix + "query", t.attention_bias), g.linear(memory, shared, prefix + "key", t.attention_bias),
            g.linear(memory, shared, prefix + "value", t.attention_bias)};
  const auto part = [&](TensorId whole, std::int64_t begin, std::int64_t size, const char* name) {
    return g.add(OpKind::slice, {whole}, SliceAttributes{1, begin, begin + size}, prefix + name);
  };
  if (x == memory) {
    const TensorId all = g.linear(x, inner + 2 * shared, prefix + "in_proj", t.attention_bias);
    return {part(all, 0, inner, "query"), part(all, inner, shared, "key"), part(all, inner + shared, shared, "value")};
  }
  const TensorId query = g.linear(x, inner, prefix + "query", t.attention_bias);
  const TensorId both = g.linear(memory, 2 * shared, prefix + "in_proj", t.attention_bias);
  return {query, part(both, 0, shared, "key"), part(both, shared, shared, "value")};
}

TensorId rms_norm(GraphBuilder& g, TensorId x, std::int64_t width, const std::string& name) {
  return g.add(OpKind::rms_norm, {x}, RmsNormAttributes{width}, name);
}

TensorId norm(GraphBuilder& g, TensorId x, const TransformerLayers& t, const std::string& name) {
  return t.norm == OpKind::rms_norm ? rms_norm(g, x, 0, name) : g.add(t.norm, {x}, {}, name);
}

template <class Block>
TensorId residual(GraphBuilder& g, TensorId x, const TransformerLayers& t, const std::string& prefix, const Block& block) {
  TensorId inner = block(t.pre_norm ? norm(g, x, t, prefix + "norm") : x);
  if (t.post_norm) inner = norm(g, inner, t, prefix + "post_norm");
  const TensorId sum = g.plus(drop(g, inner, t.dropout, prefix + "dropout"), x, prefix + "add");
  return t.pre_norm ? sum : norm(g, sum, t, prefix + "norm");
}

/// The products of a feed-forward block, with the activation between them. `product` makes one: input, features, name, bias.
template <class Product>
TensorId feed_forward_products(GraphBuilder& g, TensorId x, const TransformerLayers& t, std::int64_t filter, bool bias,
                               const std::string& prefix, const Product& product) {
  const TensorId first = product(x, filter, prefix + "linear1", bias);
  const std::string name = prefix + "activation";
  if (t.gated) {
    const TensorId gate = product(x, filter, prefix + "gate", bias);
    x = g.add(OpKind::gated, {gate, first}, ActivationAttributes{t.activation}, name);
  } else {
    x = g.activation(first, t.activation, name);
  }
  x = drop(g, x, t.activation_dropout, prefix + "activation_dropout");
  return product(x, t.width, prefix + "linear2", bias);
}

TensorId dense_feed_forward(GraphBuilder& g, TensorId x, const TransformerLayers& t, std::int64_t filter,
                            const std::string& prefix) {
  return feed_forward_products(
      g, x, t, filter, t.feed_forward_bias, prefix,
      [&](TensorId in, std::int64_t features, const std::string& name, bool bias) { return g.linear(in, features, name, bias); });
}

/// Routing, the experts and what every token goes through beside them.
TensorId expert_feed_forward(GraphBuilder& g, TensorId x, const TransformerLayers& t, const std::string& prefix) {
  const Experts& e = t.experts;
  const TensorId scores = g.linear(x, e.count, prefix + "router", e.router_bias);
  const TensorId rows =
      g.add(OpKind::route, {x, scores}, RouteAttributes{e.per_token, e.groups, e.groups_per_token}, prefix + "route");
  const TensorId made =
      feed_forward_products(g, rows, t, e.filter, e.bias, prefix + "experts.",
                            [&](TensorId in, std::int64_t features, const std::string& name, bool bias) {
                              return g.add(OpKind::grouped_linear, {in}, GroupedLinearAttributes{e.count, features, bias}, name);
                            });
  const TensorId sum = g.add(OpKind::combine, {made, scores}, {}, prefix + "combine");
  if (e.shared == 0) return sum;
  return g.plus(dense_feed_forward(g, x, t, e.shared * e.filter, prefix + "shared."), sum, prefix + "shared_add");
}

TensorId feed_forward(GraphBuilder& g, TensorId x, const TransformerLayers& t, const std::string& prefix) {
  return t.experts.count > 0 ? expert_feed_forward(g, x, t, prefix) : dense_feed_forward(g, x, t, t.filter, prefix);
}

/// Words to vectors of the layers' width, with their positions.
TensorId embed(GraphBuilder& g, TensorId tokens, const TransformerNetwork& n, const std::string& prefix, bool again) {
  const std::int64_t width = n.layer.width, own = n.embedding > 0 ? n.embedding : width;
  TensorId x = token_embedding(g, tokens, n.words, own, prefix + "embeddings.word", again);
  if (own != width) x = g.linear(x, width, prefix + "project_in", false);
  if (n.scaled_embedding) x = g.add(OpKind::multiply, {x}, {}, prefix + "embeddings.scale");
  const std::string position = prefix + "embeddings.position";
  if (!n.layer.rotary && !n.alibi)
    x = n.positions > 0 ? g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{n.positions}, position)
                        : g.add(OpKind::mask, {x}, {}, position);
  if (n.embedding_norm) x = norm(g, x, n.layer, prefix + "embeddings.norm");
  return drop(g, x, n.embedding_dropout, prefix + "embeddings.dropout");
}

AttentionMask padding_mask(const TransformerLayers& t) { return t.padding_mask ? AttentionMask::padding : AttentionMask::none; }

/// softmax(q k^T / sqrt(d)) v as products and passes of their own, T x (heads d) each way.
TensorId separate_attention(GraphBuilder& g, std::array<TensorId, 3> projected, const TransformerLayers& t, AttentionMask mask,
                            const std::string& prefix) {
  auto [query, key, value] = projected;
  const std::int64_t steps = g.shape(query).front();
  query = split_heads(g, query, t, prefix + "query");
  key = split_shared_heads(g, key, t, prefix + "key");
  value = split_shared_heads(g, value, t, prefix + "value");
  if (t.scale == AttentionScale::query || t.scale == AttentionScale::query_and_key)
    query = scale(g, query, t, prefix + "query_scale");
  if (t.scale == AttentionScale::query_and_key) key = g.add(OpKind::multiply, {key}, {}, prefix + "key_scale");
  TensorId scores = g.add(OpKind::matmul, {query, key}, MatmulAttributes{true}, prefix + "scores");
  if (t.scale == AttentionScale::scores) scores = scale(g, scores, t, prefix + "scores_scale");
  if (mask != AttentionMask::none) scores = g.add(OpKind::mask, {scores}, MaskAttributes{t.selecting_mask}, prefix + "mask");
  TensorId shares = g.add(OpKind::softmax, {scores}, {}, prefix + "softmax");
  shares = drop(g, shares, t.attention_dropout, prefix + "attention_dropout");
  TensorId context = g.add(OpKind::matmul, {shares, value}, MatmulAttributes{false}, prefix + "context");
  if (!t.strided_context) context = g.transpose(context, {1, 0, 2}, prefix + "context_permute");
  return g.reshape(context, {steps, t.heads * head_width(t)}, prefix + "context_merge");
}

/// The same in one operator. F.multi_head_attention_forward of PyTorch 2.0 packs queries, keys and values before it and the
/// context after it; a rotation writes them where the kernel reads them.
TensorId one_attention(GraphBuilder& g, const std::array<TensorId, 3>& projected, const TransformerLayers& t, AttentionMask mask,
                       const std::string& prefix) {
  const auto packed = [&](TensorId x, const char* name) {
    return t.rotary || !t.packs_heads ? x : g.transpose(x, {0, 1}, prefix + name);
  };
  const TensorId context =
      g.add(OpKind::attention,
            {packed(projected[0], "query_pack"), packed(projected[1], "key_pack"), packed(projected[2], "value_pack")},
            AttentionAttributes{t.heads, mask == AttentionMask::causal, kv_heads(t) == t.heads ? 0 : t.kv_heads, t.window,
                                t.latent.value_width, t.sinks},
            prefix + "attention");
  return packed(context, "context_pack");
}

/// What an implementation without a kernel of its own would write out is left to the cost of the operator.
bool one_operator(const TransformerLayers& t) { return t.fused_attention || t.window > 0 || t.sinks || t.latent.kv_rank > 0; }

/// Queries and keys turned by their positions, and values, from narrow vectors of each token.
std::array<TensorId, 3> project_latent(GraphBuilder& g, TensorId x, const TransformerLayers& t, const std::string& prefix) {
  const LatentProjections& l = t.latent;
  const std::int64_t query_width = t.heads * (l.nope_width + l.rope_width), own = t.heads * l.nope_width;
  TensorId narrow = x;
  if (l.query_rank > 0) {
    narrow = g.linear(x, l.query_rank, prefix + "query_down", t.attention_bias);
    narrow = rms_norm(g, narrow, 0, prefix + "query_norm");
  }
  const TensorId query = g.linear(narrow, query_width, prefix + (l.query_rank > 0 ? "query_up" : "query"), false);
  const TensorId down = g.linear(x, l.kv_rank + l.rope_width, prefix + "kv_down", t.attention_bias);
  const auto part = [&](TensorId whole, std::int64_t begin, std::int64_t end, const char* name) {
    return g.add(OpKind::slice, {whole}, SliceAttributes{1, begin, end}, prefix + name);
  };
  const TensorId latent = rms_norm(g, part(down, 0, l.kv_rank, "latent"), 0, prefix + "kv_norm");
  const TensorId turned =
      g.add(OpKind::rope, {part(down, l.kv_rank, l.kv_rank + l.rope_width, "key_shared")}, {}, prefix + "key_rope");
  const std::int64_t both = own + t.heads * l.value_width;
  const TensorId up = g.linear(latent, both, prefix + "kv_up", false);
  const TensorId key =
      g.add(OpKind::latent_keys, {part(up, 0, own, "key_own"), turned}, LatentKeysAttributes{t.heads}, prefix + "key");
  return {g.add(OpKind::rope, {query}, {}, prefix + "query_rope"), key, part(up, own, both, "value")};
}

/// Queries, keys and values as attention reads them.
std::array<TensorId, 3> attention_inputs(GraphBuilder& g, TensorId x, TensorId memory, const TransformerLayers& t,
                                         const std::string& prefix) {
  if (t.latent.kv_rank > 0) return project_latent(g, x, t, prefix);
  auto [query, key, value] = project(g, x, memory, t, prefix);
  if (t.head_norm) {
    query = rms_norm(g, query, head_width(t), prefix + "query_norm");
    key = rms_norm(g, key, head_width(t), prefix + "key_norm");
  }
  if (t.rotary) {
    query = g.add(OpKind::rope, {query}, {}, prefix + "query_rope");
    key = g.add(OpKind::rope, {key}, {}, prefix + "key_rope");
  }
  return {query, key, value};
}

/// Attention and feed-forward block side by side (GPT-J, GPT-NeoX, Phi).
TensorId parallel_layer(GraphBuilder& g, TensorId x, const TransformerLayers& t, AttentionMask mask, const std::string& prefix) {
  const TensorId read = norm(g, x, t, prefix + "attention.norm");
  const TensorId other = t.shared_norm ? read : norm(g, x, t, prefix + "feed_forward.norm");
  const TensorId attended = multi_head_attention(g, read, read, t, mask, prefix + "attention.");
  const TensorId fed = feed_forward(g, other, t, prefix + "feed_forward.");
  return g.add(
      OpKind::add,
      {drop(g, attended, t.dropout, prefix + "attention.dropout"), drop(g, fed, t.dropout, prefix + "feed_forward.dropout"), x},
      {}, prefix + "add");
}

/// The hyper-parameters of one layer: windows and experts may be of some layers only.
TransformerLayers layer_of(const TransformerNetwork& n, std::int64_t i) {
  TransformerLayers t = n.layer;
  if (n.full_every > 0 && (i + 1) % n.full_every == 0) t.window = 0;
  const Experts& e = n.layer.experts;
  if (i < e.first_dense || (i - e.first_dense + 1) % e.every != 0) t.experts.count = 0;
  return t;
}

}  // namespace

void calls_later(GraphBuilder& g, const ZooOptions& options, TransformerLayers& layers) {
  g.later_calls_attention();
  layers.fused_attention = options.fused_attention && options.later_code;
  layers.packs_heads = false;
}

TensorId multi_head_attention(GraphBuilder& g, TensorId x, TensorId memory, const TransformerLayers& layer, AttentionMask mask,
                              const std::string& prefix) {
  TransformerLayers t = layer;
  // A window of all tokens is none.
  if (t.window >= g.shape(memory).front()) t.window = 0;
  const std::array<TensorId, 3> inputs = attention_inputs(g, x, memory, t, prefix);
  const TensorId context =
      one_operator(t) ? one_attention(g, inputs, t, mask, prefix) : separate_attention(g, inputs, t, mask, prefix);
  return g.linear(context, t.width, prefix + "output", t.output_bias);
}

TensorId transformer_layer(GraphBuilder& g, TensorId x, const TransformerLayers& t, AttentionMask mask,
                           const std::string& prefix) {
  if (t.parallel) return parallel_layer(g, x, t, mask, prefix);
  x = residual(g, x, t, prefix + "attention.",
               [&](TensorId y) { return multi_head_attention(g, y, y, t, mask, prefix + "attention."); });
  return residual(g, x, t, prefix + "feed_forward.", [&](TensorId y) { return feed_forward(g, y, t, prefix + "feed_forward."); });
}

TensorId transformer_decoder_layer(GraphBuilder& g, TensorId x, TensorId memory, const TransformerLayers& t,
                                   const std::string& prefix) {
  x = residual(g, x, t, prefix + "attention.",
               [&](TensorId y) { return multi_head_attention(g, y, y, t, AttentionMask::causal, prefix + "attention."); });
  x = residual(g, x, t, prefix + "cross_attention.",
               [&](TensorId y) { return multi_head_attention(g, y, memory, t, padding_mask(t), prefix + "cross_attention."); });
  return residual(g, x, t, prefix + "feed_forward.", [&](TensorId y) { return feed_forward(g, y, t, prefix + "feed_forward."); });
}

TensorId layer_norm(GraphBuilder& g, TensorId x, const std::string& name) { return g.add(OpKind::layer_norm, {x}, {}, name); }

TensorId drop(GraphBuilder& g, TensorId x, double probability, const std::string& name) {
  return probability > 0.0 ? g.dropout(x, probability, name) : x;
}

TensorId token_embedding(GraphBuilder& g, TensorId tokens, std::int64_t rows, std::int64_t width, const std::string& name,
                         bool tied) {
  return g.add(OpKind::embedding, {tokens}, EmbeddingAttributes{rows, width, tied}, name);
}

TensorId tied_linear(GraphBuilder& g, TensorId x, std::int64_t rows, const std::string& name, bool bias) {
  return g.add(OpKind::linear, {x}, LinearAttributes{rows, bias, true}, name);
}

std::optional<std::string> unfit_groups(const Experts& e) {
  if (e.groups == 0) return std::nullopt;
  if (e.count % e.groups != 0) return fmt::format("{} experts do not divide over {} groups", e.count, e.groups);
  if (e.groups_per_token < 1 || e.groups_per_token > e.groups)
    return fmt::format("a token cannot go to {} of {} groups", e.groups_per_token, e.groups);
  if (e.per_token > e.groups_per_token * (e.count / e.groups))
    return fmt::format("the {} experts of a token do not fit {} of {} groups with {} experts each", e.per_token,
                       e.groups_per_token, e.groups, e.count / e.groups);
  return std::nullopt;
}

std::optional<std::string> too_large(const TransformerNetwork& n, std::int64_t length) {
  // Assumed: far beyond any network that was trained (1e12 weights, sequences of 1e6: 1e18 of the 9e18 that 64 bits hold).
  constexpr double kMostWeights = 1e15, kMostMacs = 2e17;
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  const TransformerLayers& t = n.layer;
  const double layers = d(n.encoder_layers + n.decoder_layers), width = d(t.width), tokens = d(length);
  const double head =
      t.latent.kv_rank > 0 ? d(t.latent.nope_width) + d(t.latent.rope_width) + d(t.latent.value_width) : d(head_width(t));
  const double inner = d(t.heads) * head, rank = d(t.latent.kv_rank) + d(t.latent.query_rank);
  const double experts = d(t.experts.count) + d(t.experts.shared);
  const double layer =
      8.0 * (width + rank) * inner + 3.0 * width * (d(t.filter) + experts * d(t.experts.filter)) + 2.0 * rank * width;
  const double weights = layers * layer + 2.0 * d(n.words) * (width + d(n.embedding));
  const double seen = t.window > 0 && n.full_every == 0 ? std::min(tokens, d(t.window)) : tokens;
  const double macs = tokens * (weights + layers * 4.0 * seen * inner);
  if (weights <= kMostWeights && macs <= kMostMacs && inner <= d(kMostExtent)) return std::nullopt;
  return fmt::format(
      "too large to simulate: about {:.3g} weights, {:.3g} multiply-adds of a sequence, {:.3g} features of all heads", weights,
      macs, inner);
}

void transformer_network(GraphBuilder& g, const TransformerNetwork& n) {
  const TransformerLayers& t = n.layer;
  const bool both = n.encoder_layers > 0 && n.decoder_layers > 0;
  TensorId x = embed(g, g.input(), n, both ? "encoder." : "", false);
  // The layers of either alone are alike but for what their mask hides.
  const std::int64_t first = both || n.decoder_layers == 0 ? n.encoder_layers : n.decoder_layers;
  const AttentionMask mask = n.decoder_layers > 0 && !both ? AttentionMask::causal : padding_mask(t);
  for (std::int64_t i = 0; i < first; ++i)
    x = transformer_layer(g, x, layer_of(n, i), mask, fmt::format("{}{}.", both ? "encoder." : "layer.", i));
  if (t.pre_norm) x = norm(g, x, t, both ? "encoder.norm" : "norm");
  if (both) {
    const TensorId memory = x;
    x = embed(g, g.another_input(g.shape(g.input()), "target"), n, "decoder.", true);
    for (std::int64_t i = 0; i < n.decoder_layers; ++i)
      x = transformer_decoder_layer(g, x, memory, layer_of(n, i), fmt::format("decoder.{}.", i));
    if (t.pre_norm) x = norm(g, x, t, "decoder.norm");
  }
  if (n.embedding > 0 && n.embedding != t.width) x = g.linear(x, n.embedding, "project_out", false);
  x = n.tied ? tied_linear(g, x, n.words, "scores", n.scores_bias) : g.linear(x, n.words, "scores", n.scores_bias);
  if (n.capped_scores) x = g.activation(x, ActivationKind::tanh, "scores_cap");
  g.softmax_loss(x, "loss");
}

}  // namespace tbdsim
