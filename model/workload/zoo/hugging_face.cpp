// Networks of Hugging Face's library, each a row: encoders, decoders and both, as their default configurations are. Longer than
// most files of the folder, since the rows are its data.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "Hugging Face transformers v4.26, configuration and modeling files of the model; shapes of pytorch benchmarks/dynamo";
constexpr const char* kTorchBench = "pytorch/benchmark, torchbenchmark/util/framework/huggingface/model_factory.py";

enum class Head {
  masked,    ///< a product, its activation and norm, then scores of all words with a bias
  causal,    ///< scores of all words
  biased,    ///< scores of all words and a constant added to them, as after BART's decoder
  answer,    ///< the ends of an answer
  sequence,  ///< two classes from the last token
};

// What a network does beyond the common.
constexpr unsigned kPreNorm = 1;       // a norm before each block, and one at the end
constexpr unsigned kNormedWords = 2;   // a norm after the sum of the embeddings
constexpr unsigned kScaledWords = 4;   // word vectors times the root of the width
constexpr unsigned kRelu = 8;          // else GELU
constexpr unsigned kSameLayer = 16;    // all layers share one's arrays
constexpr unsigned kScalesQuery = 32;  // by the root of the head's width, rather than the products
constexpr unsigned kMasksPads = 64;    // adds a mask of padding
constexpr unsigned kFused = 128;       // one product for queries, keys and values
constexpr unsigned kSelects = 256;     // a causal mask picks rather than adds
constexpr unsigned kComposed = 1024;   // GELU by its tanh form, written out in eight operators
constexpr unsigned kBoxes = 512;       // words have boxes on a page: six more lookups in four tables

constexpr unsigned kBert = kNormedWords | kMasksPads;
constexpr unsigned kBart = kNormedWords | kScalesQuery;
constexpr unsigned kAlbert = kBert | kSameLayer | kComposed;
constexpr unsigned kGpt2 = kPreNorm | kFused | kSelects | kComposed;
constexpr unsigned kPegasus = kPreNorm | kScalesQuery;

struct TextDefinition {
  std::string_view name;
  std::int64_t encoder, decoder, width, heads, filter;
  std::int64_t words, positions;  ///< rows of the tables; no positions: sinusoids
  std::int64_t types, embedding;  ///< rows of the table of segments; width of a word's vector, 0: that of the layers
  unsigned style;
  Head head;
  int seq_len, batch;
  double dropout = 0.1, attention_dropout = 0.1;
};

