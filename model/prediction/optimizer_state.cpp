#include "model/prediction/optimizer_state.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace tbdsim {
namespace {

constexpr Bytes kSingle{4.0}, kHalf{2.0}, kByte{1.0};

/// Optimisers whose scripts for TensorFlow make states as fp32 variables, whatever the weights are.
constexpr std::array<std::string_view, 3> kWideUnderTensorflow{"bert-adam", "lamb", "lamb-compiled"};
bool wide_under_tensorflow(const Optimizer& optimizer) {
  return std::find(kWideUnderTensorflow.begin(), kWideUnderTensorflow.end(), optimizer.name) != kWideUnderTensorflow.end();
}

/// Who makes states of the weights' own type.
std::string_view maker(const Stack& stack) {
  if (stack.memory.plan == MemoryPlan::mxnet)
    return "MXNet's optimisers make them of the weight's type, multi_precision being off";
  if (stack.framework == Framework::tensorflow) return "TensorFlow's slots have their variable's type";
  if (stack.memory.plan == MemoryPlan::blobs) return "Caffe2 fills them like the parameter";
  return "the optimiser makes them like the parameter (zeros_like)";
}

std::string_view type_name(Bytes element, Precision precision) {
  return element == kSingle                                            ? "fp32"
         : element == kByte                                            ? "8-bit"
         : precision == Precision::fp16 || precision == Precision::amp ? "fp16"
                                                                       : "bf16";
}

}  // namespace

OptimizerState optimizer_state(const Configuration& configuration) {
  const Optimizer& optimizer = configuration.optimizer;
  const Stack& stack = configuration.stack;
  const bool half = is_narrow(configuration.precision);
  OptimizerState state{optimizer.states, half ? kHalf : kSingle, false, std::string(maker(stack))};
  if (configuration.precision == Precision::amp ||
      (half && (stack.memory.flattens_gradients || stack.parallel.weights.masters))) {
    state.master = true;
    state.element = kSingle;
    state.as = "the update works on fp32 weights and keeps its states like them";
  } else if (half && stack.memory.plan == MemoryPlan::bfc && wide_under_tensorflow(optimizer)) {
    state.element = kSingle;
    state.as = "optimization.py makes them as tf.float32 variables";
  }
  if (optimizer.byte_states) {
    // `states` counts them in fp32 arrays.
    state.arrays = optimizer.states * (kSingle / kByte);
    state.element = kByte;
    state.as = "bitsandbytes keeps a byte of each";
  }
  return state;
}

std::string optimizer_state_text(const Configuration& configuration) {
  const OptimizerState state = optimizer_state(configuration);
  if (state.arrays == 0.0 || !(is_narrow(configuration.precision) || state.element < kSingle)) return "";
  return fmt::format("{:g} {} {} a parameter{}: {}", state.arrays, type_name(state.element, configuration.precision),
                     state.arrays == 1.0 ? "array" : "arrays", state.master ? ", beside fp32 weights" : "", state.as);
}

}  // namespace tbdsim
