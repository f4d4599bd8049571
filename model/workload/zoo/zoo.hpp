#pragma once
#include <string_view>
#include <vector>

#include "model/workload/zoo/zoo_entry.hpp"

namespace tbdsim {

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