constexpr std::array kDefinitions = {
    TextDefinition{"AlbertForMaskedLM", 12, 0, 4096, 64, 16384, 30000, 512, 2, 128, kAlbert, Head::masked, 512, 4, 0, 0},
    TextDefinition{"AlbertForQuestionAnswering", 12, 0, 4096, 64, 16384, 30000, 512, 2, 128, kAlbert, Head::answer, 512, 4, 0, 0},
    TextDefinition{"BartForCausalLM", 0, 12, 1024, 16, 4096, 50265, 1026, 0, 0, kBart, Head::causal, 1024, 4, 0.1, 0},
    TextDefinition{"BartForConditionalGeneration", 12, 12, 1024, 16, 4096, 50265, 1026, 0, 0, kBart, Head::biased, 1024, 2, 0.1,
                   0},
    TextDefinition{"BertForMaskedLM", 12, 0, 768, 12, 3072, 30522, 512, 2, 0, kBert, Head::masked, 512, 16},
    TextDefinition{"BertForQuestionAnswering", 12, 0, 768, 12, 3072, 30522, 512, 2, 0, kBert, Head::answer, 512, 16},
    TextDefinition{"BlenderbotForCausalLM", 0, 24, 2560, 32, 10240, 8008, 128, 0, 0, kPegasus, Head::causal, 128, 32, 0.1, 0},
    TextDefinition{"BlenderbotForConditionalGeneration", 2, 24, 2560, 32, 10240, 8008, 128, 0, 0, kPegasus, Head::biased, 128, 16,
                   0.1, 0},
    TextDefinition{"BlenderbotSmallForCausalLM", 0, 8, 512, 16, 2048, 50265, 512, 0, 0, kBart, Head::causal, 128, 64, 0.1, 0},
    TextDefinition{"CamemBert", 12, 0, 768, 12, 3072, 32005, 514, 1, 0, kBert, Head::masked, 512, 16},
    TextDefinition{"DistilBertForMaskedLM", 6, 0, 768, 12, 3072, 30522, 512, 0, 0, kBert | kScalesQuery, Head::masked, 128, 128},
    TextDefinition{"DistilBertForQuestionAnswering", 6, 0, 768, 12, 3072, 30522, 512, 0, 0, kBert | kScalesQuery, Head::answer,
                   128, 256},
    TextDefinition{"DistillGPT2", 0, 6, 768, 12, 3072, 50257, 1024, 0, 0, kGpt2, Head::causal, 512, 16},
    TextDefinition{"ElectraForCausalLM", 12, 0, 256, 4, 1024, 30522, 512, 2, 128, kBert, Head::masked, 512, 32},
    TextDefinition{"ElectraForQuestionAnswering", 12, 0, 256, 4, 1024, 30522, 512, 2, 128, kBert, Head::answer, 512, 64},
    TextDefinition{"GPT2ForSequenceClassification", 0, 12, 768, 12, 3072, 50257, 1024, 0, 0, kGpt2, Head::sequence, 1024, 4},
    TextDefinition{"LayoutLMForMaskedLM", 12, 0, 768, 12, 3072, 30522, 512, 2, 0, kBert | kBoxes, Head::masked, 512, 16},
    TextDefinition{"LayoutLMForSequenceClassification", 12, 0, 768, 12, 3072, 30522, 512, 2, 0, kBert | kBoxes, Head::sequence,
                   512, 16},
    TextDefinition{"M2M100ForConditionalGeneration", 12, 12, 1024, 16, 4096, 128112, 0, 0, 0, kPegasus | kRelu | kScaledWords,
                   Head::causal, 128, 16},
    TextDefinition{"MBartForCausalLM", 0, 12, 1024, 16, 4096, 50265, 1026, 0, 0, kPegasus | kNormedWords, Head::causal, 1024, 4,
                   0.1, 0},
    TextDefinition{"MBartForConditionalGeneration", 12, 12, 1024, 16, 4096, 50265, 1026, 0, 0, kPegasus | kNormedWords,
                   Head::biased, 1024, 2, 0.1, 0},
    TextDefinition{"MegatronBertForCausalLM", 24, 0, 1024, 16, 4096, 29056, 512, 2, 0, kPreNorm | kMasksPads, Head::masked, 512,
                   4},
    TextDefinition{"MegatronBertForQuestionAnswering", 24, 0, 1024, 16, 4096, 29056, 512, 2, 0, kPreNorm | kMasksPads,
                   Head::answer, 512, 8},
    TextDefinition{"PLBartForCausalLM", 0, 6, 768, 12, 3072, 50005, 1026, 0, 0, kBart | kScaledWords, Head::causal, 1024, 8},
    TextDefinition{"PLBartForConditionalGeneration", 6, 6, 768, 12, 3072, 50005, 1026, 0, 0, kBart | kScaledWords, Head::biased,
                   1024, 4},
    TextDefinition{"PegasusForCausalLM", 0, 12, 1024, 16, 4096, 50265, 0, 0, 0, kPegasus, Head::causal, 128, 32, 0.1, 0},
    TextDefinition{"PegasusForConditionalGeneration", 12, 12, 1024, 16, 4096, 50265, 0, 0, 0, kPegasus, Head::biased, 128, 32,
                   0.1, 0},
    TextDefinition{"RobertaForCausalLM", 12, 0, 768, 12, 3072, 50265, 512, 2, 0, kBert, Head::masked, 512, 16},
    TextDefinition{"RobertaForQuestionAnswering", 12, 0, 768, 12, 3072, 50265, 512, 2, 0, kBert, Head::answer, 512, 16},
    TextDefinition{"Speech2Text2ForCausalLM", 0, 6, 256, 4, 2048, 10000, 0, 0, 0, kScalesQuery | kRelu | kScaledWords,
                   Head::causal, 128, 256, 0.1, 0},
    TextDefinition{"TrOCRForCausalLM", 0, 12, 1024, 16, 4096, 50265, 514, 0, 0, kBart, Head::causal, 256, 32, 0.1, 0},
    TextDefinition{"XGLMForCausalLM", 0, 24, 1024, 16, 4096, 256008, 0, 0, 0, kPegasus | kScaledWords, Head::causal, 128, 16},
    TextDefinition{"hf_Albert", 12, 0, 768, 12, 3072, 30000, 512, 2, 128, kAlbert, Head::masked, 512, 8, 0, 0},
    TextDefinition{"hf_Bart", 6, 6, 768, 12, 3072, 50265, 1026, 0, 0, kBart, Head::biased, 512, 4},
    TextDefinition{"hf_Bert", 12, 0, 768, 12, 3072, 30522, 512, 2, 0, kBert, Head::masked, 512, 4},
    TextDefinition{"hf_Bert_large", 24, 0, 1024, 16, 4096, 30522, 512, 2, 0, kBert, Head::masked, 512, 4},
    TextDefinition{"hf_DistilBert", 6, 0, 768, 12, 3072, 30522, 512, 0, 0, kBert | kScalesQuery, Head::masked, 512, 8},
    TextDefinition{"hf_GPT2", 0, 12, 768, 12, 3072, 50257, 1024, 0, 0, kGpt2, Head::causal, 512, 4},
    TextDefinition{"hf_GPT2_large", 0, 36, 1280, 20, 5120, 50257, 1024, 0, 0, kGpt2, Head::causal, 512, 4},
};

