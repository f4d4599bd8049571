#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "model/cost/kernel_time.hpp"
#include "model/cost/tiled_gemm.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/stack/stack.hpp"

namespace tbdsim {

/// One two-dimensional convolution of a batch: x[n,c,h,w] with k filters [c/groups,r,s] gives y[n,k,p,q].
struct ConvolutionShape {
  double n = 1, c = 1, h = 1, w = 1, k = 1, r = 1, s = 1, p = 1, q = 1;
  double stride_h = 1, stride_w = 1, groups = 1;
};

enum class ConvolutionPass { forward, backward_data, backward_weights };

/// What one pass may run when scratch memory for its algorithm cannot be had: a slower one, with less.
struct SmallerWorkspace {
  Bytes workspace;
  Seconds longer;  ///< than the chosen algorithm takes
};

/// Fastest first, each with less scratch memory than all before it.
struct SmallerWorkspaces {
  static constexpr std::size_t kMost = 4;  ///< as many as there are algorithms, less the chosen one
  std::array<SmallerWorkspace, kMost> choices{};
  std::size_t count = 0;
  [[nodiscard]] std::span<const SmallerWorkspace> all() const { return {choices.data(), count}; }
};

/// Chosen algorithm of one pass.
struct ConvolutionTime {
  KernelTimeModel kernel;
  ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::implicit_gemm;
  SmallerWorkspaces smaller;
};

/// Whether libraries have kernels of an algorithm for tensor cores of one class of arithmetic ("fp16", "tf32", "fp32-tensor"):
/// those that are products, plain or of transformed tiles. Of cuDNN's only IMPLICIT_PRECOMP_GEMM (ALGO_1 backward) and
/// WINOGRAD_NONFUSED are listed as tensor-core operations (Developer Guide, cuDNN 7 and 8); Winograd's transforms lose too many
/// bits for tf32's mantissa (assumed). Fused Winograd, FFT and direct kernels compute on vector lanes whatever the storage.
[[nodiscard]] bool has_tensor_kernels(ConvolutionAlgorithm algorithm, std::string_view arithmetic);

/// Time of one pass with one algorithm; nullopt where the algorithm does not exist (Winograd needs stride 1 and a
/// 3x3 or 5x5 filter, FFT stride 1).
[[nodiscard]] std::optional<KernelTimeModel> convolution_time(const ConvolutionShape& shape, ConvolutionPass pass,
                                                              ConvolutionAlgorithm algorithm, Bytes element,
                                                              const ConvolutionConstants& constants, const KernelRates& rates);

/// Fastest of `offered` whose workspace stays within `workspace_limit`: what an autotuning framework picks, and what it would
/// pick with less memory.
[[nodiscard]] ConvolutionTime fastest_convolution(const ConvolutionShape& shape, ConvolutionPass pass,
                                                  std::span<const ConvolutionAlgorithm> offered,
                                                  std::optional<Bytes> workspace_limit, Bytes element,
                                                  const ConvolutionConstants& constants, const KernelRates& rates);

}  // namespace tbdsim
