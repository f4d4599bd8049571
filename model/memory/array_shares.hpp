#pragma once
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// What of each array one rank has, where ranks divide arrays among them: of experts' arrays there are fewer copies.
struct ArrayShares {
  double dense = 1, experts = 1;
  [[nodiscard]] double of(const Op& op) const;
  [[nodiscard]] double of(const OpGraph& graph, const Parameter& parameter) const;
  /// Of all arrays together.
  [[nodiscard]] double mean(const OpGraph& graph) const;
};

}  // namespace tbdsim
