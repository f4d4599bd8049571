#include "model/workload/expert_choice.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {

double nodes_reached(const ExpertChoice& choice, int nodes) {
  const auto experts = static_cast<double>(choice.experts), n = static_cast<double>(nodes);
  // C(E - E/n, k) / C(E, k): that none of the k lies on a node.
  double none = 1.0;
  for (std::int64_t i = 0; i < choice.per_token; ++i) {
    const auto chosen = static_cast<double>(i);
    none *= std::max(0.0, experts - experts / n - chosen) / (experts - chosen);
  }
  const double reached = std::min(n * (1.0 - none), static_cast<double>(choice.per_token));
  if (choice.groups == 0) return reached;
  const double nodes_of_group = std::max(1.0, n / static_cast<double>(choice.groups));
  return std::min(reached, std::ceil(nodes_of_group * static_cast<double>(choice.groups_per_token)));
}

}  // namespace tbdsim
