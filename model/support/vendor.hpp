#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace tbdsim {

/// Who makes a device, as the `vendor` of a device and of a stack names it.
enum class Vendor { nvidia, amd };

/// One row of the table of vendors.
struct VendorInfo {
  Vendor kind;
  std::string_view name;               ///< in files, output and JSON: "NVIDIA"
  std::string_view stack_ending;       ///< of the catalogue's stacks for its devices: "-rocm"; empty: none
  std::string_view recurrent_kernels;  ///< constants of its recurrent layers; empty: by chip and CUDA release
  double operations_per_lane;          ///< multiply-adds that an fp32 lane may start in a cycle
  bool defaults_to_tf32;               ///< frameworks may run fp32 products as tf32 where the device has it
};

/// Every vendor, in the order of their enumerators.
[[nodiscard]] std::span<const VendorInfo> vendors();
[[nodiscard]] const VendorInfo& info(Vendor vendor);
[[nodiscard]] inline std::string_view name(Vendor vendor) { return info(vendor).name; }
/// As files write it; empty: not known.
[[nodiscard]] inline std::string_view name(std::optional<Vendor> vendor) { return vendor ? name(*vendor) : std::string_view(); }

}  // namespace tbdsim
