#include "model/memory/array_shares.hpp"

#include "model/workload/expert_arrays.hpp"

namespace tbdsim {

double ArrayShares::of(const Op& op) const { return is_of_experts(op) ? experts : dense; }
double ArrayShares::of(const OpGraph& graph, const Parameter& parameter) const { return of(graph.op(parameter.op)); }

double ArrayShares::mean(const OpGraph& graph) const {
  if (dense == experts) return dense;
  double all = 0.0, left = 0.0;
  for (const Parameter& parameter : graph.parameters) {
    const auto count = static_cast<double>(elements(parameter.shape));
    all += count;
    left += of(graph, parameter) * count;
  }
  return all > 0.0 ? left / all : dense;
}

}  // namespace tbdsim
