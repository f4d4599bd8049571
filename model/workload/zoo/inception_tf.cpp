#include <vector>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/tf_layers.hpp"

namespace tbdsim {
namespace {

using Step = TfLayers::Step;
using Columns = std::vector<std::vector<Step>>;
using Padding = TfLayers::Padding;

Step convolution(std::int64_t channels, std::int64_t kernel_h, std::int64_t kernel_w) {
  return {Step::Kind::convolution, {channels, kernel_h, kernel_w}};
}
Step reduce(std::int64_t channels) { return {Step::Kind::convolution, {channels, 3, 3, 2, Padding::valid}}; }
Step valid(std::int64_t channels) { return {Step::Kind::convolution, {channels, 3, 3, 1, Padding::valid}}; }
Step keep_average() { return {Step::Kind::average_pool, {}, 3, 1, Padding::same}; }
Step keep_max() { return {Step::Kind::max_pool, {}, 3, 1, Padding::same}; }
Step reduce_max() { return {Step::Kind::max_pool, {}, 3, 2, Padding::valid}; }
Step share() { return {Step::Kind::share}; }

Columns v3_a(std::int64_t n) {
  return {{convolution(64, 1, 1)},
          {convolution(48, 1, 1), convolution(64, 5, 5)},
          {convolution(64, 1, 1), convolution(96, 3, 3), convolution(96, 3, 3)},
          {keep_average(), convolution(n, 1, 1)}};
}

Columns v3_b() { return {{reduce(384)}, {convolution(64, 1, 1), convolution(96, 3, 3), reduce(96)}, {reduce_max()}}; }

Columns v3_c(std::int64_t n) {
  return {{convolution(192, 1, 1)},
          {convolution(n, 1, 1), convolution(n, 1, 7), convolution(192, 7, 1)},
          {convolution(n, 1, 1), convolution(n, 7, 1), convolution(n, 1, 7), convolution(n, 7, 1), convolution(192, 1, 7)},
          {keep_average(), convolution(192, 1, 1)}};
}

Columns v3_d() {
  return {{convolution(192, 1, 1), reduce(320)},
          {convolution(192, 1, 1), convolution(192, 1, 7), convolution(192, 7, 1), reduce(192)},
          {reduce_max()}};
}

Columns v3_e(Step pool) {
  return {{convolution(320, 1, 1)},
          {convolution(384, 1, 1), convolution(384, 1, 3)},
          {share(), convolution(384, 3, 1)},
          {convolution(448, 1, 1), convolution(384, 3, 3), convolution(384, 1, 3)},
          {share(), share(), convolution(384, 3, 1)},
          {pool, convolution(192, 1, 1)}};
}

/// Szegedy et al., arXiv:1512.00567; the benchmark leaves the auxiliary head out.
Result<OpGraph> build_v3(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TfLayers layers(g, TfLayers::Norm::unscaled);
  TensorId x = layers.convolution(g.input(), {32, 3, 3, 2, Padding::valid});
  x = layers.convolution(x, {32, 3, 3, 1, Padding::valid});
  x = layers.pool(layers.convolution(x, {64, 3, 3}), PoolKind::max, 3, 2);
  x = layers.convolution(x, {80, 1, 1, 1, Padding::valid});
  x = layers.pool(layers.convolution(x, {192, 3, 3, 1, Padding::valid}), PoolKind::max, 3, 2);
  for (const std::int64_t n : {32, 64, 64}) x = layers.inception(x, v3_a(n));
  x = layers.inception(x, v3_b());
  for (const std::int64_t n : {128, 160, 160, 192}) x = layers.inception(x, v3_c(n));
  x = layers.inception(x, v3_d());
  x = layers.inception(x, v3_e(keep_average()));
  x = layers.inception(x, v3_e(keep_max()));
  x = g.flatten(layers.pool(x, PoolKind::average, 8, 1), "reshape");
  layers.classify(x, options.classes);
  return std::move(g).finish();
}

Columns v4_a() {
  return {{keep_average(), convolution(96, 1, 1)},
          {convolution(96, 1, 1)},
          {convolution(64, 1, 1), convolution(96, 3, 3)},
          {convolution(64, 1, 1), convolution(96, 3, 3), convolution(96, 3, 3)}};
}

Columns v4_b() {
  return {
      {keep_average(), convolution(128, 1, 1)},
      {convolution(384, 1, 1)},
      {convolution(192, 1, 1), convolution(224, 1, 7), convolution(256, 7, 1)},
      {convolution(192, 1, 1), convolution(192, 1, 7), convolution(224, 7, 1), convolution(224, 1, 7), convolution(256, 7, 1)}};
}

Columns v4_c() {
  return {{keep_average(), convolution(256, 1, 1)},
          {convolution(256, 1, 1)},
          {convolution(384, 1, 1), convolution(256, 1, 3)},
          {share(), convolution(256, 3, 1)},
          {convolution(384, 1, 1), convolution(448, 1, 3), convolution(512, 3, 1), convolution(256, 3, 1)},
          {share(), share(), share(), convolution(256, 1, 3)}};
}

TensorId v4_stem(TfLayers& layers, TensorId x) {
  x = layers.convolution(x, {32, 3, 3, 2, Padding::valid});
  x = layers.convolution(x, {32, 3, 3, 1, Padding::valid});
  x = layers.convolution(x, {64, 3, 3});
  x = layers.inception(x, {{reduce_max()}, {reduce(96)}});
  x = layers.inception(
      x, {{convolution(64, 1, 1), valid(96)}, {convolution(64, 1, 1), convolution(64, 7, 1), convolution(64, 1, 7), valid(96)}});
  return layers.inception(x, {{reduce(192)}, {reduce_max()}});
}

/// Szegedy et al., arXiv:1602.07261.
Result<OpGraph> build_v4(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  TfLayers layers(g, TfLayers::Norm::unscaled);
  TensorId x = v4_stem(layers, g.input());
  for (int i = 0; i < 4; ++i) x = layers.inception(x, v4_a());
  x = layers.inception(x, {{reduce_max()}, {reduce(384)}, {convolution(192, 1, 1), convolution(224, 3, 3), reduce(256)}});
  for (int i = 0; i < 7; ++i) x = layers.inception(x, v4_b());
  x = layers.inception(x, {{reduce_max()},
                           {convolution(192, 1, 1), reduce(192)},
                           {convolution(256, 1, 1), convolution(256, 1, 7), convolution(320, 7, 1), reduce(320)}});
  for (int i = 0; i < 3; ++i) x = layers.inception(x, v4_c());
  x = layers.dropout(layers.spatial_mean(x), 0.2);
  layers.classify(x, options.classes);
  return std::move(g).finish();
}

}  // namespace

void append_inception_tf(std::vector<ZooEntry>& entries) {
  const char* source = "tensorflow/benchmarks, scripts/tf_cnn_benchmarks/models/inception_model.py";
  entries.push_back(image_classifier("inception_v3", "tf", source, build_v3, 299));
  entries.push_back(image_classifier("inception_v4", "tf", source, build_v4, 299));
}

}  // namespace tbdsim
