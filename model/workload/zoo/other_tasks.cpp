#include <fmt/format.h>

#include <array>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kUnet = "Ronneberger et al., arXiv:1505.04597";
constexpr const char* kPaddedUnet =
    "milesial/Pytorch-UNet, unet/unet_model.py with bilinear upsampling, as in "
    "pytorch/benchmark";
constexpr const char* kNcf =
    "He et al., arXiv:1708.05031, NeuMF as in NVIDIA "
    "DeepLearningExamples, PyTorch/Recommendation/NCF";
constexpr const char* kWgan =
    "Gulrajani et al., arXiv:1704.00028, "
    "gan_64x64.py of igul222/improved_wgan_training";
constexpr const char* kA3c =
    "Mnih et al., arXiv:1602.01783, as in tbd-ai/tbd-suite, "
    "ReinforcementLearning-A3C/MXNet";

/// Two unpadded 3 x 3 convolutions.
TensorId convolve_twice(GraphBuilder& g, TensorId x, std::int64_t channels, const std::string& p) {
  for (int i = 1; i <= 2; ++i)
    x = g.relu(g.convolution(x, valid_convolution(channels, 3, 1, true), fmt::format("{}conv{}", p, i)),
               fmt::format("{}relu{}", p, i), true);
  return x;
}

/// The middle `side` x `side` of an image.
TensorId crop(GraphBuilder& g, TensorId x, std::int64_t side, const std::string& p) {
  const Shape y = g.shape(x);
  if (y.size() != 3 || side > y[1]) return x;  // only after an earlier problem
  const std::int64_t edge = (y[1] - side) / 2;
  x = g.add(OpKind::slice, {x}, SliceAttributes{1, edge, edge + side}, p + "crop_rows");
  return g.add(OpKind::slice, {x}, SliceAttributes{2, edge, edge + side}, p + "crop_columns");
}

Result<OpGraph> build_unet(const ZooEntry& entry, const ZooOptions& options) {
  constexpr int kLevels = 4;
  GraphBuilder g = image_builder(entry, options, 1);
  std::vector<TensorId> kept;
  TensorId x = g.input();
  for (int level = 0; level < kLevels; ++level) {
    const std::string p = fmt::format("down{}.", level);
    x = convolve_twice(g, x, std::int64_t{64} << level, p);
    kept.push_back(x);
    x = g.pool(x, square_pool(PoolKind::max, 2, 2), p + "pool");
  }
  x = convolve_twice(g, g.dropout(x, 0.5, "dropout"), 1024, "bottom.");
  for (int level = kLevels; level-- > 0;) {
    const std::string p = fmt::format("up{}.", level);
    const std::int64_t channels = std::int64_t{64} << level;
    x = g.add(OpKind::transposed_convolution, {x}, ConvolutionAttributes{channels, 2, 2, 2, 2, 0, 0, 1, 1, true}, p + "up");
    const Shape y = g.shape(x);
    if (y.size() == 3) x = g.concat({crop(g, kept[static_cast<std::size_t>(level)], y[1], p), x}, p + "concat");
    x = convolve_twice(g, x, channels, p);
  }
  g.softmax_loss(g.convolution(x, valid_convolution(2, 1, 1, true), "scores"), "loss");
  return std::move(g).finish();
}

/// Two padded convolutions with batch norms.
TensorId convolve_padded(GraphBuilder& g, TensorId x, std::int64_t middle, std::int64_t channels, const std::string& p) {
  int i = 0;
  for (const std::int64_t width : {middle, channels}) {
    const std::string q = fmt::format("{}{}", p, i++);
    x = g.relu(g.batch_norm(g.convolution(x, same_convolution(width, 3), q), q + ".bn"), q + ".relu", true);
  }
  return x;
}

/// Images of 640 x 959 pixels, cars in front of a background.
Result<OpGraph> build_padded_unet(const ZooEntry& entry, const ZooOptions&) {
  constexpr int kLevels = 4;
  GraphBuilder g(entry.name, entry.variant, "image", Shape{3, 640, 959}, entry.default_batch);
  std::vector<TensorId> kept;
  TensorId x = convolve_padded(g, g.input(), 64, 64, "inc.");
  for (int level = 1; level <= kLevels; ++level) {
    const std::string p = fmt::format("down{}.", level);
    kept.push_back(x);
    const std::int64_t channels = level == kLevels ? 512 : std::int64_t{64} << level;
    x = convolve_padded(g, g.pool(x, square_pool(PoolKind::max, 2, 2), p + "pool"), channels, channels, p);
  }
  for (int level = kLevels; level-- > 0;) {
    const std::string p = fmt::format("up{}.", kLevels - level);
    x = g.add(OpKind::upsample, {x}, UpsampleAttributes{2}, p + "up");
    const TensorId across = kept[static_cast<std::size_t>(level)];
    const Shape wanted = g.shape(across), got = g.shape(x);
    if (wanted.size() == 3 && got.size() == 3 && wanted != got)
      x = g.add(OpKind::pad, {x}, PadAttributes{0, wanted[1] - got[1], 0, wanted[2] - got[2]}, p + "pad");
    const std::int64_t joined = std::int64_t{128} << level;
    x = convolve_padded(g, g.concat({across, x}, p + "cat"), joined / 2, level == 0 ? 64 : joined / 4, p);
  }
  g.softmax_loss(g.convolution(x, same_convolution(2, 1, 1, 1, true), "outc"), "loss");
  return std::move(g).finish();
}

