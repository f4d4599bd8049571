#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

// The MNIST side; any other is taken for ImageNet: colour, 1000 classes.
constexpr int kDigitImage = 28;

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const bool digits = options.image.value_or(entry.image) == kDigitImage;
  GraphBuilder g = image_builder(entry, options, digits ? 1 : 3);
  const PoolAttributes halve{PoolKind::max, 2, 2, 2, 2, 0, 0, false};
  TensorId x = g.convolution(g.input(), {20, 5, 5, 1, 1, 0, 0, 1, 1, true}, "convolution0");
  x = g.pool(g.activation(x, ActivationKind::tanh, "activation0"), halve, "pooling0");
  x = g.convolution(x, {50, 5, 5, 1, 1, 0, 0, 1, 1, true}, "convolution1");
  x = g.pool(g.activation(x, ActivationKind::tanh, "activation1"), halve, "pooling1");
  x = g.linear(g.flatten(x, "flatten0"), 500, "fullyconnected0");
  x = g.activation(x, ActivationKind::tanh, "activation2");
  x = g.linear(x, options.classes.value_or(digits ? 10 : 1000), "fullyconnected1");
  g.softmax_loss(x, "softmax");
  return std::move(g).finish();
}

}  // namespace

void append_lenet(std::vector<ZooEntry>& entries) {
  ZooEntry entry =
      image_classifier("lenet", "mxnet", "apache/mxnet example/image-classification/symbols/lenet.py", build, kDigitImage);
  entry.dataset = "MNIST";
  entries.push_back(std::move(entry));
}

}  // namespace tbdsim
