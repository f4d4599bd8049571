// Encoders of text whose layers are not BERT's: Longformer's windows, MobileBERT's bottlenecks, FNet's transforms, ConvBERT's
// kernels made of words.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kLongformer =
    "Hugging Face transformers v4.26, models/longformer, allenai/longformer-base-4096 (arXiv:2004.05150)";
constexpr const char* kMobile = "Hugging Face transformers v4.26, models/mobilebert, default configuration (arXiv:2004.02984)";
constexpr const char* kFourier = "Hugging Face transformers v4.26, models/fnet, google/fnet-base (arXiv:2105.03824)";
constexpr const char* kConvolution =
    "Hugging Face transformers v4.26, models/convbert, YituTech/conv-bert-base (arXiv:2008.02496)";
constexpr double kDropout = 0.1;

/// Rows x width to heads x rows x head width: a copy.
TensorId split(GraphBuilder& g, TensorId x, std::int64_t heads, const std::string& name) {
  const Shape in = g.shape(x);
  return g.transpose(g.reshape(x, {in[0], heads, in[1] / heads}, name + "_heads"), {1, 0, 2}, name + "_permute");
}

TensorId join(GraphBuilder& g, TensorId x, const std::string& name) {
  const Shape in = g.shape(x);
  return g.reshape(g.transpose(x, {1, 0, 2}, name + "_permute"), {in[1], in[0] * in[2]}, name + "_merge");
}

TensorId product(GraphBuilder& g, TensorId a, TensorId b, bool transposed, const std::string& name) {
  return g.add(OpKind::matmul, {a, b}, MatmulAttributes{transposed}, name);
}

TensorId pass(GraphBuilder& g, TensorId x, const std::string& name) { return g.add(OpKind::mask, {x}, {}, name); }

/// Words, segments, positions and their norm.
TensorId embed(GraphBuilder& g, std::int64_t words, std::int64_t width, std::int64_t positions, std::int64_t types) {
  TensorId x = token_embedding(g, g.input(), words, width, "embeddings.word");
  const TensorId segment = g.another_input(g.shape(g.input()), "segments");
  x = g.plus(x, token_embedding(g, segment, types, width, "embeddings.type"), "embeddings.add");
  x = g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{positions}, "embeddings.position");
  return layer_norm(g, x, "embeddings.norm");
}

/// A residual sum and its norm.
TensorId added(GraphBuilder& g, TensorId y, TensorId x, const std::string& p) {
  return layer_norm(g, g.plus(g.dropout(y, kDropout, p + "dropout"), x, p + "add"), p + "norm");
}

TensorId feed_forward(GraphBuilder& g, TensorId x, std::int64_t filter, const std::string& p) {
  const std::int64_t width = g.shape(x).back();
  const TensorId y = g.activation(g.linear(x, filter, p + "intermediate"), ActivationKind::gelu, p + "gelu");
  return added(g, g.linear(y, width, p + "output"), x, p);
}

void score(GraphBuilder& g, TensorId x, std::int64_t words) {
  const std::int64_t width = g.shape(x).back();
  x = layer_norm(g, g.activation(g.linear(x, width, "transform"), ActivationKind::gelu, "transform.gelu"), "transform.norm");
  g.softmax_loss(tied_linear(g, x, words, "scores", true), "loss");
}

/// Pieces of `length` rows, `step` apart, of every head, as batched products read them: a copy.
TensorId pieces(GraphBuilder& g, TensorId x, std::int64_t length, std::int64_t step, const std::string& name) {
  std::vector<TensorId> parts;
  for (std::int64_t begin = 0; begin + length <= g.shape(x)[1]; begin += step)
    parts.push_back(
        g.add(OpKind::slice, {x}, SliceAttributes{1, begin, begin + length}, fmt::format("{}_{}", name, parts.size())));
  if (parts.size() == 1) return g.transpose(parts.front(), {0, 1, 2}, name);
  return g.add(OpKind::concat, parts, ConcatAttributes{0}, name);
}