Result<OpGraph> build_ncf(const ZooEntry& entry, const ZooOptions&) {
  constexpr std::int64_t kUsers = 138493, kItems = 26744, kFactors = 64, kWide = 128;
  GraphBuilder g(entry.name, entry.variant, "interaction", Shape{1}, entry.default_batch);
  const TensorId user = g.input(), item = g.another_input(Shape{1}, "item");
  const auto look_up = [&](TensorId x, std::int64_t rows, std::int64_t width, const char* name) {
    return g.add(OpKind::embedding, {x}, EmbeddingAttributes{rows, width}, name);
  };
  const TensorId user_factors = look_up(user, kUsers, kFactors, "mf_user_embed"),
                 item_factors = look_up(item, kItems, kFactors, "mf_item_embed");
  const TensorId product = g.add(OpKind::multiply, {user_factors, item_factors}, {}, "mf_product");
  TensorId x =
      g.concat({look_up(user, kUsers, kWide, "mlp_user_embed"), look_up(item, kItems, kWide, "mlp_item_embed")}, "mlp_concat");
  int index = 0;
  for (const std::int64_t width : {256, 128, 64}) {
    const std::string p = fmt::format("mlp{}.", index++);
    x = g.dropout(g.relu(g.linear(x, width, p + "linear"), p + "relu"), 0.5, p + "dropout");
  }
  g.add(OpKind::element_loss, {g.linear(g.concat({product, x}, "concat"), 1, "final")}, {}, "loss");
  return std::move(g).finish();
}

/// Residual block of two 3 x 3 convolutions at the finer of its two resolutions
/// and a 1 x 1 shortcut. The critic norms each image alone, the generator the
/// batch.
struct GanBlock {
  std::int64_t channels;
  bool up;
};

TensorId gan_norm(GraphBuilder& g, TensorId x, bool batch, const std::string& name) {
  return batch ? g.batch_norm(x, name) : g.add(OpKind::group_norm, {x}, GroupNormAttributes{1}, name);
}

TensorId gan_block(GraphBuilder& g, TensorId x, const GanBlock& b, const std::string& p) {
  const std::int64_t in = g.shape(x).front();
  const auto resize = [&](TensorId y, const std::string& name) {
    return b.up ? g.add(OpKind::upsample, {y}, UpsampleAttributes{2}, name)
                : g.pool(y, square_pool(PoolKind::average, 2, 2), name);
  };
  TensorId y = g.relu(gan_norm(g, x, b.up, p + "norm1"), p + "relu1");
  if (b.up) y = resize(y, p + "up");
  y = g.convolution(y, same_convolution(b.up ? b.channels : in, 3, 1, 1, b.up), p + "conv1");
  y = g.relu(gan_norm(g, y, b.up, p + "norm2"), p + "relu2");
  y = g.convolution(y, same_convolution(b.channels, 3, 1, 1, true), p + "conv2");
  if (!b.up) y = resize(y, p + "down");
  const TensorId coarse = b.up ? resize(x, p + "shortcut_up") : resize(x, p + "shortcut_down");
  return g.plus(y, g.convolution(coarse, same_convolution(b.channels, 1, 1, 1, true), p + "shortcut"), p + "add");
}

TensorId generate(GraphBuilder& g, TensorId noise, const std::string& p) {
  TensorId x = g.reshape(g.linear(noise, 8192, p + "input"), {512, 4, 4}, p + "image");
  int index = 0;
  for (const std::int64_t channels : {512, 256, 128, 64})
    x = gan_block(g, x, {channels, true}, fmt::format("{}block{}.", p, index++));
  x = g.relu(g.batch_norm(x, p + "norm"), p + "relu");
  return g.activation(g.convolution(x, same_convolution(3, 3, 1, 1, true), p + "output"), ActivationKind::tanh, p + "tanh");
}

/// Score of an image.
TensorId criticise(GraphBuilder& g, TensorId image, const std::string& p) {
  TensorId x = g.convolution(image, same_convolution(64, 3, 1, 1, true), p + "input");
  int index = 0;
  for (const std::int64_t channels : {128, 256, 512, 512})
    x = gan_block(g, x, {channels, false}, fmt::format("{}block{}.", p, index++));
  return g.linear(g.flatten(x, p + "flat"), 1, p + "score");
}

