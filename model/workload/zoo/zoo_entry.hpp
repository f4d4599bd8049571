#pragma once
#include <optional>
#include <string>

#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// How a zoo network is to be built. Unset members mean the variant's own default.
struct ZooOptions {
  std::optional<int> image;  ///< side of the square input
  std::optional<int> classes;
  std::optional<int> seq_len = std::nullopt;  ///< tokens of a sequence, frames of speech
  bool fused_attention = false;               ///< a network that calls the framework's attention gets it as one operator
  bool later_code = false;  ///< so does one whose code wrote attention out and calls the framework's in later releases
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

}  // namespace tbdsim
