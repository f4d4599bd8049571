#include "model/cost/transfer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "model/cost/kept_clock.hpp"
#include "model/cost/product_power.hpp"
#include "model/cost/tensor_share.hpp"
#include "model/hardware/kernel_family.hpp"

namespace tbdsim {
namespace {

bool high_bandwidth(std::string_view memory_kind) { return memory_kind.substr(0, 3) == "HBM"; }

/// Generations apart; AMD's compute (CDNA) and graphics (GCN) families are as far apart as three of them, and both farther from
/// NVIDIA's than its latest generation is from the earliest with samples of every family (Volta).
double generations_apart(const Architecture& a, const Architecture& b) {
  if (a.generation && b.generation) return std::abs(*a.generation - *b.generation);
  if (!a.generation && !b.generation) return a.name == b.name ? 0.0 : 3.0;
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

/// Weight by lanes that schedulers feed: `kOtherLanes` where one has twice as many as the other. Of fp32 products only those
/// lanes tell that the peak rate counts.
double lanes_alike(const Device& device, bool tensor, const BoardParameters& board) {
  const double lanes = tensor ? device.fp32_lanes : counted_lanes(clocked(device));
  return std::pow(kOtherLanes, std::abs(std::log2(fed_lanes(lanes) / fed_lanes(board.fp32_lanes))));
}

// Shares fitted to single calls carry the host's part of a call, which the fit tells from the kernel's only roughly. Weight:
// assumed.
constexpr double kSingleCalls = 0.3;

// What a lender short of power would do with enough of it counts less: 0.1 of ln(clock share) is 0.55 of the weight (assumed).
// The device's own clock has no say: the same lenders stand behind a faster description of it.
constexpr double kPerClockRatio = 6.0;

bool same_chip(const Device& device, const BoardParameters& board) {
  const auto as_many = [&](double lanes) { return fed_lanes(board.fp32_lanes) == fed_lanes(lanes); };
  return board.architecture == device.architecture && board.multiprocessors == device.multiprocessors &&
         (as_many(device.fp32_lanes) || as_many(std::round(counted_lanes(clocked(device)))));
}

// What each generation between a board and its nearest relative adds to how far a transferred value lies from the one that
// samples of the board then give; how far launches do (standard deviations of the logarithm; from leaving out one board at a
// time, calibrate/README.md).
constexpr double kGenerationSigma = 0.05, kLaunchSigma = 0.4;
// A clock that power or a statement lowers is uncertain by a third of what it is lowered by: the T4 keeps 0.44 to 0.86 of its
// clock in published tables, by the length of the run.
constexpr double kClockSigma = 0.3;

/// What decides which boards tell of a family on a device.
struct Question {
  std::string_view family, precision, wanted;    ///< class of the samples; arithmetic that runs
  std::optional<std::string_view> kernels = {};  ///< of products in the form of `pipelined_gemm`
};

ProductShares shares_of(const FamilyParameters& p) {
  return {p.compute_efficiency, p.sustained_efficiency.value_or(p.compute_efficiency)};
}

/// What schedulers issue of the peak rate over what they issued when samples were taken: less than 1 if lanes were added since.
double issued_since(const Clocked& now, const Clocked& then) {
  const double lanes = counted_lanes(now);
  return issue_limit(*now.chip, lanes) / issue_limit(*now.chip, std::min(lanes, counted_lanes(then)));
}

/// Samples of this very device as it is configured: at the clock that it keeps, with the lanes that schedulers feed, on tensor
/// cores as operands arrive. `then` is the board on which they were taken. Kernels that the memory bounds know nothing of it.
FamilyParameters at_own_clock(const Device& device, std::string_view precision, FamilyParameters own, const Clocked& then) {
  const Clocked now = clocked(device);
  const double share = own.compute_efficiency;
  if (own.sustained_efficiency) {
    const ProductShares there = product_shares(tensor_cores(device, precision), now, tensor_cores(then), then, shares_of(own));
    own.sustained_efficiency = there.sustained;
    const double ratio = there.brief / share;
    constexpr double kRounded = 1e-3;
    if (std::abs(ratio - 1.0) < kRounded) return own;
    own.compute_efficiency = there.brief;
    own.compute_sigma = std::hypot(own.compute_sigma, kClockSigma * std::log(ratio));
    return own;
  }
  const double issued = own.precision == "fp32" ? issued_since(now, then) : 1.0;
  const double there = own.precision == "fp32"
                           ? share * kept_clock(now) / kept_clock(then) * issued
                           : tensor_share(tensor_cores(device, precision), now, tensor_cores(then), then, share);
  constexpr double kSame = 1e-3;  // listed rates are rounded
  const double ratio = there / share;
  if (std::abs(ratio - 1.0) < kSame) return own;
  own.compute_efficiency = there;
  own.compute_sigma = std::hypot(own.compute_sigma, kClockSigma * std::log(ratio));
  if (std::abs(ratio / issued - 1.0) >= kSame)
    own.source += fmt::format("; at {:.2f} of the clock of its samples", ratio / issued);
  if (issued < 1.0) own.source += fmt::format("; schedulers feed {:.2f} of its lanes", issued);
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

/// Share of the fp32 peak that the device reaches, as one board tells: no more than its schedulers issue at the clock that it
/// keeps.
double lane_share(const Device& device, const BoardParameters& board) {
  const double limit = issue_limit(device.chip, counted_lanes(clocked(device)));
  const double share = board.parameters.compute_efficiency * limit / issue_limit(board.chip, board.fp32_lanes) *
                       kept_against(clocked(device), clocked(board));
  return limit < 1.0 ? std::min(share, limit * wanted_clock(clocked(device))) : share;
}

/// Share of the memory bandwidth that a multiprocessor's loads in flight can carry, for kernels whose threads wait for one
/// another (softmax). With b bytes a clock and multiprocessor:  (1 + (b/11.5)^3)^(-1/3).
///
/// Fitted: what softmax reaches over elementwise kernels on V100, P4, T4, P100 and A100 (0.95, 0.95, 0.89, 0.86, 0.79
/// at 7.4, 8.9, 5.0, 10.0 and 10.2 B); beyond the last no sample tells.
double loads_in_flight(BytesPerSecond bandwidth, int multiprocessors, Hertz clock) {
  constexpr double kHalf = 11.5, kMostSampled = 10.2;
  const double bytes = std::min(kMostSampled, bandwidth.base() / (multiprocessors * clock.base()));
  return 1.0 / std::cbrt(1.0 + std::pow(bytes / kHalf, 3.0));
}

/// Share of its bandwidth that the device reaches in a family, as one board tells.
double memory_share(const Device& device, std::string_view family, const BoardParameters& board) {
  const double share = board.parameters.bandwidth_efficiency;
  if (family != name(KernelFamily::softmax) || !board.memory_bandwidth) return share;
  return share * loads_in_flight(device.memory_bandwidth, device.multiprocessors, issue_clock(clocked(device))) /
         loads_in_flight(*board.memory_bandwidth, board.multiprocessors, issue_clock(clocked(board)));
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

/// Generations between a device and a board that may lend to it; other kernels lie as far as three.
double apart_of(const Device& device, const Question& question, const BoardParameters& board) {
  constexpr double kOtherKernels = 3.0;
  const double apart = generations_apart(device.chip, board.chip);
  // What a board keeps in attention is told from its kernels by boards that run the same ones.
  const bool other = question.kernels ? *question.kernels != board.kernels
                                      : question.family == name(KernelFamily::attention) &&
                                            board.chip.pipelined_products != device.chip.pipelined_products;
  return other ? apart + kOtherKernels : apart;
}

// Long because every constant is a mean over the same relatives, each with weights of its own.
FamilyParameters from_relatives(const Device& device, const Question& question,
                                const std::vector<const BoardParameters*>& relatives, const TransferSigma& sigma,
                                double& nearest) {
  const auto& [family, precision, wanted, kernels] = question;
  Mean compute, bandwidth, launch, sustained, quantize;
  std::vector<double> weights;
  double heaviest = 0.0;
  nearest = 8.0;
  const bool tensor = precision != "fp32";
  // Softmax and layer norm samples of boards without HBM are of 70 W boards alone (T4, P4), and so are products of the older
  // form: whole steps of GeForce and RTX boards come out better with those of HBM boards beside them.
  const bool low_power = family == name(KernelFamily::softmax) || family == name(KernelFamily::layer_norm) ||
                         (family == name(KernelFamily::gemm) && !kernels) || family == name(KernelFamily::convolution);
  const bool own_class = !low_power && std::any_of(relatives.begin(), relatives.end(), [&](const BoardParameters* board) {
    return high_bandwidth(board->memory_kind) == high_bandwidth(device.memory_kind);
  });
  double generations = 8.0;
  for (const BoardParameters* board : relatives) {
    nearest = std::min(nearest, apart_of(device, question, *board));
    generations = std::min(generations, generations_apart(device.chip, board->chip));
  }
  for (const BoardParameters* board : relatives) {
    const double apart = apart_of(device, question, *board);
    const Clocked lender = clocked(*board);
    const ProductShares products = !kernels ? ProductShares{}
                                            : product_shares(tensor_cores(device, wanted), clocked(device), tensor_cores(lender),
                                                             lender, shares_of(board->parameters));
    // Shares of attention kernels are of the clock that a board keeps, not of what feeds its tensor cores.
    // Between chips of one architecture the limit alone differs, as it does for any kernel.
    const bool other_chip = board->architecture != device.architecture;
    const auto attention = family == name(KernelFamily::attention) && other_chip && pipelined_kernels(device)
                               ? attention_share(tensor_cores(device, wanted), clocked(device), tensor_cores(lender), lender,
                                                 board->parameters.compute_efficiency)
                               : std::nullopt;
    const double share = kernels     ? products.brief
                         : attention ? *attention
                         : family == name(KernelFamily::attention)
                             ? board->parameters.compute_efficiency *
                                   tensor_share(tensor_cores(device, wanted), clocked(device), tensor_cores(lender), lender, 1.0)
                         : tensor ? tensor_share(tensor_cores(device, wanted), clocked(device), tensor_cores(lender), lender,
                                                 board->parameters.compute_efficiency)
                                  : lane_share(device, *board);
    const double near = std::exp(-kPerGeneration * (apart - nearest)) * (same_chip(device, *board) ? kSameChip : 1.0);
    const double weight = near * (tensor ? 1.0 : std::pow(kept_clock(lender), kPerClockRatio));
    const bool memory_alike = board->memory_kind == device.memory_kind;
    const bool memory_class = high_bandwidth(board->memory_kind) == high_bandwidth(device.memory_kind);
    // Of the other families boards with HBM and those without lend bandwidth to their own kind alone, where there is one.
    // Weights: assumed.
    const double memory_weight = near * (memory_alike ? 1.0 : memory_class ? 0.5 : own_class ? 0.0 : 0.15);
    compute.add(weight * lanes_alike(device, tensor, *board) * (board->parameters.call ? kSingleCalls : 1.0), share);
    bandwidth.add(memory_weight, memory_share(device, family, *board));
    // How a kernel starts depends on library and driver, hardly on the chip: every neighbouring board counts alike. Graphs start
    // the next kernel in a number of cycles.
    const double slower = kernels ? issue_clock(lender) / issue_clock(clocked(device)) : 1.0;
    launch.add(weight, std::max(board->parameters.launch.base() * slower, 1e-6));
    if (kernels) sustained.add(weight, products.sustained);
    if (board->parameters.quantize_bandwidth) quantize.add(memory_weight, *board->parameters.quantize_bandwidth);
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
  if (kernels) result.sustained_efficiency = sustained.value();
  if (quantize.weight > 0.0) result.quantize_bandwidth = quantize.value();
  // What power sustains is a share of its own where products have one.
  const double clock_sigma = kernels ? 0.0 : kClockSigma * std::log(kept_clock(clocked(device)));
  result.compute_sigma = std::hypot(std::hypot(sigma.compute, clock_sigma), compute.spread(), kGenerationSigma * generations);
  result.bandwidth_sigma = std::hypot(sigma.bandwidth, bandwidth.spread(), kGenerationSigma * generations);
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
      !device.chip.generation && std::any_of(constants.boards.begin(), constants.boards.end(), [&](const auto& board) {
        return board.parameters.family == family && board.parameters.precision == "fp32-tensor";
      });
  return matrix_cores ? "fp32-tensor" : "fp16";
}

/// Whether some board has samples of products in one form at a precision.
bool has_products(const KernelConstants& constants, std::string_view precision) {
  return std::any_of(constants.boards.begin(), constants.boards.end(), [&](const BoardParameters& board) {
    return board.parameters.sustained_efficiency && board.parameters.precision == precision;
  });
}

/// The parameters of a family without what single calls of other hosts tell: by samples of `precision`, for arithmetic `wanted`.
ResolvedParameters kernel_parameters(const Device& device, Question question, const KernelConstants& constants) {
  const auto [family, precision, wanted, kernels] = question;
  const FamilyParameters* const own = own_parameters(device, family, precision);
  if (own != nullptr && (own->sustained_efficiency.has_value() == kernels.has_value() || family != name(KernelFamily::gemm)))
    return {at_own_clock(device, wanted, *own, when_sampled(device)), false, own->samples == 0, own->samples == 0 ? 1.0 : 0.0};
  const bool eight = kernels && precision == "fp8" && has_products(constants, precision);
  const std::string_view lent = eight ? precision : lent_class(device, family, precision, constants);
  if (lent != precision) return kernel_parameters(device, {family, lent, wanted, kernels}, constants);
  std::vector<const BoardParameters*> relatives;
  for (const BoardParameters& board : constants.boards) {
    if (board.parameters.family != family || board.parameters.precision != precision ||
        board.parameters.sustained_efficiency.has_value() != kernels.has_value())
      continue;
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
  const auto sigma = constants.transfers.find(fmt::format("{}-{}{}", family, precision, kernels ? "-pipelined" : ""));
  resolved.parameters =
      from_relatives(device, question, relatives, sigma == constants.transfers.end() ? TransferSigma{} : sigma->second, nearest);
  resolved.distance = 1.0 + nearest;
  return resolved;
}

/// Convolutions without samples of the board run at the rates of its products, as far as relatives' convolutions scatter.
ResolvedParameters at_rates_of_products(const ResolvedParameters& convolution, const FamilyParameters& products) {
  ResolvedParameters result = convolution;
  result.parameters.compute_efficiency = products.compute_efficiency;
  result.parameters.bandwidth_efficiency = products.bandwidth_efficiency;
  result.parameters.sustained_efficiency = products.sustained_efficiency;
  result.parameters.launch = products.launch;
  result.parameters.source = "transferred: rates of the board's products; scatter of convolutions on relatives";
  return result;
}

}  // namespace

ResolvedParameters resolve_parameters(const Device& device, std::string_view family, std::string_view precision,
                                      const KernelConstants& constants) {
  const bool loads_ahead = has_pipelined_products(device, precision, constants);
  const bool pipelined = family == name(KernelFamily::gemm) && loads_ahead;
  ResolvedParameters resolved =
      kernel_parameters(device, {family, precision, precision, pipelined ? pipelined_kernels(device) : std::nullopt}, constants);
  if (family == name(KernelFamily::convolution) && loads_ahead && resolved.transferred)
    resolved = at_rates_of_products(
        resolved,
        kernel_parameters(device, {name(KernelFamily::gemm), precision, precision, pipelined_kernels(device)}, constants)
            .parameters);
  // What the host takes belongs to it and to the framework, not to the board: every host measured counts alike.
  const auto call = constants.calls.find(family);
  if (!resolved.parameters.call && call != constants.calls.end()) resolved.parameters.call = call->second;
  return resolved;
}

bool has_pipelined_products(const Device& device, std::string_view precision, const KernelConstants& constants) {
  if (precision == "fp32" || precision == "fp32-tensor" || !pipelined_kernels(device)) return false;
  if (constants.pipelined.empty() || !(has_products(constants, "fp16") || has_products(constants, "fp8"))) return false;
  const FamilyParameters* const own = own_parameters(device, "gemm", precision);
  return own == nullptr || own->sustained_efficiency.has_value();
}

ResolvedParameters resolve_tiled_products(const Device& device, std::string_view precision, const KernelConstants& constants) {
  return kernel_parameters(device, {"gemm", precision, precision, {}}, constants);
}

}  // namespace tbdsim
