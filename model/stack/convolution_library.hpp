#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Convolution algorithms a library may offer.
enum class ConvolutionAlgorithm { implicit_gemm, direct, winograd_fused, winograd_nonfused, fft };
[[nodiscard]] std::string_view name(ConvolutionAlgorithm algorithm);

/// Convolution side of a cuDNN (or MIOpen) generation: which algorithms exist and which are offered per pass.
struct ConvolutionLibrary {
  std::string name;        ///< "cudnn-5.1"
  std::string generation;  ///< row of the shared kernel constants: "cudnn5", "cudnn7"
  std::vector<ConvolutionAlgorithm> forward, backward_data, backward_weights;
  std::optional<Bytes> workspace_limit;  ///< absent: as much as it asks for
};

/// Reads a [convolution] table.
[[nodiscard]] ConvolutionLibrary read_convolution_library(TomlTable table);

}  // namespace tbdsim