/// Gradient of the critic's score with respect to the image, as operators of
/// their own: its backward pass is the second derivative that the penalty
/// needs. The same products as the critic's data gradients, with the critic's
/// weights.
TensorId critic_gradient(GraphBuilder& g, TensorId score, const std::string& p) {
  TensorId x = g.reshape(g.linear(score, 8192, p + "score", false), {512, 4, 4}, p + "image");
  const std::array<std::int64_t, 4> inputs{512, 256, 128, 64};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string q = fmt::format("{}block{}.", p, i);
    const TensorId fine = g.add(OpKind::upsample, {x}, UpsampleAttributes{2}, q + "down");
    TensorId y = g.convolution(fine, same_convolution(inputs[i], 3), q + "conv2");
    y = g.add(OpKind::multiply, {gan_norm(g, y, false, q + "norm2")}, {}, q + "relu2");
    y = g.convolution(y, same_convolution(inputs[i], 3), q + "conv1");
    y = g.add(OpKind::multiply, {gan_norm(g, y, false, q + "norm1")}, {}, q + "relu1");
    x = g.plus(y, g.convolution(fine, same_convolution(inputs[i], 1), q + "shortcut"), q + "add");
  }
  return g.convolution(x, same_convolution(3, 3), p + "input");
}

/// One iteration: five steps of the critic (on a real, a generated and a mixed
/// image, with the penalty on its gradient), one of the generator. The
/// generator makes the critic's images without learning.
Result<OpGraph> build_wgan(const ZooEntry& entry, const ZooOptions&) {
  constexpr int kCriticSteps = 5;
  constexpr std::int64_t kNoise = 128;
  using Weights = GraphBuilder::Weights;
  GraphBuilder g(entry.name, entry.variant, "iteration", Shape{kNoise}, entry.default_batch);
  g.counts_in("real image", kCriticSteps);
  g.trains_with("adam");
  const TensorId made = generate(g, g.input(), "generator.");
  g.add(OpKind::element_loss, {criticise(g, made, "critic.")}, {}, "generator.loss");
  for (int step = 0; step < kCriticSteps; ++step) {
    const std::string p = fmt::format("step{}.", step);
    g.set_weights(Weights::borrowed);
    const TensorId fake = generate(g, g.another_input(Shape{kNoise}, p + "noise"), p + "generator.");
    g.set_weights(Weights::shared);
    const TensorId real = g.another_input(Shape{3, 64, 64}, p + "real");
    const TensorId mixed = g.plus(real, fake, p + "mixed");
    g.add(OpKind::element_loss, {criticise(g, fake, p + "on_fake.")}, {}, p + "on_fake.loss");
    g.add(OpKind::element_loss, {criticise(g, real, p + "on_real.")}, {}, p + "on_real.loss");
    const TensorId slope = critic_gradient(g, criticise(g, mixed, p + "on_mixed."), p + "gradient.");
    g.add(OpKind::element_loss, {slope}, {}, p + "penalty");
  }
  return std::move(g).finish();
}

/// The network of the workers. What the environments cost on the CPU is no
/// operator.
Result<OpGraph> build_a3c(const ZooEntry& entry, const ZooOptions& options) {
  constexpr std::int64_t kActions = 6;
  GraphBuilder g = image_builder(entry, options, 4);
  g.counts_in("environment step", 1.0);
  g.trains_with("adam");
  TensorId x = g.relu(g.convolution(g.input(), valid_convolution(16, 8, 4, true), "conv1"), "relu1");
  x = g.relu(g.convolution(x, valid_convolution(32, 4, 2, true), "conv2"), "relu2");
  x = g.relu(g.linear(g.flatten(x, "flatten"), 256, "fc"), "relu3");
  g.softmax_loss(g.linear(x, kActions, "policy"), "policy_loss");
  g.add(OpKind::element_loss, {g.linear(x, 1, "value")}, {}, "value_loss");
  return std::move(g).finish();
}

}  // namespace

void append_other_tasks(std::vector<ZooEntry>& entries) {
  const auto add = [&](const char* name, const char* variant, const char* application, const char* dataset, int image, int batch,
                       const char* layers, const char* source, Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&)) {
    ZooEntry entry = image_classifier(name, variant, source, build, image);
    entry.application = application;
    entry.dataset = dataset;
    entry.default_batch = batch;
    entry.layers = layers;
    entries.push_back(std::move(entry));
  };
  add("unet", "pytorch", "segmentation", "ISBI 2012 cells", 572, 1, "23", kUnet, build_unet);
  add("pytorch_unet", "pytorch", "segmentation", "Carvana cars", 640, 1, "19", kPaddedUnet, build_padded_unet);
  add("wgan_gp", "tf", "adversarial learning", "downsampled ImageNet", 64, 64, "14+14", kWgan, build_wgan);
  add("a3c", "mxnet", "reinforcement learning", "Atari 2600", 84, 32, "4", kA3c, build_a3c);
  add("ncf", "pytorch", "recommendation", "MovieLens 20M", 0, 2048, "4", kNcf, build_ncf);
  entries.back().dominant_layer = "embedding";
}

}  // namespace tbdsim
