#pragma once
#include <cstdint>

namespace tbdsim {

/// How a token chooses experts.
struct ExpertChoice {
  std::int64_t experts = 1, per_token = 1;
  std::int64_t groups = 0, groups_per_token = 0;  ///< all experts of a token lie in so many of the groups; 0: in any
  bool operator==(const ExpertChoice&) const = default;
};

/// Nodes that hold the experts of a token, on the mean, where experts are spread evenly over `nodes` and all are chosen alike:
///
///     n (1 - C(E - E/n, k) / C(E, k)),   at most k and the nodes on which the token's groups lie.
///
/// Groups lie on nodes in their order. Sources: the expectation of a hypergeometric choice; groups as DeepSeek-V3 limits nodes,
/// arXiv:2412.19437, section 2.1.2.
[[nodiscard]] double nodes_reached(const ExpertChoice& choice, int nodes);

}  // namespace tbdsim
