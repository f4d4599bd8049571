#pragma once
#include <vector>

#include "model/units/quantity.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Which framework decides what an operator keeps from its forward pass for its backward pass.
enum class SavingRules {
  autograd,       ///< PyTorch's CPU kernels, whose bytes are published: dropout keeps a float mask
  autograd_cuda,  ///< PyTorch's CUDA kernels: dropout keeps one byte per element, the rest is equal
  mxnet,          ///< MXNet up to 1.2: activations keep input and output, pools their output, nothing is in place
  mxnet_later,    ///< MXNet with MKL-DNN (1.6): ReLU keeps its output only, max pooling a second array of its output's size
  tensorflow,     ///< pools keep input and output instead of indices, dropout a float mask
};

/// What one operator keeps.
struct SavedByOp {
  std::vector<TensorId> tensors;  ///< of its inputs and its output
  Bytes extra_per_sample{};       ///< arrays that are no tensor of the graph: masks, indices
  Bytes extra_fixed{};            ///< the same, independent of the batch: batch norm's mean and deviation
};

}  // namespace tbdsim
