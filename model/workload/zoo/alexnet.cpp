#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

ConvolutionAttributes biased(std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                             std::int64_t groups = 1) {
  return {channels, kernel, kernel, stride, stride, pad, pad, 1, groups, true};
}

/// Krizhevsky, "One weird trick" (arXiv:1404.5997), as torchvision has it.
Result<OpGraph> build_torchvision(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  const PoolAttributes pool{PoolKind::max, 3, 3, 2, 2, 0, 0, false};
  TensorId x = g.relu(g.convolution(g.input(), biased(64, 11, 4, 2), "features.0"), "features.1", true);
  x = g.pool(x, pool, "features.2");
  x = g.relu(g.convolution(x, biased(192, 5, 1, 2), "features.3"), "features.4", true);
  x = g.pool(x, pool, "features.5");
  x = g.relu(g.convolution(x, biased(384, 3, 1, 1), "features.6"), "features.7", true);
  x = g.relu(g.convolution(x, biased(256, 3, 1, 1), "features.8"), "features.9", true);
  x = g.relu(g.convolution(x, biased(256, 3, 1, 1), "features.10"), "features.11", true);
  x = g.pool(x, pool, "features.12");
  x = g.flatten(adaptive_average_pool(g, x, 6, "avgpool"), "flatten");
  x = g.linear(g.dropout(x, 0.5, "classifier.0"), 4096, "classifier.1");
  x = g.dropout(g.relu(x, "classifier.2", true), 0.5, "classifier.3");
  x = g.relu(g.linear(x, 4096, "classifier.4"), "classifier.5", true);
  x = g.linear(x, options.classes.value_or(1000), "classifier.6");
  g.softmax_loss(x, "loss");
  return std::move(g).finish();
}

}  // namespace

void append_alexnet(std::vector<ZooEntry>& entries) {
  entries.push_back(
      image_classifier("alexnet", "torchvision", "torchvision 0.14, torchvision/models/alexnet.py", build_torchvision));
}

}  // namespace tbdsim