bool has(const TextDefinition& d, unsigned style) { return (d.style & style) != 0; }

TransformerLayers layers_of(const TextDefinition& d) {
  TransformerLayers t;
  t.width = d.width;
  t.heads = d.heads;
  t.filter = d.filter;
  t.pre_norm = has(d, kPreNorm);
  t.fused_projection = has(d, kFused);
  t.selecting_mask = has(d, kSelects);
  t.padding_mask = has(d, kMasksPads);
  t.scale = has(d, kScalesQuery) ? AttentionScale::query : AttentionScale::scores;
  t.activation = has(d, kRelu) ? ActivationKind::relu : ActivationKind::gelu;
  t.dropout = d.dropout;
  t.attention_dropout = d.attention_dropout;
  return t;
}

/// x (1 + tanh(c (x + a x^3))) / 2, a kernel each.
TensorId composed_gelu(GraphBuilder& g, TensorId x, const std::string& p) {
  const auto scaled = [&](TensorId y, const char* name) { return g.add(OpKind::multiply, {y}, {}, p + name); };
  const TensorId cube = scaled(g.activation(x, ActivationKind::power, p + "pow"), "cube");
  const TensorId inner = g.activation(scaled(g.plus(x, cube, p + "sum"), "root"), ActivationKind::tanh, p + "tanh");
  return g.add(OpKind::multiply, {scaled(x, "half"), g.add(OpKind::mask, {inner}, {}, p + "one")}, {}, p + "gelu");
}

/// A layer whose activation is written out.
TensorId composed_layer(GraphBuilder& g, TensorId x, const TransformerLayers& t, AttentionMask mask, const std::string& p) {
  const auto residual = [&](const std::string& q, const auto& block) {
    const TensorId in = t.pre_norm ? layer_norm(g, x, q + "norm") : x;
    const TensorId sum = g.plus(drop(g, block(in, q), t.dropout, q + "dropout"), x, q + "add");
    x = t.pre_norm ? sum : layer_norm(g, sum, q + "norm");
  };
  residual(p + "attention.", [&](TensorId y, const std::string& q) { return multi_head_attention(g, y, y, t, mask, q); });
  residual(p + "feed_forward.", [&](TensorId y, const std::string& q) {
    return g.linear(composed_gelu(g, g.linear(y, t.filter, q + "linear1"), q), t.width, q + "linear2");
  });
  return x;
}

/// Left, upper, right and lower edge, height and width of each word's box.
TensorId add_boxes(GraphBuilder& g, TensorId x, std::int64_t width, const std::string& p) {
  constexpr std::int64_t kPlaces = 1024;
  for (const auto& [name, again] : {std::pair{"x", false}, std::pair{"y", false}, std::pair{"x", true}, std::pair{"y", true},
                                    std::pair{"h", false}, std::pair{"w", false}}) {
    const std::string q = fmt::format("{}{}{}", p, name, again ? "_end" : "");
    const TensorId place = g.another_input(Shape{g.shape(x).front()}, q + ".place");
    x = g.plus(x, token_embedding(g, place, kPlaces, width, q, again), q + ".add");
  }
  return x;
}

