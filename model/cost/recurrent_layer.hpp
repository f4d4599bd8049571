#pragma once
#include <string>

#include "model/cost/gemm.hpp"
#include "model/cost/recurrent.hpp"
#include "model/workload/op.hpp"

namespace tbdsim {

/// A recurrent operator: `layers` layers, each once or in both directions, of one kind of cell.
struct RecurrentLayer {
  OpKind cell = OpKind::lstm;
  double input = 1, hidden = 1, batch = 1, steps = 1;
  int layers = 1, directions = 1;
  bool input_gradient = true;  ///< the first layer's input needs a gradient
};

/// The rule of PyTorch (aten/src/ATen/native/cudnn/RNN.cpp) for a device and the CUDA release of a stack: that of its family,
/// Ampere's with 98 multiprocessors or more and since CUDA 11.1 alone.
[[nodiscard]] PersistentRule persistent_rule(const Architecture& chip, int multiprocessors, const std::string& cuda);

/// Whether one call for this layer takes those kernels: one layer in one direction, sizes in multiples of 128 up to 1,024, and
/// batches and lengths for which they were found to pay: on Volta up to 128 samples from 40 steps on, 96 from 20, 32 from 10.
[[nodiscard]] bool persists(const RecurrentLayer& layer, PersistentRule rule);

/// What the device and the libraries offer a recurrent layer.
struct RecurrentMeans {
  RecurrentKernels kernels = RecurrentKernels::library;
  PersistentRule persistent = PersistentRule::never;
  RecurrentConstants constants;
  KernelRates steps;  ///< of the recurrent family
  TileConstants tiles;
  KernelRates products;   ///< of matrix products
  KernelRates pointwise;  ///< of memory-bound operators
  Bytes element{4.0};
};

struct RecurrentLayerTime {
  KernelTimeModel kernel;
  double operators = 1;  ///< framework operators that the host dispatches
};

/// Forward pass, or the whole backward pass (data and weights) of a recurrent operator.
///
/// `library`: each layer and direction is one product with its input for all steps, (batch x steps, G H, in) and its two
/// gradients, and the recurrent part of `recurrent_time`; one operator. `cells`: the framework unrolls cells of its own
/// operators: every step runs two small products and a dozen elementwise kernels, each dispatched by the host; backward
/// adds to the weights' gradients step by step.
/// Neglects: overlap between layers and between directions.
[[nodiscard]] RecurrentLayerTime recurrent_layer_time(const RecurrentLayer& layer, bool backward, const RecurrentMeans& means);

}  // namespace tbdsim
