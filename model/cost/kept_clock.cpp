#include "model/cost/kept_clock.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {
namespace {

constexpr double kFedLanes = 128.0;

/// Share of a clock that the power limit lets the lanes keep. Lanes that no scheduler feeds take no part of it.
double power_share(const Clocked& board, Hertz clock) {
  if (!board.limits.power_limit || !board.chip->lane_energy) return 1.0;
  const double lane_cycles = board.multiprocessors * board.lanes * issue_limit(*board.chip, board.lanes) * clock.base();
  return clock_by_power(board.limits.power_limit->base() / lane_cycles, board.chip->lane_energy->base());
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
  Clocked board{device.architecture,    &device.chip,      device.board_class,
                device.multiprocessors, device.fp32_lanes, clock_limits(device)};
  board.lanes = std::min(board.lanes, static_cast<int>(std::lround(std::max(kFedLanes, counted_lanes(board)))));
  return board;
}

Clocked clocked(const BoardParameters& board) {
  return {board.architecture, &board.chip, board.board_class, board.multiprocessors, board.fp32_lanes, board.limits};
}

Hertz listed_clock(const Clocked& board) {
  const Hertz by_peak(board.limits.peak_fp32.base() / (2.0 * board.multiprocessors * board.lanes));
  return board.limits.boost_clock ? std::min(*board.limits.boost_clock, by_peak) : by_peak;
}

double counted_lanes(const Clocked& board) {
  constexpr double kRounded = 5e-3;  // peak rates and clocks of datasheets agree within 2e-3 (hardware/gpus)
  if (!board.limits.boost_clock) return board.lanes;
  const double counted = board.limits.peak_fp32.base() / (2.0 * board.multiprocessors * board.limits.boost_clock->base());
  return counted < (1.0 - kRounded) * board.lanes ? counted : board.lanes;
}

Hertz issue_clock(const Clocked& board) {
  return counted_lanes(board) < board.lanes ? *board.limits.boost_clock : listed_clock(board);
}

double fed_lanes(double lanes) { return std::min(kFedLanes, lanes); }

double issue_limit(const Architecture& chip, double lanes) { return std::min(1.0, kFedLanes / lanes * chip.product_issue); }

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
