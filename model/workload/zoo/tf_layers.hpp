#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/workload/graph_builder.hpp"

namespace tbdsim {

/// Adds layers as tf_cnn_benchmarks' ConvNetBuilder does: names counted per kind (`conv0`, `mpool1`), convolutions
/// followed by batch norm (which replaces the bias) and ReLU.
/// Source: tensorflow/benchmarks, scripts/tf_cnn_benchmarks/convnet_builder.py.
class TfLayers {
 public:
  /// `resnet` pads explicitly, with an operator of its own, where the stride is above 1.
  enum class Padding { same, valid, resnet };
  enum class Norm { none, unscaled, scaled };  ///< scaled: batch norm has a gamma

  struct Convolution {
    std::int64_t channels, kernel_h, kernel_w;
    std::int64_t stride = 1;
    Padding padding = Padding::same;
    bool relu = true;
    bool bias = true;  ///< without batch norm
  };
  /// One step of a column of an inception module; `share` takes the step of the same row in the column before.
  struct Step {
    enum class Kind { convolution, max_pool, average_pool, share } kind;
    Convolution convolution{};
    std::int64_t kernel = 3, stride = 2;
    Padding padding = Padding::valid;
  };

  TfLayers(GraphBuilder& graph, Norm norm) : graph_(graph), norm_(norm) {}

  TensorId convolution(TensorId x, const Convolution& c);
  TensorId norm_relu(TensorId x);
  TensorId pool(TensorId x, PoolKind kind, std::int64_t kernel, std::int64_t stride, Padding padding = Padding::valid);
  TensorId affine(TensorId x, std::int64_t out_features, bool relu = true);
  TensorId dropout(TensorId x, double probability);
  TensorId spatial_mean(TensorId x);
  /// Columns side by side on `x`, concatenated.
  TensorId inception(TensorId x, const std::vector<std::vector<Step>>& columns);
  /// The last layer, with TensorFlow's 1001 ImageNet classes (one for the background) by default, and the loss.
  void classify(TensorId x, std::optional<int> classes);

 private:
  std::string next(const char* kind, int& count);
  TensorId step(TensorId x, const Step& s);

  GraphBuilder& graph_;
  Norm norm_;
  int convolutions_ = 0, max_pools_ = 0, average_pools_ = 0, affines_ = 0, dropouts_ = 0, modules_ = 0, norms_ = 0;
};

}  // namespace tbdsim
