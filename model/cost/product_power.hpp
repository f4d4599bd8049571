#pragma once
#include "model/cost/tensor_share.hpp"

namespace tbdsim {

/// Shares of the tensor-core peak of one board in products: of short ones, and of those that last until the power limit has
/// lowered the clock.
struct ProductShares {
  double brief = 1.0, sustained = 1.0;
};

/// Over which a benchmark that repeats one product a few times comes to the clock that power sustains (fitted: A100, H100, L40S).
/// A training step lasts long enough for its clock to settle; that its other kernels draw as much as products is assumed.
inline constexpr Seconds kBenchmarkPowerTime{0.9e-3};

/// Shares that a device reaches in products (model/cost/pipelined_gemm.hpp), from those of a lender.
///
/// A multiply-add takes the less energy, the wider the instruction that it is part of, since each operand fetched serves more of
/// them. With c FLOP a cycle and multiprocessor (GeForce boards count as at least 1024 wide, and take less for a FLOP, since they
/// issue at half the rate) and P the power limit,
///
///   energy = P/(SMs c f^1.82),   energy ~ c^-0.53,   sustained = f/clock,   brief ~ sustained^0.3
///
/// f: the clock that long products keep. Fitted on five boards: at 1 GHz 2.2 pJ per FLOP on A40, 1.8 on L40S, 1.5 on A100, 0.85
/// on H100, 0.7 on B300; brief shares on the three that have kernels in common. f^1.82: `clock_by_power`.
/// A stated sustained clock bounds both. A device with more power, a higher clock, rate or more multiprocessors is never slower.
[[nodiscard]] ProductShares product_shares(const std::optional<TensorCores>& device, const Clocked& device_board,
                                           const std::optional<TensorCores>& lender, const Clocked& lender_board,
                                           ProductShares shares);

/// Share of its clock that a device keeps in fused attention, from a lender's. Softmax and masks leave the tensor cores idle for
/// part of the time, so power lowers the clock by the square root of what it takes from long products (A100 and L40S, which run
/// the same kernels, lie 0.75 to 0.78 apart; the rule says 0.73). Nothing where a power limit or the rates of tensor cores are
/// not known.
[[nodiscard]] std::optional<double> attention_share(const std::optional<TensorCores>& device, const Clocked& device_board,
                                                    const std::optional<TensorCores>& lender, const Clocked& lender_board,
                                                    double share);

}  // namespace tbdsim
