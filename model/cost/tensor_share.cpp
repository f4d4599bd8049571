#include "model/cost/tensor_share.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/hardware/architecture.hpp"

namespace tbdsim {
namespace {

constexpr double kNoLimit = 0.0, kNever = INFINITY;

struct Generation {
  std::string_view architecture;
  // Operands that a multiprocessor's tensor cores get, B a cycle. Volta 128, Turing 64: what its shared memory delivers
  // (measured: Jia et al., arXiv:1804.06826 and arXiv:1903.07486). Ampere's 128 serve a whole warp where Volta's serve 8 of its
  // threads (paper: NVIDIA A100 whitepaper; twice is assumed). Hopper's products of four warps and Blackwell's of two
  // multiprocessors share them once more each (assumed: as much as their tensor rates grew).
  double operands;
  // FLOP a cycle and multiprocessor from which on a chip counts as the generation's large one, whose energy follows.
  double large;
  // Power limit over the tensor rate of the largest board, J per FLOP, and its FLOP a cycle and multiprocessor: it just keeps its
  // clock (assumed; ResNet-50 in tf32 says so of the A100: the PCIe board's 250 W cost it what this gives). Not a number: the T4
  // reaches with 70 W the share that boards with four times its power for twice its rate reach.
  double joule, cycle_flop;
};
constexpr std::array<Generation, 6> kGenerations{{{"Volta", 128, 0, 2.40e-12, 1021},
                                                  {"Turing", 64, 0, kNoLimit, 1024},
                                                  {"Ampere", 256, 1448, 1.28e-12, 2048},
                                                  {"Ada", 256, kNever, kNoLimit, 1024},
                                                  {"Hopper", 512, 0, 0.708e-12, 3784},
                                                  {"Blackwell", 1024, 2896, 0.444e-12, 7736}}};

const Generation* generation(std::string_view architecture) {
  const Architecture* const known = find_architecture(architecture);
  if (known == nullptr) return nullptr;
  const auto* const row =
      std::find_if(kGenerations.begin(), kGenerations.end(), [&](const Generation& g) { return g.architecture == known->name; });
  return row == kGenerations.end() ? nullptr : row;
}

/// FLOP of a multiprocessor's tensor cores a cycle.
double flop_per_cycle(const TensorCores& cores) {
  return cores.rate.base() / (cores.board.multiprocessors * listed_clock(cores.board).base());
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
  const Generation* const row = cores ? generation(cores->board.architecture) : nullptr;
  if (row == nullptr) return std::nullopt;
  return flop_per_cycle(*cores) / row->operands;
}

/// Share of its clock that a board keeps.
double kept(const std::optional<TensorCores>& cores, const Clocked& board, const Feeding& feeding) {
  const Generation* const row = cores ? generation(board.architecture) : nullptr;
  const bool known = row != nullptr && board.limits.power_limit && flop_per_cycle(*cores) >= row->large;
  if (!known || board.limits.sustained_clock) return kept_clock(board);
  if (row->joule == kNoLimit) return 1.0;
  const double largest = feeding.at(row->cycle_flop / row->operands), here = feeding.at(demand(cores));
  return clock_by_power(board.limits.power_limit->base() / (cores->rate.base() * (here / largest)), row->joule);
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
  const Clocked board = clocked(device), professional{board.architecture, {}, board.multiprocessors, board.lanes, board.limits};
  return kept(tensor_cores(device, precision), board, {}) * class_clock(board, professional);
}

std::optional<double> tensor_overhead(const Device& device, std::string_view precision) {
  constexpr double kSampled = 1024.0, kMost = 2.0;
  const auto cores = tensor_cores(device, precision);
  if (!cores || generation(device.architecture) == nullptr) return std::nullopt;
  return std::min(kMost, flop_per_cycle(*cores) / kSampled);
}

}  // namespace tbdsim
