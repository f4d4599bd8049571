#include "model/stack/stack.hpp"

namespace tbdsim {

std::string_view name(ConvolutionAlgorithm algorithm) {
  switch (algorithm) {
    case ConvolutionAlgorithm::implicit_gemm:
      return "implicit_gemm";
    case ConvolutionAlgorithm::direct:
      return "direct";
    case ConvolutionAlgorithm::winograd_fused:
      return "winograd_fused";
    case ConvolutionAlgorithm::winograd_nonfused:
      return "winograd_nonfused";
    case ConvolutionAlgorithm::fft:
      return "fft";
  }
  return "unknown";
}

}  // namespace tbdsim