/// A part of `x` cut out by an index.
TensorId cut(GraphBuilder& g, TensorId x, std::int64_t axis, std::int64_t begin, std::int64_t end, const std::string& name) {
  return g.add(OpKind::slice, {x}, SliceAttributes{axis, begin, end, true}, name);
}

/// A pass over `x` that changes it in place through a view.
TensorId write(GraphBuilder& g, TensorId x, const std::string& name) {
  return g.add(OpKind::mask, {x}, MaskAttributes{false, true}, name);
}

/// A projection of words that lie batch last: they are copied first, and the bias is a kernel of its own.
TensorId project_turned(GraphBuilder& g, TensorId x, const std::string& name) {
  const std::int64_t width = g.shape(x).back();
  const TensorId y = g.linear(g.transpose(x, {0, 1}, name + "_rows"), width, name, false);
  return g.add(OpKind::learned_bias, {y}, LearnedBiasAttributes{}, name + "_bias");
}

/// Scores of overlapping pieces of `2 reach` words, so arranged that a row holds one word's `2 reach + 1` scores: four parts are
/// cut out of the products and written into zeros, then both ends of the sequence and the padding are masked in place.
TensorId diagonals(GraphBuilder& g, TensorId products, std::int64_t heads, std::int64_t reach, const std::string& p) {
  const std::int64_t batch = g.shape(products).front(), seen = 2 * reach + 1;
  const TensorId padded = g.add(OpKind::pad, {products}, PadAttributes{0, 1, 0, 0}, p + "skew");
  const TensorId skewed = g.reshape(padded, {batch, 2 * reach, seen}, p + "skewed");
  const auto part = [&](std::int64_t first, std::int64_t row, std::int64_t begin, std::int64_t end, const std::string& name) {
    TensorId y = skewed;
    if (first > 0) y = cut(g, y, 0, first, batch, name + "_piece");
    return cut(g, cut(g, y, 1, row, row + reach, name + "_rows"), 2, begin, end, name);
  };
  const TensorId above =
      g.add(OpKind::concat, {part(0, 0, 0, reach + 1, p + "upper"), part(batch - heads, reach, 0, reach + 1, p + "last_upper")},
            ConcatAttributes{0}, p + "upper_written");
  const TensorId below =
      g.add(OpKind::concat,
            {part(0, reach - 1, reach + 1, seen, p + "lower"), part(batch - heads, 0, reach + 1, seen, p + "first_lower")},
            ConcatAttributes{0}, p + "lower_written");
  TensorId scores = g.add(OpKind::concat, {above, below}, ConcatAttributes{2}, p + "diagonals");
  return write(g, write(g, write(g, scores, p + "assigned"), p + "mask_ends"), p + "mask_padding");
}

