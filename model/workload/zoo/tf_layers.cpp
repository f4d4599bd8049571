#include "model/workload/zoo/tf_layers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tbdsim {
namespace {

/// Padding that TensorFlow's 'SAME' adds in one dimension, both sides together.
std::int64_t same_padding(std::int64_t extent, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t out = (extent + stride - 1) / stride;
  return std::max<std::int64_t>(0, (out - 1) * stride + kernel - extent);
}

}  // namespace

std::string TfLayers::next(const char* kind, int& count) { return fmt::format("{}{}", kind, count++); }

TensorId TfLayers::convolution(TensorId x, const Convolution& c) {
  const std::string name = next("conv", convolutions_);
  const Shape in = graph_.shape(x);
  ConvolutionAttributes a{c.channels, c.kernel_h, c.kernel_w, c.stride, c.stride, 0, 0, 1, 1, norm_ == Norm::none && c.bias};
  if (c.padding == Padding::resnet && c.stride > 1) {
    const PadAttributes pad{(c.kernel_h - 1) / 2, c.kernel_h / 2, (c.kernel_w - 1) / 2, c.kernel_w / 2};
    x = graph_.add(OpKind::pad, {x}, pad, name + "/pad");
  } else if (c.padding != Padding::valid && in.size() == 3) {
    // An odd total is one more on the far side; rounding up gives the same output size.
    a.pad_h = (same_padding(in[1], c.kernel_h, c.stride) + 1) / 2;
    a.pad_w = (same_padding(in[2], c.kernel_w, c.stride) + 1) / 2;
  }
  x = graph_.convolution(x, a, name);
  if (norm_ != Norm::none) x = graph_.batch_norm(x, name + "/batchnorm", {norm_ == Norm::scaled});
  return c.relu ? graph_.relu(x, name + "/relu") : x;
}

TensorId TfLayers::norm_relu(TensorId x) {
  const std::string name = next("batchnorm", norms_);
  return graph_.relu(graph_.batch_norm(x, name, {norm_ == Norm::scaled}), name + "/relu");
}

TensorId TfLayers::pool(TensorId x, PoolKind kind, std::int64_t kernel, std::int64_t stride, Padding padding) {
  const std::string name = kind == PoolKind::max ? next("mpool", max_pools_) : next("apool", average_pools_);
  PoolAttributes a{kind, kernel, kernel, stride, stride, 0, 0, false};
  const Shape in = graph_.shape(x);
  if (padding != Padding::valid && in.size() == 3) {
    const std::int64_t total = same_padding(in[1], kernel, stride);
    a.pad_h = a.pad_w = total / 2;
    a.ceil_mode = total % 2 == 1;
  }
  return graph_.pool(x, a, name);
}

TensorId TfLayers::affine(TensorId x, std::int64_t out_features, bool relu) {
  const std::string name = next("affine", affines_);
  x = graph_.linear(x, out_features, name);
  return relu ? graph_.relu(x, name + "/relu") : x;
}

TensorId TfLayers::dropout(TensorId x, double probability) { return graph_.dropout(x, probability, next("dropout", dropouts_)); }

TensorId TfLayers::spatial_mean(TensorId x) { return graph_.flatten(graph_.global_average_pool(x, "spatial_mean0"), "reshape"); }

TensorId TfLayers::step(TensorId x, const Step& s) {
  if (s.kind == Step::Kind::convolution) return convolution(x, s.convolution);
  return pool(x, s.kind == Step::Kind::max_pool ? PoolKind::max : PoolKind::average, s.kernel, s.stride, s.padding);
}

TensorId TfLayers::inception(TensorId x, const std::vector<std::vector<Step>>& columns) {
  const std::string name = next("incept", modules_);
  std::vector<TensorId> outputs;
  std::vector<TensorId> before;
  for (const std::vector<Step>& column : columns) {
    std::vector<TensorId> now;
    TensorId top = x;
    for (const Step& s : column) {
      top = s.kind == Step::Kind::share ? before[now.size()] : step(top, s);
      now.push_back(top);
    }
    outputs.push_back(top);
    before = std::move(now);
  }
  return graph_.concat(std::move(outputs), name + "/concat");
}

void TfLayers::classify(TensorId x, std::optional<int> classes) {
  graph_.softmax_loss(affine(x, classes.value_or(1001), false), "loss");
}

}  // namespace tbdsim
