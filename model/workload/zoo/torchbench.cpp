// Small networks that TorchBench brings along.
#include <fmt/format.h>

#include <array>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kResNet =
    "pytorch/benchmark, torchbenchmark/models/phlippe_resnet: ResNet of 20 layers for images of CIFAR-10";
constexpr const char* kDiscriminator =
    "Radford et al., arXiv:1511.06434, discriminator as in pytorch/examples, dcgan, and pytorch/benchmark";
constexpr const char* kAutoencoder =
    "Kuchaiev & Ginsburg, arXiv:1708.01715, as in pytorch/benchmark, torchbenchmark/models/nvidia_deeprecommender";

Result<OpGraph> build_small_resnet(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.relu(g.batch_norm(g.convolution(g.input(), same_convolution(16, 3), "conv"), "bn"), "relu");
  for (int stage = 0; stage < 3; ++stage) {
    const std::int64_t channels = std::int64_t{16} << stage;
    for (int block = 0; block < 3; ++block) {
      const std::string p = fmt::format("stage{}.{}.", stage, block);
      const bool shrinks = stage > 0 && block == 0;
      TensorId y = g.batch_norm(g.convolution(x, same_convolution(channels, 3, shrinks ? 2 : 1), p + "conv1"), p + "bn1");
      y = g.convolution(g.relu(y, p + "relu1"), same_convolution(channels, 3), p + "conv2");
      y = g.batch_norm(y, p + "bn2");
      if (shrinks) x = g.convolution(x, same_convolution(channels, 1, 2, 1, true), p + "downsample");
      x = g.relu(g.plus(y, x, p + "add"), p + "relu2");
    }
  }
  const std::int64_t classes = options.classes.value_or(10);
  g.softmax_loss(g.linear(g.flatten(g.global_average_pool(x, "pool"), "flatten"), classes, "fc"), "loss");
  return std::move(g).finish();
}

/// The leaky ReLU counts as ReLU.
Result<OpGraph> build_discriminator(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.input();
  for (int i = 0; i < 4; ++i) {
    const std::string p = fmt::format("main.{}", i);
    x = g.convolution(x, ConvolutionAttributes{std::int64_t{64} << i, 4, 4, 2, 2, 1, 1}, p);
    if (i > 0) x = g.batch_norm(x, p + ".bn");
    x = g.relu(x, p + ".relu", true);
  }
  x = g.activation(g.convolution(x, valid_convolution(1, 4), "main.4"), ActivationKind::sigmoid, "sigmoid");
  g.add(OpKind::element_loss, {x}, {}, "loss");
  return std::move(g).finish();
}

/// SELU counts as ReLU.
Result<OpGraph> build_autoencoder(const ZooEntry& entry, const ZooOptions&) {
  constexpr std::int64_t kItems = 197951;
  GraphBuilder g(entry.name, entry.variant, "user", Shape{kItems}, entry.default_batch);
  g.trains_with("sgd-momentum");
  TensorId x = g.input();
  int index = 0;
  for (const std::int64_t width :
       {std::int64_t{512}, std::int64_t{512}, std::int64_t{1024}, std::int64_t{512}, std::int64_t{512}, kItems}) {
    const std::string p = fmt::format("layer{}", index++);
    x = g.relu(g.linear(x, width, p), p + ".selu");
    if (width == 1024) x = g.dropout(x, 0.8, p + ".dropout");
  }
  g.add(OpKind::element_loss, {x}, {}, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_torchbench(std::vector<ZooEntry>& entries) {
  const auto add = [&](ZooEntry entry, const char* application, const char* dataset, int batch) {
    entry.application = application;
    entry.dataset = dataset;
    entry.default_batch = batch;
    entries.push_back(std::move(entry));
  };
  add(image_classifier("phlippe_resnet", "pytorch", kResNet, build_small_resnet, 32), "image classification", "CIFAR-10", 128);
  add(image_classifier("dcgan", "pytorch", kDiscriminator, build_discriminator, 64), "adversarial learning", "synthetic", 32);
  add(image_classifier("nvidia_deeprecommender", "pytorch", kAutoencoder, build_autoencoder, 0), "recommendation", "Netflix",
      256);
}

}  // namespace tbdsim