/// Every word sees `reach` words on each side: products of overlapping pieces of the sequence. Queries, keys and values of global
/// attention do not learn without global words and are left out, as are the masks' own small kernels.
TensorId window_attention(GraphBuilder& g, TensorId x, std::int64_t heads, std::int64_t reach, const std::string& p) {
  const std::int64_t width = g.shape(x).back(), steps = g.shape(x).front();
  const TensorId query = g.add(OpKind::multiply, {project_turned(g, x, p + "query")}, {}, p + "query_scale", true);
  const TensorId q = split(g, query, heads, p + "query"), k = split(g, project_turned(g, x, p + "key"), heads, p + "key"),
                 v = split(g, project_turned(g, x, p + "value"), heads, p + "value");
  const TensorId scores = product(g, pieces(g, q, 2 * reach, reach, p + "query_pieces"),
                                  pieces(g, k, 2 * reach, reach, p + "key_pieces"), true, p + "scores");
  // The softmax copies what it reads, since rows of a word lie apart, and what is masked is filled in a copy.
  TensorId rows = pass(g, diagonals(g, scores, heads, reach, p), p + "softmax_rows");
  rows = g.add(OpKind::softmax, {rows}, {}, p + "softmax");
  const auto fill = [&](const std::string& name) { rows = g.add(OpKind::mask, {rows}, MaskAttributes{true}, p + name); };
  fill("copy_masked");
  fill("fill_masked");
  TensorId shares = pass(g, g.dropout(rows, kDropout, p + "softmax_dropout"), p + "blocks");
  // Back to blocks: each word's row moves right by its place.
  const std::int64_t batch = g.shape(shares).front(), wide = 3 * reach + 1;
  shares = g.reshape(g.add(OpKind::pad, {shares}, PadAttributes{0, 0, 0, reach + 1}, p + "unskew"), {batch, reach * (wide + 1)},
                     p + "unskewed");
  shares = g.reshape(cut(g, shares, 1, 0, reach * wide, p + "unskewed_rows"), {batch, reach, wide}, p + "moved");
  shares = cut(g, shares, 2, 0, wide - 1, p + "moved_rows");
  const TensorId values = pieces(g, g.add(OpKind::pad, {v}, PadAttributes{reach, reach, 0, 0}, p + "value_pad"), 3 * reach, reach,
                                 p + "value_pieces");
  const TensorId context =
      g.reshape(product(g, shares, values, false, p + "context"), {heads, steps, width / heads}, p + "context_rows");
  return g.linear(join(g, context, p + "context"), width, p + "output");
}

Result<OpGraph> build_longformer(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kWords = 50265, kWidth = 768, kHeads = 12, kReach = 256;
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(steps));
  if (steps < 2 * kReach || steps % (2 * kReach) != 0) {
    g.problem(fmt::format("{}: expects a multiple of {} words, got {}", entry.name, 2 * kReach, steps));
    return std::move(g).finish();
  }
  TensorId x = g.dropout(embed(g, kWords, kWidth, 4098, 1), kDropout, "embeddings.dropout");
  for (int i = 0; i < 12; ++i) {
    const std::string p = fmt::format("layer.{}.", i);
    x = added(g, window_attention(g, x, kHeads, kReach, p + "attention."), x, p + "attention.");
    x = feed_forward(g, x, 4 * kWidth, p);
  }
  score(g, x, kWords);
  return std::move(g).finish();
}

/// MobileBERT's norm: a factor and a sum for each feature, without statistics.
TensorId no_norm(GraphBuilder& g, TensorId x, const std::string& name) {
  return g.add(OpKind::learned_bias, {g.add(OpKind::learned_scale, {x}, {}, name + ".scale")}, LearnedBiasAttributes{}, name);
}

/// Four feed-forward blocks at a quarter of the width between two products that narrow and widen.
TensorId mobile_layer(GraphBuilder& g, TensorId x, const std::string& p) {
  constexpr std::int64_t kNarrow = 128, kHeads = 4, kFilter = 512;
  const std::int64_t width = g.shape(x).back();
  const auto narrow = [&](const char* name) { return no_norm(g, g.linear(x, kNarrow, p + name), p + name + ".norm"); };
  TensorId y = narrow("bottleneck.input");
  const TensorId shared = narrow("bottleneck.attention");
  const TensorId q = split(g, g.linear(shared, kNarrow, p + "query"), kHeads, p + "query"),
                 k = split(g, g.linear(shared, kNarrow, p + "key"), kHeads, p + "key"),
                 v = split(g, g.linear(x, kNarrow, p + "value"), kHeads, p + "value");
  TensorId scores = g.add(OpKind::multiply, {product(g, q, k, true, p + "scores")}, {}, p + "scale");
  const TensorId shares =
      g.dropout(g.add(OpKind::softmax, {pass(g, scores, p + "mask")}, {}, p + "softmax"), kDropout, p + "softmax_dropout");
  const TensorId context = join(g, product(g, shares, v, false, p + "context"), p + "context");
  y = no_norm(g, g.plus(g.linear(context, kNarrow, p + "attention.output"), y, p + "attention.add"), p + "attention.norm");
  for (int i = 0; i < 4; ++i) {
    const std::string f = fmt::format("{}ffn.{}.", p, i);
    const TensorId z = g.relu(g.linear(y, kFilter, f + "intermediate"), f + "relu");
    y = no_norm(g, g.plus(g.linear(z, kNarrow, f + "output"), y, f + "add"), f + "norm");
  }
  return no_norm(g, g.plus(g.linear(y, width, p + "output"), x, p + "add"), p + "norm");
}