TensorId embed(GraphBuilder& g, TensorId tokens, const TextDefinition& d, const std::string& p, bool again) {
  const std::int64_t own = d.embedding > 0 ? d.embedding : d.width;
  TensorId x = token_embedding(g, tokens, d.words, own, p + "word", again);
  if (has(d, kScaledWords)) x = g.add(OpKind::multiply, {x}, {}, p + "scale");
  if (d.types > 0) {
    const TensorId types = g.another_input(g.shape(tokens), p + "types");
    x = g.plus(x, token_embedding(g, types, d.types, own, p + "type"), p + "type_add");
  }
  x = d.positions > 0 ? g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{d.positions}, p + "position")
                      : g.add(OpKind::mask, {x}, {}, p + "position");
  if (has(d, kBoxes)) x = add_boxes(g, x, own, p);
  if (has(d, kNormedWords)) x = layer_norm(g, x, p + "norm");
  x = drop(g, x, d.dropout, p + "dropout");
  return own != d.width ? g.linear(x, d.width, p + "project") : x;
}

/// The first norm of a decoder-only network is that of its last layer's sum.
void score(GraphBuilder& g, TensorId x, const TextDefinition& d) {
  const std::int64_t own = d.embedding > 0 ? d.embedding : d.width;
  switch (d.head) {
    case Head::answer:
      g.softmax_loss(g.transpose(g.linear(x, 2, "qa_outputs"), {1, 0}, "ends"), "loss");
      return;
    case Head::sequence: {
      if (d.decoder > 0) {
        // Every token is scored, one of them counts.
        x = g.linear(x, 2, "score", false);
        g.softmax_loss(g.add(OpKind::gather, {x}, GatherAttributes{1}, "last"), "loss");
        return;
      }
      x = g.add(OpKind::slice, {x}, SliceAttributes{0, 0, 1}, "pooler.first");
      x = g.activation(g.linear(x, d.width, "pooler"), ActivationKind::tanh, "pooler.tanh");
      g.softmax_loss(g.linear(drop(g, x, d.dropout, "dropout"), 2, "classifier"), "loss");
      return;
    }
    case Head::masked:
      x = layer_norm(g, g.activation(g.linear(x, own, "transform"), ActivationKind::gelu, "transform.gelu"), "transform.norm");
      x = tied_linear(g, x, d.words, "scores", true);
      break;
    case Head::biased:
      x = g.add(OpKind::mask, {tied_linear(g, x, d.words, "scores")}, {}, "scores.bias");
      break;
    case Head::causal:
      x = tied_linear(g, x, d.words, "scores");
      break;
  }
  g.softmax_loss(x, "loss");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(sequence_length(entry, options)));
  TransformerLayers t = layers_of(*d);
  calls_later(g, options, t);
  const bool both = d->encoder > 0 && d->decoder > 0;
  const AttentionMask mask = d->encoder == 0       ? AttentionMask::causal
                             : has(*d, kMasksPads) ? AttentionMask::padding
                                                   : AttentionMask::none;
  TensorId x = embed(g, g.input(), *d, "embeddings.", false);
  const std::int64_t first = d->encoder > 0 ? d->encoder : d->decoder;
  for (std::int64_t i = 0; i < first; ++i) {
    if (has(*d, kSameLayer) && i == 1) g.set_weights(GraphBuilder::Weights::shared);
    const std::string p = fmt::format("layer.{}.", i);
    x = has(*d, kComposed) ? composed_layer(g, x, t, mask, p) : transformer_layer(g, x, t, mask, p);
  }
  g.set_weights(GraphBuilder::Weights::own);
  if (t.pre_norm) x = layer_norm(g, x, "norm");
  if (both) {
    const TensorId memory = x;
    x = embed(g, g.another_input(g.shape(g.input()), "target"), *d, "decoder.embeddings.", true);
    for (std::int64_t i = 0; i < d->decoder; ++i) x = transformer_decoder_layer(g, x, memory, t, fmt::format("decoder.{}.", i));
    if (t.pre_norm) x = layer_norm(g, x, "decoder.norm");
  }
  score(g, x, *d);
  return std::move(g).finish();
}

}  // namespace

void append_hugging_face(std::vector<ZooEntry>& entries) {
  for (const TextDefinition& d : kDefinitions) {
    const char* application = d.head == Head::answer     ? "question answering"
                              : d.head == Head::sequence ? "text classification"
                              : d.head == Head::biased   ? "text generation"
                                                         : "language modelling";
    ZooEntry entry = sequence_entry(std::string(d.name), "hf", application, "synthetic", d.seq_len, d.batch,
                                    d.name.starts_with("hf_") ? kTorchBench : kSource, build);
    entry.layers =
        d.encoder > 0 && d.decoder > 0 ? fmt::format("{}+{}", d.encoder, d.decoder) : std::to_string(d.encoder + d.decoder);
    entry.dominant_layer = "attention";
    entries.push_back(std::move(entry));
  }
}

}  // namespace tbdsim
