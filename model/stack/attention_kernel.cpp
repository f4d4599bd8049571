#include "model/stack/attention_kernel.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

using K = AttentionKernel;

constexpr std::array<AttentionTile, 3> kFlash2{{{64, 128, 64}, {128, 128, 64}, {256, 64, 64}}},
    kPaged{{{64, 64, 256}, {128, 64, 128}, {256, 64, 64}}}, kFlashInfer{{{64, 64, 64}, {128, 64, 64}, {256, 64, 64}}},
    kFlash3{{{96, 192, 128}, {192, 128, 128}, {256, 128, 80}}}, kFmha{{{64, 128, 64}, {128, 128, 64}, {256, 128, 64}}},
    kSquare{{{64, 128, 128}, {128, 128, 128}, {256, 128, 128}}};

constexpr bool kSplits = true, kPacks = true, kHas192 = true, kWarps = true, kNo = false;
constexpr std::string_view kHopper = "9.0";
constexpr double kInTurn = 1.0, kOverlapped = 0.45, kAlike = 1.0, kHalf = 0.5;

constexpr std::array<AttentionKernelInfo, 16> kKernels{{
    {K::general, "general", K::general, kAlike, kFlash2, 1, kNo, kNo, kNo, kInTurn, kNo, "", ""},
    {K::flash_1, "flash-1", K::flash_2, kHalf, kFlash2, 1, kNo, kNo, kNo, kInTurn, kWarps, "7.5", ""},
    {K::flash_2, "flash-2", K::flash_2_paged, kAlike, kFlash2, 1, kNo, kNo, kHas192, kInTurn, kWarps, "8.0", ""},
    {K::flash_2_paged, "flash-2-paged", K::flash_2_split, kAlike, kPaged, 2, kNo, kNo, kHas192, kInTurn, kWarps, "8.0", ""},
    {K::flash_2_split, "flash-2-split", K::flash_2, kAlike, kPaged, 2, kSplits, kNo, kHas192, kInTurn, kWarps, "8.0", ""},
    {K::flashinfer, "flashinfer", K::flash_2_paged, kAlike, kFlashInfer, 1, kSplits, kPacks, kNo, kInTurn, kWarps, "8.0", ""},
    {K::flash_3, "flash-3", K::flash_3_paged, kAlike, kFlash3, 1, kSplits, kPacks, kHas192, kOverlapped, kNo, kHopper, kHopper},
    {K::flash_3_paged, "flash-3-paged", K::flash_2_paged, kAlike, kFlash3, 1, kSplits, kPacks, kHas192, kOverlapped, kNo, kHopper,
     kHopper},
    {K::flash_3_vllm, "flash-3-vllm", K::flash_3_paged, kAlike, kFlash3, 1, kSplits, kPacks, kHas192, kOverlapped, kNo, kHopper,
     kHopper},
    {K::fmha, "fmha", K::flash_2_paged, kAlike, kFmha, 2, kNo, kNo, kNo, kInTurn, kWarps, "8.0", ""},
    {K::fmha_hopper, "fmha-hopper", K::fmha, kAlike, kFlash3, 1, kNo, kNo, kHas192, kOverlapped, kNo, kHopper, kHopper},
    {K::fmha_blackwell, "fmha-blackwell", K::fmha_hopper, kAlike, kSquare, 1, kNo, kNo, kHas192, kOverlapped, kNo, "10.0", ""},
    {K::fmha_blackwell_trtllm, "fmha-blackwell-trtllm", K::fmha_blackwell, kAlike, kSquare, 1, kNo, kNo, kHas192, kOverlapped,
     kNo, "10.0", ""},
    {K::cudnn_9, "cudnn-9", K::flash_3, kAlike, kSquare, 1, kNo, kNo, kHas192, kOverlapped, kNo, "9.0", ""},
    {K::cudnn_9_ampere, "cudnn-9-ampere", K::flash_2, kAlike, kFlash2, 1, kNo, kNo, kNo, kInTurn, kWarps, "8.0", ""},
    {K::aiter, "aiter", K::general, kAlike, kSquare, 1, kNo, kNo, kNo, kInTurn, kNo, "", ""},
}};

}  // namespace

std::span<const AttentionKernelInfo> attention_kernels() { return kKernels; }

const AttentionKernelInfo& info(AttentionKernel kernel) { return kKernels[static_cast<std::size_t>(kernel)]; }

std::optional<AttentionKernel> find_attention_kernel(std::string_view name) {
  const auto* const found =
      std::find_if(kKernels.begin(), kKernels.end(), [&](const AttentionKernelInfo& row) { return row.name == name; });
  return found == kKernels.end() ? std::nullopt : std::optional(found->kernel);
}

}  // namespace tbdsim
