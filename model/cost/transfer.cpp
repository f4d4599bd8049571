#include "model/cost/transfer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace tbdsim {
namespace {

// Order in which NVIDIA's architectures followed each other; neighbours share more of their design.
constexpr std::array<std::string_view, 8> kGenerations{"Kepler", "Maxwell", "Pascal", "Volta",
                                                       "Turing", "Ampere",  "Hopper", "Blackwell"};

std::optional<int> generation(std::string_view architecture) {
  if (architecture.substr(0, 3) == "Ada") return 6;
  for (std::size_t i = 0; i < kGenerations.size(); ++i) {
    if (architecture.substr(0, kGenerations[i].size()) == kGenerations[i]) return static_cast<int>(i);
  }
  return std::nullopt;
}

bool high_bandwidth(std::string_view memory_kind) { return memory_kind.substr(0, 3) == "HBM"; }

/// Generations apart; AMD's compute (CDNA) and graphics (GCN) families are as far
/// apart as three of them, and farther from NVIDIA's.
double generations_apart(std::string_view a, std::string_view b) {
  const auto ga = generation(a), gb = generation(b);
  if (ga && gb) return std::abs(*ga - *gb);
  if (!ga && !gb) return a.substr(0, 3) == b.substr(0, 3) ? 0.0 : 3.0;
  return 4.0;
}

// Each generation apart makes a relative count a sixth as much: efficiencies of one generation agree within
// about 10 %, of neighbours within 20 % (spread of the fitted boards).
constexpr double kPerGeneration = 1.8;

// Boards of another power class run at another share of their listed clock: a relative with half the watts per peak
// FLOP/s counts a thirtieth (70 W inference boards keep half their boost clock, 250 W boards nearly all of it).
constexpr double kPerPowerRatio = 5.0;

/// Power limit over peak rate, J per FLOP; 0: not known.
double power_density(std::optional<Watts> power_limit, FlopPerSecond peak) {
  return power_limit ? power_limit->base() / peak.base() : 0.0;
}

double power_weight(double a, double b) {
  if (a == 0.0 || b == 0.0) return 1.0;
  return std::exp(-kPerPowerRatio * std::abs(std::log(a / b)));
}

// A card without a power connector draws what the slot gives. It never sees the clock it lists, which tells little about a
// board that does, and the other way round.
constexpr Watts kSlotPower(75.0);  // PCI Express Card Electromechanical specification
constexpr double kOtherSupply = 0.1;

double supply_weight(std::optional<Watts> a, std::optional<Watts> b) {
  if (!a || !b) return 1.0;
  return (*a <= kSlotPower) == (*b <= kSlotPower) ? 1.0 : kOtherSupply;
}

// GeForce and TITAN boards run above the boost clock they list, as power allows; Tesla boards keep to it. Fitted: TITAN X
// over Tesla M40, the same chip at the same listed rate (DeepBench convolution, 0.761 against 0.710).
constexpr double kConsumerClock = 1.07;

double clock_class(std::string_view name) {
  const bool consumer = name.find("GeForce") != std::string_view::npos || name.find("TITAN") != std::string_view::npos;
  return consumer ? kConsumerClock : 1.0;
}

/// How much a board of another power class tells. A clock that the device's file states replaces what power would tell: then
/// boards that keep their listed clock lend, and `kernel_rates` scales.
double power_kinship(const Device& device, const BoardParameters& board) {
  if (device.sustained_clock) return board.power_limit && *board.power_limit <= kSlotPower ? kOtherSupply : 1.0;
  return power_weight(power_density(device.power_limit, device.peak.fp32), power_density(board.power_limit, board.peak_fp32)) *
         supply_weight(device.power_limit, board.power_limit);
}

struct Mean {
  double weight = 0, log_sum = 0, square_sum = 0;
  void add(double w, double value) {
    const double l = std::log(value);
    weight += w;
    log_sum += w * l;
    square_sum += w * l * l;
  }
  [[nodiscard]] double value() const { return std::exp(log_sum / weight); }
  [[nodiscard]] double spread() const {
    const double mean = log_sum / weight;
    return std::sqrt(std::max(0.0, square_sum / weight - mean * mean));
  }
};

// A board with the very same chip tells far more than others of its architecture.
constexpr double kSameChip = 30.0;

bool same_chip(const Device& device, const BoardParameters& board) {
  return board.architecture == device.architecture && board.multiprocessors == device.multiprocessors &&
         board.fp32_lanes == device.fp32_lanes;
}

// Dynamic power is f V^2, and near the top of its range a chip's voltage rises with about the three-quarter power of the
// clock: the clock that a power limit allows grows with its 1/2.5 power (assumed; textbook scaling).
constexpr double kClockPerPower = 0.4;

/// How much of the relative's share of its listed clock the same chip keeps at another listed clock and power limit.
double kept_clock(const Device& device, const BoardParameters& board) {
  if (!device.power_limit || !board.power_limit) return 1.0;
  const double clocks = board.peak_fp32 / device.peak.fp32;  // same chip: rates are as clocks
  return std::min(1.0, std::pow(*device.power_limit / *board.power_limit, kClockPerPower) * clocks);
}

// How far a transferred value lies from the one that samples of the board then give, beyond what the relatives disagree
// (standard deviation of the logarithm; from leaving out one board at a time, calibrate/README.md).
constexpr double kTransferSigma = 0.12, kGenerationSigma = 0.05, kBandwidthSigma = 0.12, kLaunchSigma = 0.7;

double issue_limit(const Device& device) {
  constexpr double kLanesFed = 128.0;  // 4 schedulers x 32 lanes
  return std::min(1.0, kLanesFed / device.fp32_lanes);
}

FamilyParameters from_relatives(const Device& device, std::string_view family, std::string_view precision,
                                const std::vector<const BoardParameters*>& relatives, double& nearest) {
  Mean compute, bandwidth, launch, call;
  std::vector<double> weights;
  double heaviest = 0.0;
  nearest = 8.0;
  for (const BoardParameters* board : relatives)
    nearest = std::min(nearest, generations_apart(device.architecture, board->architecture));
  for (const BoardParameters* board : relatives) {
    const double apart = generations_apart(device.architecture, board->architecture);
    const double weight = std::exp(-kPerGeneration * (apart - nearest)) * (same_chip(device, *board) ? kSameChip : 1.0) *
                          power_kinship(device, *board);
    const bool memory_alike = board->memory_kind == device.memory_kind;
    const bool memory_class = high_bandwidth(board->memory_kind) == high_bandwidth(device.memory_kind);
    const double memory_weight = weight * (memory_alike ? 1.0 : memory_class ? 0.5 : 0.15);
    const double kept = same_chip(device, *board) ? kept_clock(device, *board) : 1.0;
    compute.add(weight, kept * board->parameters.compute_efficiency / clock_class(board->name));
    bandwidth.add(memory_weight, board->parameters.bandwidth_efficiency);
    if (board->parameters.call_overhead) call.add(1.0, std::max(board->parameters.call_overhead->base(), 1e-6));
    // How a kernel starts depends on library and driver, hardly on the chip: every neighbouring board counts alike.
    launch.add(std::exp(-kPerGeneration * (apart - nearest)), std::max(board->parameters.launch.base(), 1e-6));
    heaviest = std::max(heaviest, weight);
    weights.push_back(weight);
  }
  // The spread of single kernels is the relatives' own; what the board shares is how far the relatives disagree, and more.
  double spreads = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < relatives.size(); ++i) {
    spreads += weights[i] * relatives[i]->parameters.spread;
    sum += weights[i];
  }
  std::string names;
  for (std::size_t i = 0; i < relatives.size(); ++i) {
    if (weights[i] > 0.3 * heaviest) names += (names.empty() ? "" : ", ") + relatives[i]->device;
  }
  FamilyParameters result;
  result.family = family;
  result.precision = precision;
  result.compute_efficiency = compute.value() * clock_class(device.name) * issue_limit(device);
  result.bandwidth_efficiency = bandwidth.value();
  result.launch = Seconds(launch.value());
  if (call.weight > 0.0) result.call_overhead = Seconds(call.value());
  result.spread = spreads / sum;
  result.compute_sigma = std::hypot(kTransferSigma, compute.spread(), kGenerationSigma * nearest);
  result.bandwidth_sigma = std::hypot(kBandwidthSigma, bandwidth.spread());
  result.launch_sigma = std::hypot(kLaunchSigma, launch.spread());
  result.source = fmt::format("transferred: from {}", names);
  return result;
}

}  // namespace

