#include "model/cost/uncertainty.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "model/cost/kernel_model.hpp"

namespace tbdsim {
namespace {

// Of the variance that the kernels of a family share, the part that all families of a board do: boards left out err alike in
// products and convolutions (signs agree on 8 of 10 boards of DeepBench).
constexpr double kCommon = 0.5;

/// One kernel of a step, however often it runs.
struct Kernel {
  double time;
  std::size_t family;
  bool operator<(const Kernel& other) const { return family != other.family ? family < other.family : time < other.time; }
};

/// Sum of the squares of what each kernel adds: time x sigma, equal kernels first added up.
double squares(std::vector<Kernel>& all, const FamilySigmas& sigmas) {
  std::sort(all.begin(), all.end());
  double sum = 0.0, run = 0.0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    run += all[i].time * sigmas[all[i].family].single;
    if (i + 1 < all.size() && !(all[i] < all[i + 1])) continue;
    sum += run * run;
    run = 0.0;
  }
  return sum;
}

}  // namespace

FamilySigmas family_sigmas(const KernelModel& kernels, const SpreadConstants& spread) {
  FamilySigmas sigmas;
  constexpr std::array<std::string_view, std::tuple_size_v<FamilySigmas>> kFamilies{"convolution", "gemm", "recurrent",
                                                                                    "attention", "memory_bound"};
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
  std::vector<Kernel> all;
  all.reserve(costs.size());
  double total = 0.0;
  for (const NodeCost& cost : costs) {
    const auto* const family =
        std::find_if(sigmas.begin(), sigmas.end(), [&](const FamilySigma& s) { return s.family == cost.family; });
    if (family == sigmas.end() || cost.kernel.time <= Seconds(0.0)) continue;
    const auto place = static_cast<std::size_t>(family - sigmas.begin());
    const double time = cost.kernel.time.base(), launch = std::min(time, cost.kernel.launch.base());
    shared[place] +=
        launch * family->launch + (time - launch) * (cost.kernel.bound == Bound::compute ? family->compute : family->memory);
    all.push_back({time, place});
    total += time;
  }
  if (total <= 0.0) return {};
  double sum = 0.0, square = 0.0;
  for (const double part : shared) {
    sum += part;
    square += part * part;
  }
  return {std::sqrt(kCommon * sum * sum + (1.0 - kCommon) * square) / total, std::sqrt(squares(all, sigmas)) / total};
}

double step_spread(const SpreadConstants& spread, const KernelSpread& kernels, double busy, const StepCauses& causes) {
  const double tensor = causes.tensor_core ? spread.tensor_core : 0.0;
  const double several = causes.exchange ? spread.exchange : 0.0;
  const double part = busy * std::hypot(kernels.shared, kernels.single);
  return std::sqrt(part * part + spread.row * spread.row + tensor * tensor + several * several + causes.stack * causes.stack);
}

}  // namespace tbdsim
