#include <fmt/format.h>

#include <array>
#include <vector>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "huggingface/diffusers v0.12, UNet2DConditionModel as configured by Stable Diffusion 1.5 (Rombach et al., arXiv:2112.10752)";
constexpr std::array<std::int64_t, 4> kChannels{320, 640, 1280, 1280};
constexpr std::int64_t kTime = 1280, kText = 768, kTextLength = 77, kHeads = 8, kGroups = 32, kLatent = 4;

/// Builds the network that guesses the noise of a latent image from its text and its time.
class Network {
 public:
  Network(GraphBuilder& graph, bool fused) : g_(graph), fused_(fused) {}

  void build() {
    text_ = g_.another_input(Shape{kTextLength, kText}, "text");
    TensorId time = g_.linear(g_.another_input(Shape{kChannels[0]}, "time"), kTime, "time_embedding.linear_1");
    time_ = g_.linear(g_.activation(time, ActivationKind::silu, "time_embedding.act"), kTime, "time_embedding.linear_2");
    TensorId x = convolution(g_.input(), kChannels[0], 3, "conv_in");
    std::vector<TensorId> skips{x};
    for (std::size_t i = 0; i < kChannels.size(); ++i) {
      const bool last = i + 1 == kChannels.size();
      const std::string p = fmt::format("down_blocks.{}.", i);
      for (int j = 0; j < 2; ++j) {
        x = residual(x, kChannels[i], fmt::format("{}resnets.{}.", p, j));
        if (!last) x = transformer(x, fmt::format("{}attentions.{}.", p, j));
        skips.push_back(x);
      }
      if (last) continue;
      x = g_.convolution(x, same_convolution(kChannels[i], 3, 2, 1, true), p + "downsample");
      skips.push_back(x);
    }
    x = residual(x, kChannels[3], "mid_block.resnets.0.");
    x = residual(transformer(x, "mid_block.attentions.0."), kChannels[3], "mid_block.resnets.1.");
    for (std::size_t i = kChannels.size(); i-- > 0;) {
      const std::string p = fmt::format("up_blocks.{}.", kChannels.size() - 1 - i);
      for (int j = 0; j < 3; ++j) {
        x = g_.concat({x, skips.back()}, fmt::format("{}cat.{}", p, j));
        skips.pop_back();
        x = residual(x, kChannels[i], fmt::format("{}resnets.{}.", p, j));
        if (i + 1 < kChannels.size()) x = transformer(x, fmt::format("{}attentions.{}.", p, j));
      }
      if (i > 0)
        x = convolution(g_.add(OpKind::upsample, {x}, UpsampleAttributes{2}, p + "enlarge"), kChannels[i], 3, p + "upsample");
    }
    x = g_.activation(norm(x, "conv_norm_out"), ActivationKind::silu, "conv_act");
    g_.add(OpKind::element_loss, {convolution(x, kLatent, 3, "conv_out")}, {}, "loss");
  }

 private:
  TensorId convolution(TensorId x, std::int64_t channels, std::int64_t kernel, const std::string& name) {
    return g_.convolution(x, same_convolution(channels, kernel, 1, 1, true), name);
  }
  TensorId norm(TensorId x, const std::string& name) {
    return g_.add(OpKind::group_norm, {x}, GroupNormAttributes{kGroups}, name);
  }

  /// The time is added to every pixel: a sum with a vector of channels, here counted as the product, which reads as much.
  TensorId residual(TensorId x, std::int64_t channels, const std::string& p) {
    TensorId y = convolution(g_.activation(norm(x, p + "norm1"), ActivationKind::silu, p + "act1"), channels, 3, p + "conv1");
    const TensorId time = g_.linear(g_.activation(time_, ActivationKind::silu, p + "time_act"), channels, p + "time_emb_proj");
    y = g_.add(OpKind::multiply, {y, g_.reshape(time, {channels, 1, 1}, p + "time")}, {}, p + "add_time");
    y = convolution(g_.activation(norm(y, p + "norm2"), ActivationKind::silu, p + "act2"), channels, 3, p + "conv2");
    const TensorId shortcut = g_.shape(x).front() == channels ? x : convolution(x, channels, 1, p + "conv_shortcut");
    return g_.plus(shortcut, y, p + "add");
  }

