#include <fmt/format.h>

#include <vector>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

/// Iandola et al., arXiv:1602.07360. A fire module squeezes, then expands twice as 1x1 and 3x3; 0 stands for a pool.
struct SqueezeNetDefinition {
  std::int64_t first_channels, first_kernel;
  std::vector<std::int64_t> squeezes;
};

SqueezeNetDefinition definition(const std::string& name) {
  if (name == "squeezenet1_0") return {96, 7, {0, 16, 16, 32, 0, 32, 48, 48, 64, 0, 64}};
  return {64, 3, {0, 16, 16, 0, 32, 32, 0, 48, 48, 64, 64}};
}

TensorId biased_relu(GraphBuilder& g, TensorId x, std::int64_t channels, std::int64_t kernel, const std::string& name) {
  return g.relu(g.convolution(x, same_convolution(channels, kernel, 1, 1, true), name), name + "_activation", true);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const SqueezeNetDefinition d = definition(entry.name);
  GraphBuilder g = image_builder(entry, options);
  TensorId x = g.convolution(g.input(), valid_convolution(d.first_channels, d.first_kernel, 2, true), "features.0");
  x = g.relu(x, "features.1", true);
  int index = 2;
  for (const std::int64_t squeeze : d.squeezes) {
    const std::string p = fmt::format("features.{}", index++);
    if (squeeze == 0) {
      x = g.pool(x, square_pool(PoolKind::max, 3, 2, 0, true), p);
      continue;
    }
    x = biased_relu(g, x, squeeze, 1, p + ".squeeze");
    const TensorId one = biased_relu(g, x, 4 * squeeze, 1, p + ".expand1x1");
    const TensorId three = biased_relu(g, x, 4 * squeeze, 3, p + ".expand3x3");
    x = g.concat({one, three}, p + ".concat");
  }
  x = g.dropout(x, 0.5, "classifier.0");
  x = g.convolution(x, same_convolution(options.classes.value_or(1000), 1, 1, 1, true), "classifier.1");
  x = g.global_average_pool(g.relu(x, "classifier.2", true), "classifier.3");
  g.softmax_loss(g.flatten(x, "flatten"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_squeezenet(std::vector<ZooEntry>& entries) {
  for (const char* name : {"squeezenet1_0", "squeezenet1_1"})
    entries.push_back(image_classifier(name, "torchvision", "torchvision 0.14, torchvision/models/squeezenet.py", build));
}

}  // namespace tbdsim
