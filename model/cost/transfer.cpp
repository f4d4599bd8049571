#include "model/cost/transfer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "model/cost/kept_clock.hpp"
#include "model/cost/tensor_share.hpp"

namespace tbdsim {
namespace {

std::optional<int> generation(std::string_view architecture) {
  const Architecture* const row = find_architecture(architecture);
  return row == nullptr ? std::nullopt : row->generation;
}

bool high_bandwidth(std::string_view memory_kind) { return memory_kind.substr(0, 3) == "HBM"; }

/// Generations apart; AMD's compute (CDNA) and graphics (GCN) families are as far apart as three of them, and both farther from
/// NVIDIA's than its latest generation is from the earliest with samples of every family (Volta).
double generations_apart(std::string_view a, std::string_view b) {
  const auto ga = generation(a), gb = generation(b);
  if (ga && gb) return std::abs(*ga - *gb);
  if (!ga && !gb) return find_architecture(a) == find_architecture(b) ? 0.0 : 3.0;
  return 5.0;
}

// Each generation apart makes a relative count a fiftieth as much: efficiencies of one generation agree within
// about 10 %, of neighbours within 20 % (spread of the fitted boards), and several boards of a far one must not outvote a near
// one.
constexpr double kPerGeneration = 4.0;

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

// A board with the very same chip tells more than others of its architecture; other multiprocessors of the same name (64
// lanes against 128: GP100 and GP102, GA100 and GA102) tell less of arithmetic. Weights: assumed.
constexpr double kSameChip = 3.0, kOtherLanes = 0.3;

/// Weight by lanes that schedulers feed: `kOtherLanes` where one has twice as many as the other.
double lanes_alike(const Device& device, const BoardParameters& board) {
  return std::pow(kOtherLanes, std::abs(std::log2(fed_lanes(device.fp32_lanes) / fed_lanes(board.fp32_lanes))));
}

// Shares fitted to single calls carry the host's part of a call, which the fit tells from the kernel's only roughly. Weight:
// assumed.
constexpr double kSingleCalls = 0.3;

// What a lender short of power would do with enough of it counts less: 0.1 of ln(clock share) is 0.55 of the weight (assumed).
// The device's own clock has no say: the same lenders stand behind a faster description of it.
constexpr double kPerClockRatio = 6.0;

bool same_chip(const Device& device, const BoardParameters& board) {
  return board.architecture == device.architecture && board.multiprocessors == device.multiprocessors &&
         fed_lanes(board.fp32_lanes) == fed_lanes(device.fp32_lanes);
}

// What each generation between a board and its nearest relative adds to how far a transferred value lies from the one that
// samples of the board then give; how far launches do (standard deviations of the logarithm; from leaving out one board at a
// time, calibrate/README.md).
constexpr double kGenerationSigma = 0.05, kLaunchSigma = 0.4;
// A clock that power or a statement lowers is uncertain by a third of what it is lowered by: the T4 keeps 0.44 to 0.86 of its
// clock in published tables, by the length of the run.
constexpr double kClockSigma = 0.3;

/// Samples of this very device as it is configured: at the clock that it keeps and, on tensor cores, as its operands arrive.
/// `then` is the board on which they were taken. Kernels that the memory bounds know nothing of it.
FamilyParameters at_own_clock(const Device& device, std::string_view precision, FamilyParameters own, const Clocked& then) {
  const Clocked now = clocked(device);
  const double share = own.compute_efficiency;
  const double there = own.precision == "fp32"
                           ? share * kept_clock(now) / kept_clock(then)
                           : tensor_share(tensor_cores(device, precision), now, tensor_cores(then), then, share);
  constexpr double kSame = 1e-3;  // listed rates are rounded
  const double ratio = there / share;
  if (std::abs(ratio - 1.0) < kSame) return own;
  own.compute_efficiency = there;
  own.compute_sigma = std::hypot(own.compute_sigma, kClockSigma * std::log(ratio));
  own.source += fmt::format("; at {:.2f} of the clock of its samples", ratio);
  return own;
}

/// The device when its own samples were taken: under the limits of its file, with the lanes that make the peak rate there.
Clocked when_sampled(const Device& device) {
  Clocked then = clocked(device);
  if (!device.calibration.measured) return then;
  then.limits = *device.calibration.measured;
  if (then.limits.boost_clock)
    then.lanes = std::max(1, static_cast<int>(std::lround(then.limits.peak_fp32.base() /
                                                          (2.0 * then.multiprocessors * then.limits.boost_clock->base()))));
  return then;
}

/// Share of their peak that the schedulers of a multiprocessor let fp32 lanes reach. Four schedulers issue to 32 lanes each:
/// Kepler's 192 are fed 128 at a time. Since Volta a scheduler issues one instruction a cycle: 64 lanes leave it every second
/// cycle for all else, 128 none, and beside 64 multiply-adds of a thread's 8 x 8 results come 4 loads from shared memory and some
/// 6 more (assumed: addresses, loop, global memory). Maxwell and Pascal issue two.
double issue_limit(std::string_view architecture, int lanes) {
  constexpr double kLanesFed = 128.0, kMultiplyAdds = 64.0 / (64.0 + 4.0 + 6.0);
  constexpr int kVolta = 3;
  const bool one_a_cycle = generation(architecture).value_or(0) >= kVolta;
  return std::min(1.0, kLanesFed / lanes * (one_a_cycle ? kMultiplyAdds : 1.0));
}

/// Share of the fp32 peak that the device reaches, as one board tells.
double lane_share(const Device& device, const BoardParameters& board) {
  const double issue = issue_limit(device.architecture, device.fp32_lanes) / issue_limit(board.architecture, board.fp32_lanes);
  return board.parameters.compute_efficiency * issue * kept_against(clocked(device), clocked(board));
}

/// The device's own, by the same precision first; every precision of tensor cores tells of the others.
const FamilyParameters* own_parameters(const Device& device, std::string_view family, std::string_view precision) {
  if (const FamilyParameters* own = device.calibration.find(family, precision)) return own;
  if (precision == "fp32") return nullptr;
  for (const std::string_view other : {"fp16", "bf16", "tf32", "fp8", "fp32-tensor"}) {
    if (const FamilyParameters* own = device.calibration.find(family, other)) return own;
  }
  return nullptr;
}

FamilyParameters from_relatives(const Device& device, std::string_view family, std::string_view precision,
                                std::string_view wanted, const std::vector<const BoardParameters*>& relatives,
                                const TransferSigma& sigma, double& nearest) {
  Mean compute, bandwidth, launch;
  std::vector<double> weights;
  double heaviest = 0.0;
  nearest = 8.0;
  const bool tensor = precision != "fp32";
  // Elementwise, softmax and layer norm samples of boards without HBM are of 70 W boards alone (T4, P4), products in 16 bits of
  // one: whole steps of GeForce and RTX boards come out better with those of HBM boards beside them.
  const bool moves =
      family == "attention" || family == "experts" || family == "rms_norm" || family == "rope" || family == "gated_activation";
  const bool own_class = moves && std::any_of(relatives.begin(), relatives.end(), [&](const BoardParameters* board) {
                           return high_bandwidth(board->memory_kind) == high_bandwidth(device.memory_kind);
                         });
  for (const BoardParameters* board : relatives)
    nearest = std::min(nearest, generations_apart(device.architecture, board->architecture));
  for (const BoardParameters* board : relatives) {
    const double apart = generations_apart(device.architecture, board->architecture);
    const Clocked lender = clocked(*board);
    // Shares of attention kernels are of the clock that a board keeps, not of what feeds its tensor cores.
    const double share = family == "attention"
                             ? board->parameters.compute_efficiency *
                                   tensor_share(tensor_cores(device, wanted), clocked(device), tensor_cores(lender), lender, 1.0)
                         : tensor ? tensor_share(tensor_cores(device, wanted), clocked(device), tensor_cores(lender), lender,
                                                 board->parameters.compute_efficiency)
                                  : lane_share(device, *board);
    const double near = std::exp(-kPerGeneration * (apart - nearest)) * (same_chip(device, *board) ? kSameChip : 1.0);
    const double weight = near * (tensor ? 1.0 : std::pow(kept_clock(lender), kPerClockRatio));
    const bool memory_alike = board->memory_kind == device.memory_kind;
    const bool memory_class = high_bandwidth(board->memory_kind) == high_bandwidth(device.memory_kind);
    // Of these families boards with HBM and those without lend bandwidth to their own kind alone, where there is one.
    // Weights: assumed.
    const double memory_weight = near * (memory_alike ? 1.0 : memory_class ? 0.5 : own_class ? 0.0 : 0.15);
    compute.add(weight * lanes_alike(device, *board) * (board->parameters.call ? kSingleCalls : 1.0), share);
    bandwidth.add(memory_weight, board->parameters.bandwidth_efficiency);
    // How a kernel starts depends on library and driver, hardly on the chip: every neighbouring board counts alike.
    launch.add(weight, std::max(board->parameters.launch.base(), 1e-6));
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
  result.compute_efficiency = compute.value();
  result.bandwidth_efficiency = bandwidth.value();
  result.launch = Seconds(launch.value());
  result.spread = spreads / sum;
  const double clock_sigma = kClockSigma * std::log(kept_clock(clocked(device)));
  result.compute_sigma = std::hypot(std::hypot(sigma.compute, clock_sigma), compute.spread(), kGenerationSigma * nearest);
  result.bandwidth_sigma = std::hypot(sigma.bandwidth, bandwidth.spread(), kGenerationSigma * nearest);
  result.launch_sigma = std::hypot(kLaunchSigma, launch.spread());
  result.source = fmt::format("transferred: from {}", names);
  return result;
}

/// Class of arithmetic whose samples tell of another: every precision of tensor (matrix) cores runs on the same units. Of
/// AMD's the published samples are fp32, of NVIDIA's fp16.
std::string_view lent_class(const Device& device, std::string_view family, std::string_view precision,
                            const KernelConstants& constants) {
  if (precision == "fp32") return precision;
  const bool matrix_cores =
      !generation(device.architecture) && std::any_of(constants.boards.begin(), constants.boards.end(), [&](const auto& board) {
        return board.parameters.family == family && board.parameters.precision == "fp32-tensor";
      });
  return matrix_cores ? "fp32-tensor" : "fp16";
}

/// The parameters of a family without what single calls of other hosts tell: by samples of `precision`, for arithmetic `wanted`.
ResolvedParameters kernel_parameters(const Device& device, std::string_view family, std::string_view precision,
                                     std::string_view wanted, const KernelConstants& constants) {
  if (const FamilyParameters* own = own_parameters(device, family, precision))
    return {at_own_clock(device, wanted, *own, when_sampled(device)), false, own->samples == 0, own->samples == 0 ? 1.0 : 0.0};
  const std::string_view lent = lent_class(device, family, precision, constants);
  if (lent != precision) return kernel_parameters(device, family, lent, wanted, constants);
  std::vector<const BoardParameters*> relatives;
  for (const BoardParameters& board : constants.boards) {
    if (board.parameters.family != family || board.parameters.precision != precision) continue;
    if (board.device == device.id) return {at_own_clock(device, wanted, board.parameters, clocked(board)), false, false, 0.0};
    relatives.push_back(&board);
  }
  ResolvedParameters resolved;
  resolved.transferred = true;
  if (relatives.empty()) {
    resolved.assumed = true;
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
  const auto sigma = constants.transfers.find(fmt::format("{}-{}", family, precision));
  resolved.parameters = from_relatives(device, family, precision, wanted, relatives,
                                       sigma == constants.transfers.end() ? TransferSigma{} : sigma->second, nearest);
  resolved.distance = 1.0 + nearest;
  return resolved;
}

/// Sixteen a clock and multiprocessor (paper: CUDA C++ Programming Guide, throughput of arithmetic instructions, Maxwell to
/// Hopper; a quarter of the 64 lanes of AMD's units). Blackwell Ultra has twice as many, for attention (paper: NVIDIA, Inside
/// NVIDIA Blackwell Ultra).
double exponentials(const Device& device) {
  constexpr int kBlackwellUltra = 103;
  return capability_number(device.compute_capability) == kBlackwellUltra ? 32.0 : 16.0;
}

/// A last level of two parts keeps copies of what the other part holds: a working set fits up to 0.84 of it (fitted: A100, H100),
/// one of a single part a little more than all (A40, L40S).
double cache_reach(const Device& device) {
  constexpr double kTwoParts = 0.84, kOnePart = 1.05;
  const int capability = capability_number(device.compute_capability);
  return capability == 80 || capability == 90 || (capability >= 100 && capability < 110) ? kTwoParts : kOnePart;
}

/// Hopper's tensor rate needs instructions of four warps. Those of one warp, as kernels written for Ampere have, reach 0.54 of it
/// (fitted: FlashAttention 2 on H100 and H200). Blackwell's of data centres doubles the rate of the new ones alone (assumed).
double warp_products(const Device& device) {
  constexpr double kHopper = 0.54, kBlackwell = 0.27;
  const int capability = capability_number(device.compute_capability);
  return capability == 90 ? kHopper : capability >= 100 && capability < 110 ? kBlackwell : 1.0;
}

}  // namespace

ResolvedParameters resolve_parameters(const Device& device, std::string_view family, std::string_view precision,
                                      const KernelConstants& constants) {
  ResolvedParameters resolved = kernel_parameters(device, family, precision, precision, constants);
  // What the host takes belongs to it and to the framework, not to the board: every host measured counts alike.
  const auto call = constants.calls.find(family);
  if (!resolved.parameters.call && call != constants.calls.end()) resolved.parameters.call = call->second;
  return resolved;
}

Hertz instruction_clock(const Device& device) {
  constexpr Hertz kTypicalClock(1.4e9);  // boards of the catalogue lie around this
  return device.sustained_clock.value_or(device.boost_clock.value_or(kTypicalClock));
}

KernelRates sustained_rates(const Device& device, FlopPerSecond peak, double share, BytesPerSecond bandwidth, Seconds launch,
                            std::string_view precision) {
  constexpr double kTypicalThreads = 2048.0;
  KernelRates rates{peak * share, bandwidth, launch, device.multiprocessors, instruction_clock(device)};
  rates.cache = device.l2_capacity.value_or(Bytes(0.0));
  rates.resident_threads = device.max_threads_per_multiprocessor.value_or(kTypicalThreads);
  // Kernels tell Kepler, whose integers are slow, by its 192 lanes; on others no more than are fed count.
  rates.fp32_lanes = is_architecture(device.architecture, "Kepler") ? device.fp32_lanes : fed_lanes(device.fp32_lanes);
  rates.peak = peak * (precision == "fp32" ? wanted_clock(clocked(device)) : tensor_clock(device, precision));
  // Cycles that are no product neither wait for operands nor draw the power of tensor cores: they pass at the full rate.
  if (const auto overhead = precision == "fp32" ? std::nullopt : tensor_overhead(device, precision))
    rates.step_overhead = *overhead * share;
  rates.share = share;
  rates.cache_reach = cache_reach(device);
  rates.exponentials = exponentials(device);
  rates.warp_products = precision == "fp32" ? 1.0 : warp_products(device);
  rates.translations = device.address_translations.value_or(Hertz(0.0));
  return rates;
}

KernelRates kernel_rates(const Device& device, FlopPerSecond peak, const FamilyParameters& parameters,
                         std::string_view precision) {
  return sustained_rates(device, peak, parameters.compute_efficiency, device.memory_bandwidth * parameters.bandwidth_efficiency,
                         parameters.launch, precision);
}

}  // namespace tbdsim
