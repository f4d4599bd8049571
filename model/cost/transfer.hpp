#pragma once
#include <string>
#include <string_view>

#include "model/hardware/device.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim {

/// Parameters of one family on one device and where they come from.
struct ResolvedParameters {
  FamilyParameters parameters;
  bool assumed = false;      ///< no board has samples of the family
  bool transferred = false;  ///< no samples of this very device stand behind them
  double distance = 0.0;     ///< 0 own samples, 1 same architecture, 2 another architecture
};

/// The device's own calibration if it has one, else the shared file's row for this device, else the weighted
/// geometric mean of its relatives: boards of the same architecture count most, then the neighbouring generations;
/// memory efficiency also asks for the same kind of memory. Shares of peak are of the clock that a board keeps (kept_clock.hpp).
/// Kepler's 192 lanes behind four schedulers are fed 128 at a time without dual issue, so its compute efficiency is scaled by
/// 128/192. Peak times share never falls when a clock, a peak rate or the number of multiprocessors of the description rises.
/// `precision` is the class of arithmetic: "fp32", or a tensor-core one: "fp16", whose parameters "tf32", "bf16" and "fp8"
/// take where they have none of their own.
[[nodiscard]] ResolvedParameters resolve_parameters(const Device& device, std::string_view family, std::string_view precision,
                                                    const KernelConstants& constants);

/// Whether products at a precision take the form of `pipelined_gemm`: tensor cores since Ampere, unless the device has parameters
/// that were fitted to the older form.
[[nodiscard]] bool has_pipelined_products(const Device& device, std::string_view precision, const KernelConstants& constants);

/// The same of products in the form of `tiled_gemm`, on boards whose products have that of `pipelined_gemm`: fused attention and
/// recurrent layers take them until they have samples.
[[nodiscard]] ResolvedParameters resolve_tiled_products(const Device& device, std::string_view precision,
                                                        const KernelConstants& constants);

}  // namespace tbdsim
