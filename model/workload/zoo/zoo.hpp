#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// How a zoo network is to be built. Unset members mean the variant's own default.
struct ZooOptions {
  std::optional<int> image;  ///< side of the square input
  std::optional<int> classes;
  std::optional<int> seq_len = std::nullopt;  ///< tokens of a sequence, frames of speech
  bool fused_attention = false;               ///< a network that calls the framework's attention gets it as one operator
};

/// One network of one variant.
struct ZooEntry {
  std::string name;         ///< torchvision's name where it has one: "resnet50"
  std::string variant;      ///< whose definition: "torchvision", "mxnet", "tf", "pytorch"
  std::string application;  ///< "image classification"
  std::string dataset;      ///< "ImageNet"
  int image = 224;          ///< default input side; 0: takes no images
  int seq_len = 0;          ///< default length of a sequence; 0: takes no sequences
  int default_batch = 32;
  std::string layers;          ///< as its authors count them: "24", "14+14"; empty: `depth` of the graph
  std::string dominant_layer;  ///< kind of layer that most of the time goes into; empty: by multiply-adds
  std::string source;          ///< where the definition is published
  Result<OpGraph> (*build)(const ZooEntry& entry, const ZooOptions& options) = nullptr;
};

/// Every entry, sorted by name, then variant.
[[nodiscard]] const std::vector<ZooEntry>& zoo();

/// Finds a network by user's words: "ResNet-50", "resnet50@mxnet"; without '@', `preferred_variant` if the
/// network has it, otherwise torchvision's, PyTorch's, or its only one. An exact name wins; a folded name that fits
/// several is an error listing them; a miss suggests near names.
[[nodiscard]] Result<const ZooEntry*> find_network(std::string_view name, std::string_view preferred_variant);

/// Builds an entry's network. Errors: an image side for a network of sequences and the reverse; those of the builder.
[[nodiscard]] Result<OpGraph> build_network(const ZooEntry& entry, const ZooOptions& options);

/// Layers with weights on the longest way through the network: 50 of ResNet-50.
[[nodiscard]] int depth(const OpGraph& graph);

/// Kind of layer with most multiply-adds, forward and backward.
[[nodiscard]] std::string_view dominant_layer(const OpGraph& graph);

}  // namespace tbdsim
