#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibrate/decode/sample_table.hpp"
#include "model/cost/convolution.hpp"
#include "model/cost/gemm.hpp"
#include "model/hardware/device.hpp"

namespace tbdsim::calibrate {

/// A sample turned into the arguments of a cost model.
struct ConvolutionObservation {
  ConvolutionShape shape;
  ConvolutionPass pass = ConvolutionPass::forward;
  std::vector<ConvolutionAlgorithm> offered;  ///< one when the sample names it, else the library's menu
  Bytes element;
  Seconds time;
  int board = 0, generation = 0;
};
struct GemmObservation {
  GemmShape shape;
  Bytes element;
  Seconds time;
  int board = 0;
};
struct MemoryObservation {
  Bytes bytes;
  Seconds time;
  int board = 0;
};

/// Library generation whose constants describe a sample: "cudnn5" (cuDNN 4 to 6), "cudnn7", "cudnn8", "miopen1".
[[nodiscard]] std::string library_generation(const std::string& library);

/// The cost model's arguments; nullopt for samples that the form does not describe or that are too short to trust.
[[nodiscard]] std::optional<ConvolutionObservation> convolution_observation(const Sample& sample);
[[nodiscard]] std::optional<GemmObservation> gemm_observation(const Sample& sample);
[[nodiscard]] std::optional<MemoryObservation> memory_observation(const Sample& sample);

/// Time of the fastest offered algorithm.
[[nodiscard]] Seconds fastest_of(const ConvolutionObservation& row, const ConvolutionConstants& constants,
                                 const KernelRates& rates);

/// Peak rate that a sample's efficiency is a share of.
[[nodiscard]] FlopPerSecond peak_for(const Device& device, const std::string& precision);

}  // namespace tbdsim::calibrate
