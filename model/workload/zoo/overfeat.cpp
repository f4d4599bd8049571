#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/tf_layers.hpp"

namespace tbdsim {
namespace {

/// Sermanet et al., arXiv:1312.6229, the fast model.
Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TfLayers layers(g, TfLayers::Norm::none);
  TensorId x = layers.convolution(g.input(), {96, 11, 11, 4, TfLayers::Padding::valid});
  x = layers.pool(x, PoolKind::max, 2, 2);
  x = layers.convolution(x, {256, 5, 5, 1, TfLayers::Padding::valid});
  x = layers.pool(x, PoolKind::max, 2, 2);
  x = layers.convolution(x, {512, 3, 3});
  x = layers.convolution(x, {1024, 3, 3});
  x = layers.convolution(x, {1024, 3, 3});
  x = g.flatten(layers.pool(x, PoolKind::max, 2, 2), "reshape");
  x = layers.dropout(layers.affine(x, 3072), 0.5);
  x = layers.dropout(layers.affine(x, 4096), 0.5);
  layers.classify(x, options.classes);
  return std::move(g).finish();
}

}  // namespace

void append_overfeat(std::vector<ZooEntry>& entries) {
  entries.push_back(image_classifier("overfeat", "tf",
                                     "tensorflow/benchmarks, scripts/tf_cnn_benchmarks/models/overfeat_model.py", build, 231));
}

}  // namespace tbdsim
