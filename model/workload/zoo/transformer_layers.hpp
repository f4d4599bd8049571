#pragma once
#include <string>

#include "model/workload/graph_builder.hpp"

namespace tbdsim {

/// Where an implementation divides by the square root of the head width.
enum class AttentionScale {
  scores,         ///< the products of queries and keys (Hugging Face)
  query,          ///< the queries (fairseq, Tensor2Tensor)
  query_and_key,  ///< both, by a tensor of one element (PyTorch's nn.MultiheadAttention)
  product,        ///< inside a matrix product, whose library call scales its result (NVIDIA's Transformer)
};

/// Which keys a query of an attention does not see: none are hidden, those that pad a sentence, those that follow.
enum class AttentionMask { none, padding, causal };

/// Hyper-parameters of the layers of a transformer (Vaswani et al., arXiv:1706.03762): any encoder, decoder or
/// encoder-decoder is made of these.
struct TransformerLayers {
  std::int64_t width = 512, heads = 8, filter = 2048;
  std::int64_t head_width = 0;  ///< 0: width / heads
  std::int64_t kv_heads = 0;    ///< of keys and values, shared by equally many heads of queries; 0: `heads`
  OpKind norm = OpKind::layer_norm;
  bool pre_norm = false;          ///< the norm before a block rather than after its residual sum
  bool attention_bias = true;     ///< of the projections of queries, keys and values
  bool output_bias = true;        ///< of the projection of the context
  bool fused_projection = false;  ///< queries, keys and values of self-attention from one product
  bool strided_heads = false;     ///< sequences lie first, so that products read heads where they lie: no copies of them
  bool strided_context = false;   ///< and write them there: the context is not copied back either
  bool rotary = false;            ///< queries and keys are turned by their positions, which words then lack
  bool fused_attention = false;   ///< the framework's own attention, one operator that reads packed heads (rotary ones in place);
                                  ///< without dropout masks
  bool padding_mask = false;      ///< keys that pad a sentence are masked in the encoder and towards it
  bool selecting_mask = false;    ///< as `MaskAttributes::selects`
  bool feed_forward_bias = true;  ///< of its products
  bool gated = false;             ///< the feed-forward block has a third product, whose activation scales the first one's result
  AttentionScale scale = AttentionScale::scores;
  ActivationKind activation = ActivationKind::gelu;
  double dropout = 0.1, attention_dropout = 0.1;
  double activation_dropout = 0.0;  ///< between the two products of the feed-forward block
};

/// softmax(q k^T / sqrt(d)) v for all heads; `x` gives the queries, `memory` keys and values (self-attention: x
/// itself). A mask is added to the products; one operator skips what a causal one hides. Ends with the output projection.
TensorId multi_head_attention(GraphBuilder& g, TensorId x, TensorId memory, const TransformerLayers& t, AttentionMask mask,
                              const std::string& prefix);

/// Self-attention and feed-forward block, each with its residual sum and norm. A causal one is the layer of GPT.
TensorId transformer_layer(GraphBuilder& g, TensorId x, const TransformerLayers& t, AttentionMask mask,
                           const std::string& prefix);

/// The layer of a decoder with an encoder: masked self-attention, attention over `memory`, feed-forward block.
TensorId transformer_decoder_layer(GraphBuilder& g, TensorId x, TensorId memory, const TransformerLayers& t,
                                   const std::string& prefix);

/// Layer norm, and dropout that a probability of 0 leaves out.
TensorId layer_norm(GraphBuilder& g, TensorId x, const std::string& name);
TensorId drop(GraphBuilder& g, TensorId x, double probability, const std::string& name);

/// Tokens to vectors.
TensorId token_embedding(GraphBuilder& g, TensorId tokens, std::int64_t rows, std::int64_t width, const std::string& name,
                         bool tied = false);
/// Products with an embedding table: scores of all its words.
TensorId tied_linear(GraphBuilder& g, TensorId x, std::int64_t rows, const std::string& name, bool bias = false);

/// Hyper-parameters of a whole transformer over words: an encoder, a decoder, or both.
struct TransformerNetwork {
  TransformerLayers layer;
  std::int64_t encoder_layers = 0, decoder_layers = 0;  ///< at least one of both; decoders mask what follows
  std::int64_t words = 0;
  std::int64_t positions = 0;  ///< learned ones; 0: sinusoids, a constant table
  std::int64_t embedding = 0;  ///< width of a word's vector, where it is not that of the layers
  double embedding_dropout = 0.1;
  bool scaled_embedding = false;  ///< word vectors times the root of the width
  bool tied = true;               ///< words are scored with the table of their vectors
};

/// Appends the network of `g.input()`, the tokens, up to the loss. An encoder and decoder take another input, as long,
/// for the target.
void transformer_network(GraphBuilder& g, const TransformerNetwork& n);

}  // namespace tbdsim
