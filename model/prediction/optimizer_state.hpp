#pragma once
#include <string>

#include "model/configuration/configuration.hpp"

namespace tbdsim {

/// What an optimiser keeps of every parameter.
struct OptimizerState {
  double arrays = 0;    ///< each of a parameter's size
  Bytes element;        ///< of them
  bool master = false;  ///< beside an fp32 copy of the weights, which is updated
  std::string as;       ///< why so wide, as a clause: whose code makes them
};

/// Width of the states as framework and optimiser make them: as wide as the weights that are updated, unless the optimiser says
/// otherwise.
///
/// * torch.optim and apex make states with zeros_like(parameter), MXNet with the weight's type (multi_precision off), TensorFlow
///   as slots of the variable's type, Caffe2 as filled like the parameter: a network wholly in 16 bits has them in 16 bits,
/// * under `amp`, and under a stack whose update widens gradients (DeepSpeed) in any 16 bits, weights have an fp32 copy
/// and
///   states are fp32 like it,
/// * the optimisers of google-research/bert and of NVIDIA's LAMB for TensorFlow make fp32 variables whatever the weights are,
/// * bitsandbytes keeps a byte.
///
/// Source: torch/optim/adam.py; apache/mxnet python/mxnet/optimizer; tensorflow/python/training/slot_creator.py;
/// google-research/bert optimization.py; deepspeed/runtime/fp16/fused_optimizer.py; bitsandbytes optim/optimizer.py.
[[nodiscard]] OptimizerState optimizer_state(const Configuration& configuration);

/// "2 fp32 arrays a parameter, beside fp32 weights: ..."; empty where no array is narrower than 32 bits, or there is none.
[[nodiscard]] std::string optimizer_state_text(const Configuration& configuration);

}  // namespace tbdsim
