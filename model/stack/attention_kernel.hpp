#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace tbdsim {

/// Kernels that compute attention in one launch each way and keep the scores on the chip.
enum class AttentionKernel {
  general,        ///< of any board and precision: PyTorch's memory-efficient kernels, AOTriton
  flash_1,        ///< FlashAttention 1: PyTorch 2.0 and 2.1
  flash_2,        ///< FlashAttention 2: PyTorch since 2.2
  flash_2_paged,  ///< keys and values in pages of a cache
  flash_2_split,  ///< keys of a block divided over several blocks where these are few
  flashinfer,
  flash_3,  ///< FlashAttention 3: Hopper
  flash_3_paged,
  flash_3_vllm,  ///< the same in vLLM, which starts more beside it
  fmha,          ///< TensorRT-LLM
  fmha_hopper,
  fmha_blackwell,
  fmha_blackwell_trtllm,  ///< the same in TensorRT-LLM itself
  cudnn_9,                ///< cuDNN 9 on Hopper and later
  cudnn_9_ampere,         ///< cuDNN 9 on Ampere and Ada: not measured, with FlashAttention 2's algorithm and constants
  aiter,                  ///< AMD
};

/// Rows that one block works on, up to a width of a head.
struct AttentionTile {
  int width, queries, keys;
};

/// How a kernel divides the work, from its source.
struct AttentionKernelInfo {
  AttentionKernel kernel;
  std::string_view name;                ///< "flash-2"
  AttentionKernel like;                 ///< whose constants it takes while no sample of its own was fitted; itself: none
  double rate_of_like;                  ///< its rate against that kernel's, of products and exponentials alike
  std::array<AttentionTile, 3> tiles;   ///< by width, narrowest first; the last also serves wider heads
  int blocks_together;                  ///< on one multiprocessor
  bool splits_keys;                     ///< over further blocks where there are fewer blocks than places
  bool packs_heads;                     ///< query heads of one key head share blocks
  bool width_192;                       ///< has a variant for 192 features; else these run as 256
  double exposed_softmax;               ///< share of the exponentials that products of another block do not hide
  bool warp_products;                   ///< products by instructions of one warp, slower than the tensor peak since Hopper
  std::string_view compute_capability;  ///< least; empty: any
  std::string_view last_capability;     ///< most; empty: any later one, too
};

/// Every kernel.
///
/// FlashAttention 2 is around twice as fast as FlashAttention 1 (arXiv:2307.08691, abstract): fewer operations beside products,
/// blocks along the sequence, work divided better within a block. Exponentials: 1 on Ampere and Ada, whose blocks do one after
/// the other; 0.45 in kernels whose warps take turns (0.45 fitted on heads of 64 to 256 features, H100). Sources of the tiles:
/// Dao-AILab/flash-attention (csrc/flash_attn, hopper/tile_size.h), flashinfer-ai/flashinfer, NVIDIA/TensorRT-LLM
/// (cpp/kernels/fmha_v2); cuDNN's, aiter's and Blackwell's are assumed. FlashAttention 3 requires an H100 or H800
/// (Dao-AILab/flash-attention, README); its instructions, as those of TensorRT-LLM's kernels for Hopper, are of sm_90a alone (PTX
/// ISA, wgmma). cuDNN's needs SM80 or newer and uses FlashAttention 2's algorithm (docs.nvidia.com/deeplearning/cudnn, frontend,
/// operations/Attention, "Support Matrix"; PyTorch, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
/// check_cudnn_hardware_support).
[[nodiscard]] std::span<const AttentionKernelInfo> attention_kernels();
[[nodiscard]] const AttentionKernelInfo& info(AttentionKernel kernel);
[[nodiscard]] std::optional<AttentionKernel> find_attention_kernel(std::string_view name);

}  // namespace tbdsim
