#pragma once
#include <optional>
#include <string>

#include "model/workload/graph_builder.hpp"
#include "model/workload/zoo/zoo_entry.hpp"

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

/// A feed-forward block as a mixture of experts (Shazeer et al., arXiv:1701.06538): each token goes through some of them.
struct Experts {
  std::int64_t count = 0;  ///< 0: one block for all tokens
  std::int64_t per_token = 1;
  std::int64_t filter = 0;            ///< of one expert
  std::int64_t shared = 0;            ///< experts as wide that every token goes through, as one block
  std::int64_t first_dense = 0;       ///< layers before the first that has experts
  std::int64_t every = 1;             ///< of the layers after these, each so manieth has experts
  bool router_bias = false;           ///< a number for each expert is added to its score
  bool bias = false;                  ///< of the experts' products
  std::int64_t groups = 0;            ///< of equally many experts; 0: a token goes to any
  std::int64_t groups_per_token = 0;  ///< in which all experts of a token lie
};

/// Keys and values from a narrow vector of each token (DeepSeek, arXiv:2405.04434).
struct LatentProjections {
  std::int64_t kv_rank = 0;     ///< width of that vector; 0: keys and values are projected as usual
  std::int64_t query_rank = 0;  ///< of another one for queries; 0: queries are projected as usual
  std::int64_t nope_width = 0;  ///< features of a head's queries and keys that positions leave alone
  std::int64_t rope_width = 0;  ///< features that positions turn; those of keys are the same in all heads
  std::int64_t value_width = 0;
};

/// Hyper-parameters of the layers of a transformer (Vaswani et al., arXiv:1706.03762): any encoder, decoder or
/// encoder-decoder is made of these.
struct TransformerLayers {
  std::int64_t width = 512, heads = 8, filter = 2048;
  std::int64_t head_width = 0;  ///< 0: width / heads
  std::int64_t kv_heads = 0;    ///< of keys and values, shared by equally many heads of queries; 0: `heads`
  OpKind norm = OpKind::layer_norm;
  bool pre_norm = false;          ///< the norm before a block rather than after its residual sum
  bool post_norm = false;         ///< with `pre_norm`: another one of what the block made, before the residual sum
  bool head_norm = false;         ///< queries and keys are scaled by the root mean square of each head
  bool parallel = false;          ///< attention and feed-forward block read the same input, and one sum joins them
  bool shared_norm = false;       ///< with `parallel`: both read the same norm of it
  std::int64_t window = 0;        ///< of causal attention: tokens that one sees, itself among them; 0: all before it
  bool sinks = false;             ///< each head has a trainable score beside those of the keys
  bool attention_bias = true;     ///< of the projections of queries, keys and values
  bool output_bias = true;        ///< of the projection of the context
  bool fused_projection = false;  ///< queries, keys and values of self-attention from one product
  bool strided_heads = false;     ///< sequences lie first, so that products read heads where they lie: no copies of them
  bool strided_context = false;   ///< and write them there: the context is not copied back either
  bool rotary = false;            ///< queries and keys are turned by their positions, which words then lack
  bool fused_attention = false;   ///< the framework's own attention, one operator that reads packed heads (rotary ones in place);
                                  ///< without dropout masks
  bool packs_heads = true;        ///< before that operator and after it; Hugging Face's code lets it read heads where they lie
  bool padding_mask = false;      ///< keys that pad a sentence are masked in the encoder and towards it
  bool selecting_mask = false;    ///< as `MaskAttributes::selects`
  bool feed_forward_bias = true;  ///< of its products
  bool gated = false;             ///< the feed-forward block has a third product, whose activation scales the first one's result
  Experts experts;
  LatentProjections latent;
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
  std::int64_t positions = 0;   ///< learned ones; 0: sinusoids, a constant table
  bool alibi = false;           ///< no positions: attention lowers scores by distance, inside its kernel
  std::int64_t full_every = 0;  ///< of the layers of a window, each so manieth sees all tokens; 0: none
  std::int64_t embedding = 0;   ///< width of a word's vector, where it is not that of the layers
  double embedding_dropout = 0.1;
  bool scaled_embedding = false;  ///< word vectors times the root of the width
  bool embedding_norm = false;    ///< a norm of words with their positions
  bool scores_bias = false;       ///< of the scores of words
  bool capped_scores = false;     ///< a tanh keeps the scores of words small (Gemma 2)
  bool tied = true;               ///< words are scored with the table of their vectors
};

/// Why the groups of experts do not fit their numbers; nothing: they do, or there are none.
[[nodiscard]] std::optional<std::string> unfit_groups(const Experts& experts);

/// Layers of code that wrote attention out, and calls F.scaled_dot_product_attention in later releases: with `later_code` they do
/// so, where the framework has it. Source: huggingface/transformers, issue 28005 (some networks since 4.36 of December 2023,
/// others release by release), pull requests 28802 (BERT) and 31172 (GPT-2); that all networks that call this have it by now is
/// assumed.
void calls_later(GraphBuilder& g, const ZooOptions& options, TransformerLayers& layers);

/// Why a network of a user's sizes is refused for sequences of `length`: counts of its weights or multiply-adds would come near
/// what 64 bits hold.
[[nodiscard]] std::optional<std::string> too_large(const TransformerNetwork& n, std::int64_t length);

/// Appends the network of `g.input()`, the tokens, up to the loss. An encoder and decoder take another input, as long,
/// for the target.
void transformer_network(GraphBuilder& g, const TransformerNetwork& n);

}  // namespace tbdsim
