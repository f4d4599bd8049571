#include "model/cost/kept_clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/hardware/architecture.hpp"

namespace tbdsim {
namespace {

constexpr double kFedLanes = 128.0;

// Energy that a multiply-add lane takes in a cycle at the clocks that boards list, J: the least of a generation's boards that
// keep their listed clock with kernels of published tables (TITAN X Maxwell has 2.2 times it; GTX 1080 Ti, V100, A100 PCIe, RTX
// 3090, RTX 4090; from power limit, lanes and boost clock of hardware/gpus). A board with less runs slower. Kepler's is that of a
// lane that its schedulers feed, 128 of 192. Blackwell has no published tables: the least of its boards, the RTX 5090, is taken
// to keep its clock as the RTX 4090 does (assumed).
struct LaneEnergy {
  std::string_view architecture;
  double joule;
};
constexpr std::array<LaneEnergy, 9> kLaneEnergies{{{"Kepler", 90e-12},
                                                   {"Maxwell", 60e-12},
                                                   {"Pascal", 42e-12},
                                                   {"Volta", 37e-12},
                                                   {"Turing", 37e-12},
                                                   {"Ampere", 20e-12},
                                                   {"Ada", 10.5e-12},
                                                   {"Hopper", 13e-12},
                                                   {"Blackwell", 10.9e-12}}};

const LaneEnergy* lane_energy(std::string_view architecture) {
  const Architecture* const known = find_architecture(architecture);
  if (known == nullptr) return nullptr;
  const auto* const row = std::find_if(kLaneEnergies.begin(), kLaneEnergies.end(),
                                       [&](const LaneEnergy& e) { return e.architecture == known->name; });
  return row == kLaneEnergies.end() ? nullptr : row;
}

/// Share of a clock that the power limit lets the lanes keep. Lanes that no scheduler feeds take no part of it.
double power_share(const Clocked& board, Hertz clock) {
  const LaneEnergy* const row = lane_energy(board.architecture);
  if (!board.limits.power_limit || row == nullptr) return 1.0;
  const double lane_cycles = board.multiprocessors * fed_lanes(board.lanes) * clock.base();
  return clock_by_power(board.limits.power_limit->base() / lane_cycles, row->joule);
}

/// The stated sustained clock as a share of the listed one.
std::optional<double> stated_share(const Clocked& board) {
  const ClockLimits& limits = board.limits;
  if (!limits.sustained_clock || !limits.boost_clock) return std::nullopt;
  return *limits.sustained_clock / listed_clock(board);
}

// GeForce and TITAN boards run above the boost clock they list, as power allows; Tesla boards keep to it. Fitted: TITAN X
// over Tesla M40, the same chip at the same listed rate (DeepBench convolution, 0.761 against 0.710).
constexpr double kConsumerClock = 1.07;

bool consumer(const Clocked& board) { return board.board_class == BoardClass::consumer; }

}  // namespace

Clocked clocked(const Device& device) {
  return {device.architecture, device.board_class, device.multiprocessors, device.fp32_lanes, clock_limits(device)};
}

Clocked clocked(const BoardParameters& board) {
  return {board.architecture, board.board_class, board.multiprocessors, board.fp32_lanes, board.limits};
}

Hertz listed_clock(const Clocked& board) {
  const Hertz by_peak(board.limits.peak_fp32.base() / (2.0 * board.multiprocessors * board.lanes));
  return board.limits.boost_clock ? std::min(*board.limits.boost_clock, by_peak) : by_peak;
}

double fed_lanes(int lanes) { return std::min<double>(kFedLanes, lanes); }

double kept_clock(const Clocked& board) {
  if (const auto stated = stated_share(board)) return *stated;
  return power_share(board, listed_clock(board));
}

double class_clock(const Clocked& device, const Clocked& lender) {
  return (consumer(device) ? kConsumerClock : 1.0) / (consumer(lender) ? kConsumerClock : 1.0);
}

double wanted_clock(const Clocked& board) {
  return kept_clock(board) * (consumer(board) && !stated_share(board) ? kConsumerClock : 1.0);
}

double kept_against(const Clocked& device, const Clocked& lender) {
  const double lent = kept_clock(lender);
  const bool alike = consumer(device) && consumer(lender) && lender.architecture == device.architecture;
  if (!alike || stated_share(device)) return class_clock(device, lender) * kept_clock(device) / lent;
  // Both run above their listed clocks by the same factor, up to the clock that the device itself lists.
  const Hertz listed = listed_clock(device), wanted = std::max(listed_clock(lender), listed / kConsumerClock);
  return wanted / listed * power_share(device, wanted) / lent;
}

double clock_by_power(double joule, double needed) {
  constexpr double kClockPerPower = 0.55;
  return std::min(1.0, std::pow(joule / needed, kClockPerPower));
}

}  // namespace tbdsim
