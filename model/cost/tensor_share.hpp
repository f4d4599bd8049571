#pragma once
#include <optional>
#include <string_view>

#include "model/cost/kept_clock.hpp"
#include "model/hardware/device.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim {

/// Tensor cores as products of one precision see them: `rate` in FLOP/s of 16 bits. Operands of tf32 have twice the bytes and
/// half the rate, those of fp8 half the bytes and twice the rate, so either counts as the 16-bit rate that asks for as many
/// bytes.
struct TensorCores {
  Clocked board;
  FlopPerSecond rate;
};
/// Nothing where the device lists no rate. `precision` is a class of arithmetic: "fp16", "bf16", "tf32", "fp8".
[[nodiscard]] std::optional<TensorCores> tensor_cores(const Device& device, std::string_view precision);
[[nodiscard]] std::optional<TensorCores> tensor_cores(const Clocked& board);

/// Share of the tensor-core peak that products reach on `device`, from the share that they reach on `lender`.
///
/// Tensor cores wait for operands from the shared memory beside them. With c FLOP a cycle and multiprocessor, fed at o bytes a
/// cycle, f = c/o is what feeding takes for each unit of arithmetic, up to a factor that the lender's share e tells:
///
///   e = (1 + (s f)^3)^(-1/3),   so with f' of the device   e' = (1 + (1/e^3 - 1) (f'/f)^3)^(-1/3)
///
/// Boards of a generation are built with different tensor rates beside the same memory: GeForce boards multiply at half or a
/// quarter of it and reach more of their peak.
///
/// A stated sustained clock then lowers the share, else the power limit does. Tensor cores that wait take no power: what counts
/// is the rate that is fed, against that of the generation's largest board, whose power is taken to just suffice. So a device
/// with a higher peak is never slower. Where the energy of tensor cores is not known, that of the fp32 lanes decides.
[[nodiscard]] double tensor_share(const std::optional<TensorCores>& device, const Clocked& device_board,
                                  const std::optional<TensorCores>& lender, const Clocked& lender_board, double share);

/// Clock at which a device runs products on tensor cores over its listed one.
[[nodiscard]] double tensor_clock(const Device& device, std::string_view precision);

/// What a k-step or tile of a tensor-core product costs beside its products, counted in k-steps at the full tensor rate, against
/// V100 and T4, whose samples the constants are of: loads, turned operands and what fills and drains a tile take as many cycles
/// of a multiprocessor that multiplies faster, so more k-steps. 1 at their 1,024 FLOP a cycle in 16 bits, 2 for A100 (2,048), 1/2
/// for most GeForce boards; 1 where either rate is not known. Not above 2: what multiplies faster still has engines of its own
/// for operands (Hopper, Blackwell; assumed).
[[nodiscard]] std::optional<double> tensor_overhead(const Device& device, std::string_view precision);

}  // namespace tbdsim