  TensorId heads(TensorId x, const std::string& name) {
    const Shape in = g_.shape(x);
    return g_.transpose(g_.reshape(x, {in[0], kHeads, in[1] / kHeads}, name + "_heads"), {1, 0, 2}, name + "_permute");
  }

  TensorId attention(TensorId x, TensorId memory, const std::string& p) {
    const Shape in = g_.shape(x);
    const TensorId query = g_.linear(x, in[1], p + "to_q", false), key = g_.linear(memory, in[1], p + "to_k", false),
                   value = g_.linear(memory, in[1], p + "to_v", false);
    if (fused_)
      return g_.linear(g_.add(OpKind::attention, {query, key, value}, AttentionAttributes{kHeads}, p + "attention"), in[1],
                       p + "to_out");
    const TensorId scores =
        g_.add(OpKind::matmul, {heads(query, p + "q"), heads(key, p + "k")}, MatmulAttributes{true}, p + "scores");
    const TensorId shares = g_.add(OpKind::softmax, {scores}, {}, p + "softmax");
    const TensorId context = g_.add(OpKind::matmul, {shares, heads(value, p + "v")}, MatmulAttributes{false}, p + "context");
    const TensorId merged = g_.reshape(g_.transpose(context, {1, 0, 2}, p + "context_permute"), in, p + "context_merge");
    return g_.linear(merged, in[1], p + "to_out");
  }

  TensorId feed_forward(TensorId x, const std::string& p) {
    const std::int64_t width = g_.shape(x).back(), hidden = 4 * width;
    const TensorId both = g_.linear(x, 2 * hidden, p + "proj");
    const TensorId value = g_.add(OpKind::slice, {both}, SliceAttributes{1, 0, hidden}, p + "value"),
                   gate = g_.add(OpKind::slice, {both}, SliceAttributes{1, hidden, 2 * hidden}, p + "gate");
    const TensorId open = g_.activation(gate, ActivationKind::gelu, p + "gelu");
    return g_.linear(g_.add(OpKind::multiply, {value, open}, {}, p + "gated"), width, p + "out");
  }

  /// Pixels look at each other, then at the text.
  TensorId transformer(TensorId x, const std::string& p) {
    const Shape in = g_.shape(x);
    if (in.size() != 3) return x;  // only after an earlier problem
    TensorId y = convolution(norm(x, p + "norm"), in[0], 1, p + "proj_in");
    y = g_.transpose(g_.reshape(y, {in[0], in[1] * in[2]}, p + "pixels"), {1, 0}, p + "rows");
    const TensorId first = layer_norm(g_, y, p + "norm1");
    y = g_.plus(attention(first, first, p + "attn1."), y, p + "add1");
    y = g_.plus(attention(layer_norm(g_, y, p + "norm2"), text_, p + "attn2."), y, p + "add2");
    y = g_.plus(feed_forward(layer_norm(g_, y, p + "norm3"), p + "ff."), y, p + "add3");
    y = g_.reshape(g_.transpose(y, {1, 0}, p + "columns"), in, p + "image");
    return g_.plus(convolution(y, in[0], 1, p + "proj_out"), x, p + "add");
  }

  GraphBuilder& g_;
  bool fused_;
  TensorId text_{}, time_{};
};

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options, kLatent);
  g.trains_with("adam");
  Network(g, options.fused_attention).build();
  return std::move(g).finish();
}

}  // namespace

void append_diffusion_unet(std::vector<ZooEntry>& entries) {
  ZooEntry entry = image_classifier("stable_diffusion_unet", "pytorch", kSource, build, 64);
  entry.application = "image generation";
  entry.dataset = "latents of 512 x 512 images";
  entry.default_batch = 4;
  entries.push_back(std::move(entry));
}

}  // namespace tbdsim
