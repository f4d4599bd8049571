#pragma once
#include <array>
#include <span>
#include <string_view>

namespace tbdsim::calibrate {

/// cuDNN's algorithms of each pass, in the order of its enumerations (cudnnConvolutionFwdAlgo_t, BwdDataAlgo_t,
/// BwdFilterAlgo_t; cuDNN API reference, 7 to 9), under the names that sample files use.
inline constexpr std::array<std::string_view, 8> kForwardAlgorithms{
    "implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling", "winograd", "winograd_nonfused"};
inline constexpr std::array<std::string_view, 6> kBackwardDataAlgorithms{"algo_0",     "algo_1",   "fft",
                                                                         "fft_tiling", "winograd", "winograd_nonfused"};
inline constexpr std::array<std::string_view, 7> kBackwardWeightsAlgorithms{
    "algo_0", "algo_1", "fft", "algo_3", "winograd", "winograd_nonfused", "fft_tiling"};

/// Those of a pass; empty where `pass` is none of a convolution's.
[[nodiscard]] constexpr std::span<const std::string_view> convolution_algorithms(std::string_view pass) {
  if (pass == "forward") return kForwardAlgorithms;
  if (pass == "backward_data") return kBackwardDataAlgorithms;
  if (pass == "backward_weights") return kBackwardWeightsAlgorithms;
  return {};
}

}  // namespace tbdsim::calibrate
