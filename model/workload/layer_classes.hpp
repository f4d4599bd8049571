#pragma once
#include <vector>

#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// The layers of a network, equal ones counted once: what is simulated of a step is one layer of each class.
struct LayerClasses {
  std::vector<OpId> begins;   ///< first operator of each layer, in order; the first is operator 0
  std::vector<int> class_of;  ///< of each layer
  std::vector<int> example;   ///< of each class: the first layer of it
  std::vector<int> layer_of;  ///< of each operator
  [[nodiscard]] std::size_t layers() const { return begins.size(); }
  [[nodiscard]] std::size_t classes() const { return example.size(); }
};

/// Layers as `Recompute::layer` has them: what lies before the first belongs to it, the head after the last is one by itself.
/// Two are equal when their operators, shapes and arrays are, and what they read of each other.
[[nodiscard]] LayerClasses fold_layers(const OpGraph& graph);

}  // namespace tbdsim
