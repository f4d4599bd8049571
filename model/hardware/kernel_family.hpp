#pragma once
#include <span>
#include <string_view>

namespace tbdsim {

/// Kernels that share parameters of a board, in the order in which reports name them.
enum class KernelFamily { convolution, gemm, recurrent, attention, softmax, layer_norm, memory_bound, single_access, rms_norm, rope, gated_activation, experts };

/// One row of the table of families.
struct KernelFamilyInfo {
  KernelFamily kind;
  std::string_view name;  ///< in device files, hardware/kernels.toml and JSON: "memory_bound"
  bool reduces_rows;      ///< threads meet to reduce each row
};

/// Every family, in the order of their enumerators.
[[nodiscard]] std::span<const KernelFamilyInfo> kernel_families();
[[nodiscard]] const KernelFamilyInfo& info(KernelFamily family);
[[nodiscard]] inline std::string_view name(KernelFamily family) { return info(family).name; }

}  // namespace tbdsim