Result<OpGraph> build_mobile(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kWords = 30522, kWidth = 512, kOwn = 128, kPositions = 512;
  const std::int64_t steps = sequence_length(entry, options);
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(steps));
  // A word's vector stands between its neighbours'.
  const TensorId words = token_embedding(g, g.input(), kWords, kOwn, "embeddings.word");
  const auto shifted = [&](const char* name) { return g.transpose(words, {0, 1}, name); };
  TensorId x = g.linear(g.concat({shifted("embeddings.next"), words, shifted("embeddings.previous")}, "embeddings.join"), kWidth,
                        "embeddings.transform");
  x = g.add(OpKind::learned_bias, {x}, LearnedBiasAttributes{kPositions}, "embeddings.position");
  x = g.plus(x, token_embedding(g, g.another_input(Shape{steps}, "segments"), 2, kWidth, "embeddings.type"), "embeddings.add");
  x = no_norm(g, x, "embeddings.norm");
  for (int i = 0; i < 24; ++i) x = mobile_layer(g, x, fmt::format("layer.{}.", i));
  if (entry.name == "MobileBertForQuestionAnswering") {
    g.softmax_loss(g.transpose(g.linear(x, 2, "qa_outputs"), {1, 0}, "ends"), "loss");
    return std::move(g).finish();
  }
  x = layer_norm(g, g.relu(g.linear(x, kWidth, "transform"), "transform.relu"), "transform.norm");
  // Scores by the words' own vectors and by a table for the rest of the width.
  const TensorId own = g.add(OpKind::slice, {x}, SliceAttributes{1, 0, kOwn}, "scores.own"),
                 rest = g.add(OpKind::slice, {x}, SliceAttributes{1, kOwn, kWidth}, "scores.rest");
  const TensorId scores =
      g.plus(tied_linear(g, own, kWords, "scores.tied"), g.linear(rest, kWords, "scores.dense", false), "scores.add");
  g.softmax_loss(g.add(OpKind::learned_bias, {scores}, LearnedBiasAttributes{}, "scores.bias"), "loss");
  return std::move(g).finish();
}

/// Two transforms of complex numbers and the real part of the result: ten passes over as many real numbers.
TensorId fourier(GraphBuilder& g, TensorId x, const std::string& p) {
  for (int i = 0; i < 5; ++i) x = g.transpose(x, {0, 1}, fmt::format("{}fourier.{}", p, i));
  return x;
}

Result<OpGraph> build_fourier(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kWords = 32000, kWidth = 768;
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(sequence_length(entry, options)));
  TensorId x =
      g.dropout(g.linear(embed(g, kWords, kWidth, 512, 4), kWidth, "embeddings.projection"), kDropout, "embeddings.dropout");
  for (int i = 0; i < 12; ++i) {
    const std::string p = fmt::format("layer.{}.", i);
    x = layer_norm(g, g.plus(x, fourier(g, x, p), p + "fourier.add"), p + "fourier.norm");
    x = feed_forward(g, x, 4 * kWidth, p);
  }
  score(g, x, kWords);
  return std::move(g).finish();
}