ResolvedParameters resolve_parameters(const Device& device, std::string_view family, std::string_view precision,
                                      const KernelConstants& constants) {
  if (const FamilyParameters* own = device.calibration.find(family, precision)) return {*own, false, 0.0};
  // No published samples are of these: they run on the same units as fp16.
  if (precision == "tf32" || precision == "bf16" || precision == "fp8")
    return resolve_parameters(device, family, "fp16", constants);
  std::vector<const BoardParameters*> relatives;
  for (const BoardParameters& board : constants.boards) {
    if (board.parameters.family != family || board.parameters.precision != precision) continue;
    if (board.device == device.id) return {board.parameters, false, 0.0};
    relatives.push_back(&board);
  }
  ResolvedParameters resolved;
  resolved.transferred = true;
  if (relatives.empty()) {
    resolved.parameters = {std::string(family),
                           std::string(precision),
                           0.8,
                           0.8,
                           Seconds(5e-6),
                           0.3,
                           0,
                           "assumed: no samples of this family",
                           0.3,
                           0.2,
                           0.7};
    resolved.distance = 3.0;
    return resolved;
  }
  double nearest = 0.0;
  resolved.parameters = from_relatives(device, family, precision, relatives, nearest);
  resolved.distance = 1.0 + nearest;
  return resolved;
}

Hertz instruction_clock(const Device& device) {
  constexpr Hertz kTypicalClock(1.4e9);  // boards of the catalogue lie around this
  return device.sustained_clock.value_or(device.boost_clock.value_or(kTypicalClock));
}

KernelRates sustained_rates(const Device& device, FlopPerSecond flops, BytesPerSecond bandwidth, Seconds launch) {
  constexpr double kTypicalThreads = 2048.0;
  KernelRates rates{flops, bandwidth, launch, device.multiprocessors, instruction_clock(device)};
  rates.cache = device.l2_capacity.value_or(Bytes(0.0));
  rates.resident_threads = device.max_threads_per_multiprocessor.value_or(kTypicalThreads);
  rates.fp32_lanes = device.fp32_lanes;
  return rates;
}

KernelRates kernel_rates(const Device& device, FlopPerSecond peak, const FamilyParameters& parameters) {
  double clock_share = 1.0;
  if (parameters.samples == 0 && device.sustained_clock && device.boost_clock) {
    // Fitted efficiencies are shares of the rate at the listed boost clock; a board that is known not to keep it
    // computes proportionally slower.
    clock_share = *device.sustained_clock / *device.boost_clock;
  }
  return sustained_rates(device, peak * (parameters.compute_efficiency * clock_share),
                         device.memory_bandwidth * parameters.bandwidth_efficiency, parameters.launch);
}

}  // namespace tbdsim
