#pragma once
#include <string_view>

#include "model/hardware/device.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim {

/// Share of the tensor-core peak that products of `board` would reach with the device's multiprocessors in place of its own.
///
/// Tensor cores wait for operands from the shared memory beside them. With c FLOP a cycle and multiprocessor, fed at o bytes a
/// cycle, f = c/o is what feeding takes for each unit of arithmetic, up to a factor that the board's share e tells:
///
///   e = (1 + (s f)^3)^(-1/3),   so with f' of the device   e' = (1 + (1/e^3 - 1) (f'/f)^3)^(-1/3)
///
/// Boards of a generation are built with different tensor rates beside the same memory: GeForce boards multiply at half or a
/// quarter of it and reach more of their peak. The board's own share where nothing is known of either.
[[nodiscard]] double fed_share(const Device& device, const BoardParameters& board);

/// What a k-step or tile of a tensor-core product costs beside its products, counted in k-steps, against V100 and T4, whose
/// samples the constants are of: loads, turned operands and what fills and drains a tile take as many cycles of a multiprocessor
/// that multiplies faster, so more k-steps. 1 at their 1,024 FLOP a cycle in 16 bits, 2 for A100 (2,048), 1/2 for most GeForce
/// boards; 1 where either rate is not known. Tensor rates in tf32 and fp8 grow as the bytes of their operands shrink, so the
/// number is that of 16 bits. Not above 2: what multiplies faster still has engines of its own for operands (Hopper, Blackwell;
/// assumed).
[[nodiscard]] double tensor_overhead(const Device& device);

/// Share of the clock of its listed tensor rate that a board keeps by its power limit; nothing where the energy of its tensor
/// cores is not known.
[[nodiscard]] std::optional<double> tensor_power_share(std::string_view architecture, int lanes, std::optional<Watts> power_limit,
                                                       std::optional<FlopPerSecond> peak_tensor);

/// A chip's voltage falls with its clock down to a least one: power goes with the cube of the clock near the top and with the
/// clock itself at the bottom. The power between, f^(1/0.55), is what the Tesla T4 (70 W) keeps in fp32 against V100, and the
/// P4 (75 W) against the GTX 1080 Ti (samples of calibrate/samples).
[[nodiscard]] double clock_by_power(double joule, double needed);

}  // namespace tbdsim