/// Half of the heads attend; the other half weigh a word's nine neighbours by a kernel made of the word.
TensorId mixed_attention(GraphBuilder& g, TensorId x, const std::string& p) {
  constexpr std::int64_t kHeads = 6, kInner = 384, kKernel = 9;
  const std::int64_t steps = g.shape(x).front(), width = g.shape(x).back();
  const TensorId query = g.linear(x, kInner, p + "query");
  TensorId local = g.reshape(g.transpose(x, {1, 0}, p + "columns"), {width, 1, steps}, p + "maps");
  local = g.convolution(local, ConvolutionAttributes{width, 1, kKernel, 1, 1, 0, kKernel / 2, 1, width, false}, p + "depthwise");
  local = g.convolution(local, ConvolutionAttributes{kInner, 1, 1, 1, 1, 0, 0, 1, 1, true}, p + "pointwise");
  local = g.transpose(g.reshape(local, {kInner, steps}, p + "local"), {1, 0}, p + "local_rows");
  TensorId kernel = g.linear(g.add(OpKind::multiply, {local, query}, {}, p + "conv_attn"), kHeads * kKernel, p + "conv_kernel");
  kernel = g.add(OpKind::softmax, {g.reshape(kernel, {steps * kHeads, kKernel, 1}, p + "kernel")}, {}, p + "kernel_softmax");
  const TensorId out = g.linear(x, kInner, p + "conv_out");
  const TensorId unfolded = g.reshape(g.add(OpKind::repeat, {out}, RepeatAttributes{kKernel}, p + "unfold"),
                                      {steps * kHeads, kInner / kHeads, kKernel}, p + "unfolded");
  const TensorId convolved = g.reshape(product(g, unfolded, kernel, false, p + "conv"), {steps, kInner}, p + "conv_rows");
  const TensorId q = split(g, query, kHeads, p + "query"), k = split(g, g.linear(x, kInner, p + "key"), kHeads, p + "key"),
                 v = split(g, g.linear(x, kInner, p + "value"), kHeads, p + "value");
  const TensorId scores = g.add(OpKind::multiply, {product(g, q, k, true, p + "scores")}, {}, p + "scale");
  const TensorId shares =
      g.dropout(g.add(OpKind::softmax, {pass(g, scores, p + "mask")}, {}, p + "softmax"), kDropout, p + "softmax_dropout");
  const TensorId context = join(g, product(g, shares, v, false, p + "context"), p + "context");
  return g.linear(g.concat({context, convolved}, p + "cat"), width, p + "output");
}

Result<OpGraph> build_convolution(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kWords = 30522, kWidth = 768;
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(sequence_length(entry, options)));
  TensorId x = g.dropout(embed(g, kWords, kWidth, 512, 2), kDropout, "embeddings.dropout");
  for (int i = 0; i < 12; ++i) {
    const std::string p = fmt::format("layer.{}.", i);
    x = added(g, mixed_attention(g, x, p + "attention."), x, p + "attention.");
    x = feed_forward(g, x, 4 * kWidth, p);
  }
  score(g, x, kWords);
  return std::move(g).finish();
}

}  // namespace

void append_text_encoders(std::vector<ZooEntry>& entries) {
  const auto add = [&](const char* name, int seq_len, int batch, const char* layers, const char* source,
                       Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&), bool answers = false) {
    entries.push_back(sequence_entry(name, "hf", answers ? "question answering" : "language modelling", "synthetic", seq_len,
                                     batch, source, build));
    entries.back().layers = layers;
  };
  add("AllenaiLongformerBase", 1024, 4, "12", kLongformer, build_longformer);
  add("MobileBertForMaskedLM", 128, 64, "24", kMobile, build_mobile);
  add("MobileBertForQuestionAnswering", 128, 128, "24", kMobile, build_mobile, true);
  add("GoogleFnet", 512, 16, "12", kFourier, build_fourier);
  add("YituTechConvBert", 512, 16, "12", kConvolution, build_convolution);
}

}  // namespace tbdsim
