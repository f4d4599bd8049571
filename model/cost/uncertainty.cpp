#include "model/cost/uncertainty.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/cost/kernel_model.hpp"

namespace tbdsim {
namespace {

// Of the variance that the kernels of a family share, the part that all families of a board do: boards left out err alike in
// products and convolutions (signs agree on 8 of 10 boards of DeepBench).
constexpr double kCommon = 0.5;

/// Adds up, for each different kernel of a step, what its runs may err by; kernels of one family and equal time are one.
class DifferentKernels {
 public:
  explicit DifferentKernels(std::size_t most) : places_(std::bit_ceil(2 * most + 1), 0) { rows_.reserve(most); }

  void add(double time, std::size_t family, double error) {
    // Open addressing: the table is never more than half full.
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = hash(time, family) & mask;; at = (at + 1) & mask) {
      if (places_[at] == 0) {
        rows_.push_back({time, family, error});
        places_[at] = static_cast<std::uint32_t>(rows_.size());
        return;
      }
      Row& row = rows_[places_[at] - 1];
      if (row.time != time || row.family != family) continue;
      row.error += error;
      return;
    }
  }
  [[nodiscard]] double squares() const {
    double sum = 0.0;
    for (const Row& row : rows_) sum += row.error * row.error;
    return sum;
  }

 private:
  struct Row {
    double time;
    std::size_t family;
    double error;
  };
  static std::size_t hash(double time, std::size_t family) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: Knuth's multiplicative hashing
    const std::uint64_t mixed = (std::bit_cast<std::uint64_t>(time) + family) * kGolden;
    return static_cast<std::size_t>(mixed >> 32U);
  }

  std::vector<std::uint32_t> places_;  ///< of rows, from 1; 0 is free
  std::vector<Row> rows_;
};

}  // namespace

FamilySigmas family_sigmas(const KernelModel& kernels, const SpreadConstants& spread) {
  FamilySigmas sigmas;
  constexpr std::array<std::string_view, std::tuple_size_v<FamilySigmas>> kFamilies{
      "convolution", "gemm", "recurrent", "attention", "memory_bound", "softmax", "layer_norm"};
  for (std::size_t i = 0; i < sigmas.size(); ++i) {
    const ResolvedParameters& resolved = kernels.parameters_of(kFamilies[i]);
    const FamilyParameters& p = resolved.parameters;
    const double own = std::hypot(p.compute_sigma, spread.clock);
    sigmas[i] = {kFamilies[i], p.launch_sigma, resolved.transferred ? std::max(p.compute_sigma, spread.clock) : own,
                 p.bandwidth_sigma, p.spread};
  }
  return sigmas;
}

KernelSpread kernel_spread(std::span<const NodeCost> costs, const FamilySigmas& sigmas) {
  std::array<double, std::tuple_size_v<FamilySigmas>> shared{};  // time x sigma, summed over the kernels of a family
  DifferentKernels kernels(costs.size());
  double total = 0.0;
  for (const NodeCost& cost : costs) {
    const auto* const family =
        std::find_if(sigmas.begin(), sigmas.end(), [&](const FamilySigma& s) { return s.family == cost.family; });
    if (family == sigmas.end() || cost.kernel.time <= Seconds(0.0)) continue;
    const auto place = static_cast<std::size_t>(family - sigmas.begin());
    const double time = cost.kernel.time.base(), launch = std::min(time, cost.kernel.launch.base());
    shared[place] +=
        launch * family->launch + (time - launch) * (cost.kernel.bound == Bound::compute ? family->compute : family->memory);
    kernels.add(time, place, time * family->single);
    total += time;
  }
  if (total <= 0.0) return {};
  double sum = 0.0, square = 0.0;
  for (const double part : shared) {
    sum += part;
    square += part * part;
  }
  return {std::sqrt(kCommon * sum * sum + (1.0 - kCommon) * square) / total, std::sqrt(kernels.squares()) / total};
}

double step_spread(const SpreadConstants& spread, const KernelSpread& kernels, double busy, const StepCauses& causes) {
  const double tensor = causes.tensor_core ? spread.tensor_core : 0.0;
  const double several = causes.exchange ? spread.exchange : 0.0;
  const double part = busy * std::hypot(kernels.shared, kernels.single);
  return std::sqrt(part * part + spread.row * spread.row + tensor * tensor + several * several + causes.stack * causes.stack);
}

}  // namespace tbdsim
