#pragma once
#include <array>
#include <optional>
#include <span>

#include "model/hardware/kernel_constants.hpp"
#include "model/hardware/kernel_family.hpp"

namespace tbdsim {

class KernelModel;
struct NodeCost;

/// Half-width of the central 80 % of a normal distribution, in standard deviations.
inline constexpr double kCentral80 = 1.2815515655446004;

/// How far predictions of a family's kernels err: standard deviations of ln(measured / predicted).
struct FamilySigma {
  std::optional<KernelFamily> family;
  double launch = 0, compute = 0, memory = 0;  ///< what all its kernels share: of the parts that each bounds
  double single = 0;                           ///< of each kernel alone
};

/// Those of one device under one stack. A family with samples of the very board still has `spread.clock` in its arithmetic:
/// another board of that kind, another cooling. One that borrows has no less.
using FamilySigmas = std::array<FamilySigma, 8>;
[[nodiscard]] FamilySigmas family_sigmas(const KernelModel& kernels, const SpreadConstants& spread);

/// What the kernels of a step leave uncertain of their sum: standard deviations of ln(measured / predicted).
struct KernelSpread {
  double shared = 0;  ///< what the kernels of a board have in common
  double single = 0;  ///< what differs from kernel to kernel
};

/// Spread of the sum of `costs`.
///
/// What the kernels of a family share adds linearly within it; half of its variance is common to all families. What is a
/// kernel's own adds in squares, kernels of one family and equal time being one kernel.
/// Worked example: model/cost/README.md, tests/cost/uncertainty_test.cpp.
[[nodiscard]] KernelSpread kernel_spread(std::span<const NodeCost> costs, const FamilySigmas& sigmas);

/// Causes that a step has beyond its kernels, as standard deviations of ln(measured / predicted).
struct StepCauses {
  bool tensor_core = false;  ///< products run on tensor cores
  bool exchange = false;     ///< on several GPUs
  double stack = 0;          ///< the named framework version is not the one described
  double host = 0;           ///< how long the host takes to issue operators, where the step waits for it
};

/// How far the host's time for an operator errs, as a standard deviation of its logarithm: of a CPU that is known (residuals of
/// networks of the DGX Station that set nothing), and of one that nothing names (servers of 2016 to 2022: 1.3 to 2.2 times the
/// reference host's time).
inline constexpr double kKnownHostSpread = 0.10, kUnknownHostSpread = 0.23;

/// Spread of a step whose kernels take `busy` of its time: independent causes, added in squares.
[[nodiscard]] double step_spread(const SpreadConstants& spread, const KernelSpread& kernels, double busy,
                                 const StepCauses& causes);

}  // namespace tbdsim
