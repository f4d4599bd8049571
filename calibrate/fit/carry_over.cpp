#include "calibrate/fit/carry_over.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/fit/fit_family.hpp"
#include "model/cost/transfer.hpp"

namespace tbdsim::calibrate {
namespace {

// Of the variance of a transfer, the part that all families of a board have in common: boards left out err alike in products and
// convolutions (signs agree on 8 of 10 boards of DeepBench).
constexpr double kCommon = 0.5;

/// What the fitted families say of the part that all share.
struct Common {
  double pull = 0, precision = 0;  ///< sums of d / v and 1 / v
  void add(double before, double after, double borrowed_sigma, double own_sigma) {
    const double variance = (1.0 - kCommon) * borrowed_sigma * borrowed_sigma + own_sigma * own_sigma;
    if (variance <= 0.0) return;
    pull += std::log(after / before) / variance;
    precision += 1.0 / variance;
  }
  /// Corrects a borrowed value and its sigma.
  void correct(double& value, double& sigma) const {
    const double total = 1.0 / (kCommon * sigma * sigma) + precision;
    value *= std::exp(pull / total);
    sigma = std::sqrt((1.0 - kCommon) * sigma * sigma + 1.0 / total);
  }
};

}  // namespace

std::vector<FamilyParameters> carried_over(const std::vector<FittedFamily>& fitted, const Device& device,
                                           const KernelConstants& constants) {
  Common compute, bandwidth;
  for (const FittedFamily& f : fitted) {
    if (!f.transferred) continue;
    if (f.computes)
      compute.add(f.before.compute_efficiency, f.after.compute_efficiency, f.before.compute_sigma, f.after.compute_sigma);
    else
      bandwidth.add(f.before.bandwidth_efficiency, f.after.bandwidth_efficiency, f.before.bandwidth_sigma,
                    f.after.bandwidth_sigma);
  }
  std::vector<FamilyParameters> result;
  for (const FitFamily& family : fit_families()) {
    if (family.issues) continue;
    const Common& common = family.computes ? compute : bandwidth;
    if (common.precision == 0.0) continue;
    for (const char* precision : {"fp32", "fp16"}) {
      const bool tensor = std::string_view(precision) == "fp16";
      if (tensor && (!family.computes || !on_tensor_cores(device, precision))) continue;
      const bool done = std::any_of(fitted.begin(), fitted.end(), [&](const FittedFamily& f) {
        return f.after.family == family.name && (f.after.precision != "fp32") == tensor;
      });
      if (done) continue;
      const ResolvedParameters borrowed = resolve_parameters(device, family.name, precision, constants);
      if (!borrowed.transferred || borrowed.assumed || device.calibration.find(family.name, precision) != nullptr) continue;
      FamilyParameters p = borrowed.parameters;
      double& value = family.computes ? p.compute_efficiency : p.bandwidth_efficiency;
      const double before = value;
      common.correct(value, family.computes ? p.compute_sigma : p.bandwidth_sigma);
      p.source += fmt::format("; {} x {:.3f}, as other families of this board",
                              family.computes ? "share of peak" : "share of bandwidth", value / before);
      result.push_back(std::move(p));
    }
  }
  return result;
}

}  // namespace tbdsim::calibrate
