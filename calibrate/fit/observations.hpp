#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "calibrate/decode/sample_table.hpp"
#include "model/cost/convolution.hpp"
#include "model/cost/experts.hpp"
#include "model/cost/fused_attention.hpp"
#include "model/cost/gemm.hpp"
#include "model/cost/memory_bound.hpp"
#include "model/cost/recurrent.hpp"
#include "model/cost/row_kernel.hpp"
#include "model/hardware/device.hpp"

namespace tbdsim::calibrate {

/// Arguments of the cost model of a family, from the shape of a sample.
struct ConvolutionArguments {
  ConvolutionShape shape;
  ConvolutionPass pass = ConvolutionPass::forward;
  std::vector<ConvolutionAlgorithm> offered;  ///< those the sample's algorithm may mean, else the library's menu
};
struct MemoryArguments {
  Bytes bytes;  ///< of all kernels
  RowKernel rows = RowKernel::none;
  double row_elements = 0;
  double kernels = 1;  ///< one after the other, timed together
};
struct BatchNormArguments {
  Bytes array;        ///< the layer's input
  double passes = 3;  ///< over arrays of that size, those that are read again counted twice
};
struct RecurrentArguments {
  RecurrentShape shape;
  std::vector<RecurrentPass> passes;  ///< that the sample times together
};
struct AttentionArguments {
  AttentionShape shape;
  bool backward = false;
  FusedAttention means;  ///< without its constants
};
struct RowArguments {
  double rows = 1, cols = 1;
  const RowKernelInfo* kernel = nullptr;
};
struct ExpertArguments {
  ExpertShape shape;
};
using ModelArguments = std::variant<RowArguments, ExpertArguments, GemmShape, ConvolutionArguments, MemoryArguments,
                                    BatchNormArguments, RecurrentArguments, AttentionArguments>;

/// A sample turned into the arguments of a cost model.
struct Observation {
  ModelArguments arguments;
  std::string_view pass;  ///< as in the sample
  std::string_view op;    ///< as in the sample
  std::string precision;  ///< class of arithmetic whose parameters apply: "fp32", "fp32-tensor", "tf32", "fp16", "bf16", "fp8"
  std::string_view generation;  ///< of the library, by its convolution side: "cudnn7"; else empty
  Bytes element;                ///< of one number
  Flop flop;                    ///< useful arithmetic
  Flop least_flop;              ///< that the cleverest algorithm needs
  Bytes bytes;                  ///< every operand once
  Seconds time;
  bool call = false;         ///< the time includes the launch from the host
  double shapes_before = 0;  ///< different shapes that the process of a call had run before
  bool long_enough = true;   ///< long against the clock's resolution and the launch: may serve a fit
  int line = 0;              ///< in its file
};

/// Bytes of a number of a precision of samples.
[[nodiscard]] Bytes element_of(std::string_view precision);

/// Library generation whose constants describe a sample: "cudnn5" (cuDNN 4 and 5), "cudnn6", "cudnn7", "cudnn8", "miopen1",
/// "miopen3" (and the BLAS of its ROCm).
[[nodiscard]] std::string_view library_generation(std::string_view library);

/// Class of arithmetic whose parameters apply to a sample: its precision, or "fp32-tensor" where matrix cores multiply fp32.
[[nodiscard]] std::string arithmetic_class(const Sample& sample);

/// The cost model's arguments; nullopt for samples that the form does not describe. The texts are the sample's: it must
/// outlive the observation.
[[nodiscard]] Observation common_observation(const Sample& sample);  ///< what does not depend on the family
[[nodiscard]] std::optional<Observation> gemm_observation(const Sample& sample);
[[nodiscard]] std::optional<Observation> convolution_observation(const Sample& sample);
/// Elementwise kernels, dropout, optimiser updates and copies inside the device. Not what was held in the cache.
[[nodiscard]] std::optional<Observation> memory_observation(const Sample& sample);
/// Batch norm on 16-bit numbers with channels first, forward (statistics, then normalisation) and backward (two sums, then the
/// gradient). In 32 bits the bytes alone count, and their number comes from the software stack.
[[nodiscard]] std::optional<Observation> batch_norm_observation(const Sample& sample);
/// Softmax and layer norm, forward: one pass over the input and one over the output.
[[nodiscard]] std::optional<Observation> row_observation(const Sample& sample);
/// Whether a precision runs on tensor (matrix) cores of this device.
[[nodiscard]] bool on_tensor_cores(const Device& device, std::string_view precision);
/// Whether the device has a rate for a class of arithmetic. Everything computes fp32, and fp16 by widening it; no library
/// computes the others where the device does not.
[[nodiscard]] bool has_rate(const Device& device, std::string_view precision);
/// The key of a device file that states it: "peak_tf32_tensor".
[[nodiscard]] std::string rate_key(std::string_view precision);
/// Peak rate that a precision's efficiency is a share of.
[[nodiscard]] FlopPerSecond peak_for(const Device& device, std::string_view precision);

}  // namespace tbdsim::calibrate
