#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource =
    "huggingface/pytorch-image-models v0.6.12, timm/models/convmixer.py (Trockman & Kolter, arXiv:2201.09792)";

struct ConvMixerDefinition {
  std::string_view name;
  std::int64_t width, depth, kernel, patch;
  ActivationKind activation;
};
constexpr std::array kDefinitions = {
    ConvMixerDefinition{"convmixer_768_32", 768, 32, 7, 7, ActivationKind::relu},
    ConvMixerDefinition{"convmixer_1536_20", 1536, 20, 9, 7, ActivationKind::gelu},
};

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const auto* d = std::find_if(kDefinitions.begin(), kDefinitions.end(), [&](const auto& row) { return row.name == entry.name; });
  assert(d != kDefinitions.end());
  GraphBuilder g = image_builder(entry, options);
  const auto unit = [&](TensorId x, ConvolutionAttributes a, const std::string& p) {
    return g.batch_norm(g.activation(g.convolution(x, a, p + "0"), d->activation, p + "1"), p + "2");
  };
  TensorId x = unit(g.input(), valid_convolution(d->width, d->patch, d->patch, true), "stem.");
  for (std::int64_t i = 0; i < d->depth; ++i) {
    const std::string p = fmt::format("blocks.{}.", i);
    x = g.plus(unit(x, same_convolution(d->width, d->kernel, 1, d->width, true), p + "0.fn."), x, p + "0.add");
    x = unit(x, same_convolution(d->width, 1, 1, 1, true), p);
  }
  x = g.flatten(g.global_average_pool(x, "pooling.0"), "pooling.1");
  g.softmax_loss(g.linear(x, options.classes.value_or(1000), "head"), "loss");
  return std::move(g).finish();
}

}  // namespace

void append_convmixer(std::vector<ZooEntry>& entries) {
  for (const ConvMixerDefinition& d : kDefinitions)
    entries.push_back(image_classifier(std::string(d.name), "timm", kSource, build));
}

}  // namespace tbdsim
