#include "model/cost/tensor_share.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tbdsim {
namespace {

struct Generation {
  std::string_view architecture;
  // Operands that a multiprocessor's tensor cores get, B a cycle. Volta 128, Turing 64: what its shared memory delivers
  // (measured: Jia et al., arXiv:1804.06826 and arXiv:1903.07486). Ampere's 128 serve a whole warp where Volta's serve 8 of its
  // threads (paper: NVIDIA A100 whitepaper; twice is assumed). Hopper's products of four warps and Blackwell's of two
  // multiprocessors share them once more each (assumed: as much as their tensor rates grew).
  double operands;
  // Lanes of the board whose power limit, over its tensor rate, is the energy of a FLOP, J: the largest board of the generation
  // just keeps its clock (assumed; ResNet-50 in tf32 says so of the A100: the PCIe board's 250 W cost it what this gives).
  // Multiprocessors with other lanes are other chips. Not a number: the T4 reaches with 70 W the share that boards with four
  // times its power for twice its rate reach.
  int lanes;
  double joule;
};
constexpr double kNoLimit = 0.0;
constexpr std::array<Generation, 6> kGenerations{{{"Volta", 128, 64, 2.40e-12},
                                                  {"Turing", 64, 64, kNoLimit},
                                                  {"Ampere", 256, 64, 1.28e-12},
                                                  {"Ada", 256, 0, kNoLimit},
                                                  {"Hopper", 512, 128, 0.708e-12},
                                                  {"Blackwell", 1024, 128, 0.444e-12}}};

const Generation* generation(std::string_view architecture) {
  const Architecture* const known = find_architecture(architecture);
  if (known == nullptr) return nullptr;
  const auto* const row =
      std::find_if(kGenerations.begin(), kGenerations.end(), [&](const Generation& g) { return g.architecture == known->name; });
  return row == kGenerations.end() ? nullptr : row;
}

/// FLOP of a multiprocessor's tensor cores a cycle; the peak of the lanes tells the clock.
double flop_per_cycle(int lanes, FlopPerSecond peak_fp32, FlopPerSecond peak_tensor) {
  return 2.0 * lanes * (peak_tensor / peak_fp32);
}

/// FLOP of the tensor cores for each byte of operands that they get.
std::optional<double> demand(std::string_view architecture, int lanes, FlopPerSecond peak_fp32,
                             std::optional<FlopPerSecond> peak_tensor) {
  const Generation* const row = generation(architecture);
  if (row == nullptr || !peak_tensor) return std::nullopt;
  return flop_per_cycle(lanes, peak_fp32, *peak_tensor) / row->operands;
}

}  // namespace

double clock_by_power(double joule, double needed) {
  constexpr double kClockPerPower = 0.55;
  return std::min(1.0, std::pow(joule / needed, kClockPerPower));
}

double fed_share(const Device& device, const BoardParameters& board) {
  const double share = board.parameters.compute_efficiency;
  const auto lends = demand(board.architecture, board.fp32_lanes, board.limits.peak_fp32, board.limits.peak_fp16_tensor);
  const auto takes = demand(device.architecture, device.fp32_lanes, device.peak.fp32, device.peak.fp16_tensor);
  if (!lends || !takes || share >= 1.0) return share;
  const double ratio = *takes / *lends;
  return 1.0 / std::cbrt(1.0 + (1.0 / (share * share * share) - 1.0) * ratio * ratio * ratio);
}

double tensor_overhead(const Device& device) {
  constexpr double kSampled = 1024.0, kMost = 2.0;
  if (generation(device.architecture) == nullptr || !device.peak.fp16_tensor) return 1.0;
  return std::min(kMost, flop_per_cycle(device.fp32_lanes, device.peak.fp32, *device.peak.fp16_tensor) / kSampled);
}

std::optional<double> tensor_power_share(std::string_view architecture, int lanes, std::optional<Watts> power_limit,
                                         std::optional<FlopPerSecond> peak_tensor) {
  const Generation* const row = generation(architecture);
  if (row == nullptr || row->lanes != lanes || !power_limit || !peak_tensor) return std::nullopt;
  return row->joule == kNoLimit ? 1.0 : clock_by_power(power_limit->base() / peak_tensor->base(), row->joule);
}

}  // namespace tbdsim
