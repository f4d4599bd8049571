#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>
#include <vector>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource = "rwightman/efficientdet-pytorch v0.3, effdet/efficientdet.py (Tan et al., arXiv:1911.09070)";
constexpr std::int64_t kClasses = 90, kShapes = 9;
constexpr std::size_t kLevels = 5;  // maps of 1/8 to 1/128 of the image

struct EfficientDetDefinition {
  std::string_view name, backbone;
  std::int64_t channels;
  int cells, repeats;  ///< of the pyramid; of the heads' convolutions
  int image;
};
constexpr std::array kDefinitions = {EfficientDetDefinition{"tf_efficientdet_d0", "tf_efficientnet_b0", 64, 3, 3, 512},
                                     EfficientDetDefinition{"tf_efficientdet_d1", "tf_efficientnet_b1", 88, 4, 3, 640},
                                     EfficientDetDefinition{"tf_efficientdet_d2", "tf_efficientnet_b2", 112, 5, 3, 768}};

class Network {
 public:
  Network(GraphBuilder& graph, const EfficientDetDefinition& definition) : g_(graph), d_(definition) {}

  void build() {
    const std::vector<TensorId> stages = inverted_residual_stages(g_, d_.backbone);
    std::vector<TensorId> maps{stages[2], stages[4], stages[6]};
    maps.push_back(pool(narrow(maps.back(), "resample.3"), "resample.3.pool"));
    maps.push_back(pool(maps.back(), "resample.4.pool"));
    for (int i = 0; i < d_.cells; ++i) maps = cell(maps, fmt::format("cell.{}.", i));
    head(maps, kClasses * kShapes, "class_net.");
    head(maps, 4 * kShapes, "box_net.");
  }

 private:
  using Weights = GraphBuilder::Weights;

  TensorId pool(TensorId x, const std::string& name) { return g_.pool(x, square_pool(PoolKind::max, 3, 2, 1), name); }

  /// To the pyramid's width, where a map comes from the backbone.
  TensorId narrow(TensorId x, const std::string& name) {
    if (g_.shape(x).front() == d_.channels) return x;
    return g_.batch_norm(g_.convolution(x, same_convolution(d_.channels, 1, 1, 1, true), name + ".conv"), name + ".bn");
  }

  TensorId separable(TensorId x, std::int64_t channels, const std::string& name) {
    const std::int64_t in = g_.shape(x).front();
    x = g_.convolution(x, same_convolution(in, 3, 1, in), name + ".conv_dw");
    return g_.convolution(x, same_convolution(channels, 1, 1, 1, true), name + ".conv_pw");
  }

  /// The weighed mean of maps of one size, then a separable convolution. The weights, one number for each map, are no arrays
  /// here.
  TensorId node(const std::vector<TensorId>& inputs, const std::string& p) {
    const Shape one = g_.shape(inputs.front());
    std::vector<TensorId> weighed;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorId x = g_.add(OpKind::multiply, {inputs[i]}, {}, fmt::format("{}weight.{}", p, i));
      weighed.push_back(g_.add(OpKind::multiply, {x}, {}, fmt::format("{}share.{}", p, i)));
    }
    TensorId x =
        g_.reshape(g_.concat(weighed, p + "stack"), {static_cast<std::int64_t>(inputs.size()), elements(one)}, p + "stacked");
    x = g_.reshape(g_.add(OpKind::reduce, {x}, ReduceAttributes{0}, p + "sum"), one, p + "summed");
    x = g_.activation(x, ActivationKind::silu, p + "act", true);
    return g_.batch_norm(separable(x, d_.channels, p + "conv"), p + "bn");
  }

  /// From coarse to fine, then back; maps between the ends go into both ways.
  std::vector<TensorId> cell(const std::vector<TensorId>& maps, const std::string& p) {
    std::vector<TensorId> down(kLevels), up(kLevels);
    down[kLevels - 1] = narrow(maps[kLevels - 1], p + "top");
    for (std::size_t i = kLevels - 1; i-- > 0;) {
      const std::string q = fmt::format("{}down{}.", p, i);
      const TensorId coarse = g_.add(OpKind::upsample, {down[i + 1]}, UpsampleAttributes{2}, q + "enlarge");
      down[i] = node({narrow(maps[i], q + "resample"), coarse}, q);
    }
    up[0] = down[0];
    for (std::size_t i = 1; i < kLevels; ++i) {
      const std::string q = fmt::format("{}up{}.", p, i);
      std::vector<TensorId> inputs{narrow(maps[i], q + "resample")};
      if (i + 1 < kLevels) inputs.push_back(down[i]);
      inputs.push_back(pool(up[i - 1], q + "pool"));
      up[i] = node(inputs, q);
    }
    return up;
  }

  /// Convolutions are shared by the levels, norms are not.
  void head(const std::vector<TensorId>& maps, std::int64_t outputs, const std::string& p) {
    for (std::size_t level = 0; level < maps.size(); ++level) {
      const Weights weights = level > 0 ? Weights::shared : Weights::own;
      TensorId x = maps[level];
      for (int i = 0; i < d_.repeats; ++i) {
        const std::string q = fmt::format("{}{}.{}", p, level, i);
        g_.set_weights(weights);
        x = separable(x, d_.channels, q);
        g_.set_weights(Weights::own);
        x = g_.activation(g_.batch_norm(x, q + ".bn"), ActivationKind::silu, q + ".act", true);
      }
      g_.set_weights(weights);
      x = separable(x, outputs, fmt::format("{}{}.predict", p, level));
      g_.set_weights(Weights::own);
      g_.add(OpKind::element_loss, {x}, {}, fmt::format("{}{}.loss", p, level));
    }
  }

  GraphBuilder& g_;
  const EfficientDetDefinition& d_;
};

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  Network(g, *d).build();
  return std::move(g).finish();
}

}  // namespace

void append_efficientdet(std::vector<ZooEntry>& entries) {
  for (const EfficientDetDefinition& d : kDefinitions) {
    ZooEntry entry = image_classifier(std::string(d.name), "timm", kSource, build, d.image);
    entry.application = "object detection";
    entry.dataset = "COCO 2017";
    entry.default_batch = 8;
    entries.push_back(std::move(entry));
  }
}

}  // namespace tbdsim
