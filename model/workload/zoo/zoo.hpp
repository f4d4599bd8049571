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
};

/// One network of one variant.
struct ZooEntry {
  std::string name;         ///< torchvision's name where it has one: "resnet50"
  std::string variant;      ///< "torchvision", "mxnet" or "tf"
  std::string application;  ///< "image classification"
  std::string dataset;      ///< "ImageNet"
  int image = 224;          ///< default input side
  int default_batch = 32;
  std::string source;  ///< where the definition is published
  Result<OpGraph> (*build)(const ZooEntry& entry, const ZooOptions& options) = nullptr;
};

/// Every entry, sorted by name, then variant.
[[nodiscard]] const std::vector<ZooEntry>& zoo();

/// Finds a network by user's words: "ResNet-50", "resnet50@mxnet"; without '@', `preferred_variant` if the
/// network has it, otherwise torchvision's, otherwise its only one. An exact name wins; a folded name that fits
/// several is an error listing them; a miss suggests near names.
[[nodiscard]] Result<const ZooEntry*> find_network(std::string_view name, std::string_view preferred_variant);

}  // namespace tbdsim
