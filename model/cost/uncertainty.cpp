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

struct KernelError {
  std::size_t family;
  double time, error;
};

/// Sum of squares of what the runs of each different kernel may err by; kernels of one family and equal time are one.
double squares_of_different(std::vector<KernelError>& kernels) {
  std::sort(kernels.begin(), kernels.end(), [](const KernelError& a, const KernelError& b) {
    return a.family != b.family ? a.family < b.family : a.time < b.time;
  });
  double sum = 0.0, runs = 0.0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    runs += kernels[i].error;
    if (i + 1 < kernels.size() && kernels[i + 1].family == kernels[i].family && kernels[i + 1].time == kernels[i].time) continue;
    sum += runs * runs;
    runs = 0.0;
  }
  return sum;
}

}  // namespace

FamilySigmas family_sigmas(const KernelModel& kernels, const SpreadConstants& spread) {
  FamilySigmas sigmas;
  constexpr std::array<KernelFamily, std::tuple_size_v<FamilySigmas>> kFamilies{
      KernelFamily::convolution,  KernelFamily::gemm,    KernelFamily::recurrent,  KernelFamily::attention,
      KernelFamily::memory_bound, KernelFamily::softmax, KernelFamily::layer_norm, KernelFamily::experts};
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
  std::vector<KernelError> kernels;
  kernels.reserve(costs.size());
  double total = 0.0;
  for (const NodeCost& cost : costs) {
    if (!cost.family || cost.kernel.time <= Seconds(0.0)) continue;
    const auto* const family =
        std::find_if(sigmas.begin(), sigmas.end(), [&](const FamilySigma& s) { return s.family == cost.family; });
    if (family == sigmas.end()) continue;
    const auto place = static_cast<std::size_t>(family - sigmas.begin());
    const double time = cost.kernel.time.base(), launch = std::min(time, cost.kernel.launch.base());
    shared[place] +=
        launch * family->launch + (time - launch) * (cost.kernel.bound == Bound::compute ? family->compute : family->memory);
    kernels.push_back({place, time, time * family->single});
    total += time;
  }
  if (total <= 0.0) return {};
  double sum = 0.0, square = 0.0;
  for (const double part : shared) {
    sum += part;
    square += part * part;
  }
  return {std::sqrt(kCommon * sum * sum + (1.0 - kCommon) * square) / total, std::sqrt(squares_of_different(kernels)) / total};
}

double step_spread(const SpreadConstants& spread, const KernelSpread& kernels, double busy, const StepCauses& causes) {
  const double tensor = causes.tensor_core ? spread.tensor_core : 0.0;
  const double several = causes.exchange ? spread.exchange : 0.0;
  const double part = busy * std::hypot(kernels.shared, kernels.single);
  return std::sqrt(part * part + spread.row * spread.row + tensor * tensor + several * several + causes.stack * causes.stack +
                   causes.host * causes.host);
}

}  // namespace tbdsim
