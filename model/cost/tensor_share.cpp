#include "model/cost/tensor_share.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {
namespace {

const TensorFacts* facts(const Clocked& board) { return board.chip->tensor ? &*board.chip->tensor : nullptr; }

/// FLOP of a multiprocessor's tensor cores a cycle.
double flop_per_cycle(const TensorCores& cores) {
  return cores.rate.base() / (cores.board.multiprocessors * issue_clock(cores.board).base());
}

/// Share of the peak with `flop` a cycle and multiprocessor where `share` was reached with `lent` of them.
double fed(double share, double ratio) {
  if (share >= 1.0) return share;
  return 1.0 / std::cbrt(1.0 + (1.0 / (share * share * share) - 1.0) * ratio * ratio * ratio);
}

/// How the share of the peak depends on what feeding takes, as one lender tells.
struct Feeding {
  double share = 1.0;            ///< of the lender
  std::optional<double> demand;  ///< of the lender: FLOP for each byte of operands
  [[nodiscard]] double at(std::optional<double> other) const { return demand && other ? fed(share, *other / *demand) : share; }
};

std::optional<double> demand(const std::optional<TensorCores>& cores) {
  const TensorFacts* const row = cores ? facts(cores->board) : nullptr;
  if (row == nullptr) return std::nullopt;
  return flop_per_cycle(*cores) / row->operands;
}

/// Share of its clock that a board keeps.
double kept(const std::optional<TensorCores>& cores, const Clocked& board, const Feeding& feeding) {
  const TensorFacts* const row = cores ? facts(board) : nullptr;
  const bool known = row != nullptr && board.limits.power_limit && flop_per_cycle(*cores) >= row->large;
  if (!known || board.limits.sustained_clock) return kept_clock(board);
  if (!row->energy) return 1.0;
  const double largest = feeding.at(row->cycle_flop / row->operands), here = feeding.at(demand(cores));
  return clock_by_power(board.limits.power_limit->base() / (cores->rate.base() * (here / largest)), *row->energy);
}

}  // namespace

std::optional<TensorCores> tensor_cores(const Device& device, std::string_view precision) {
  const PeakRates& peak = device.peak;
  if (!peak.fp16_tensor) return std::nullopt;
  FlopPerSecond rate = *peak.fp16_tensor;
  constexpr double kTf32 = 2.0, kFp8 = 0.5;
  if (precision == "bf16" && peak.bf16_tensor) rate = std::min(rate, *peak.bf16_tensor);
  if (precision == "tf32" && peak.tf32_tensor) rate = std::min(rate, kTf32 * *peak.tf32_tensor);
  if (precision == "fp8" && peak.fp8_tensor) rate = std::min(rate, kFp8 * *peak.fp8_tensor);
  return TensorCores{clocked(device), rate};
}

std::optional<TensorCores> tensor_cores(const Clocked& board) {
  if (!board.limits.peak_fp16_tensor) return std::nullopt;
  return TensorCores{board, *board.limits.peak_fp16_tensor};
}

double tensor_share(const std::optional<TensorCores>& device, const Clocked& device_board,
                    const std::optional<TensorCores>& lender, const Clocked& lender_board, double share) {
  const Feeding feeding{share, demand(lender)};
  return feeding.at(demand(device)) * class_clock(device_board, lender_board) * kept(device, device_board, feeding) /
         kept(lender, lender_board, feeding);
}

double tensor_clock(const Device& device, std::string_view precision) {
  const Clocked board = clocked(device),
                professional{board.architecture, board.chip, {}, board.multiprocessors, board.lanes, board.limits};
  return kept(tensor_cores(device, precision), board, {}) * class_clock(board, professional);
}

std::optional<double> tensor_overhead(const Device& device, std::string_view precision) {
  constexpr double kSampled = 1024.0, kMost = 2.0;
  const auto cores = tensor_cores(device, precision);
  if (!cores || !device.chip.tensor) return std::nullopt;
  return std::min(kMost, flop_per_cycle(*cores) / kSampled);
}

}  // namespace tbdsim
