#pragma once
#include <vector>

#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Which operators are attention: the one operator of that name, else those between two products that a softmax joins: the scores
/// (products or sums of all pairs of queries and keys, and what follows up to the softmax), the softmax, the weighted sum of the
/// values. Projections before and after are not part of it.
[[nodiscard]] std::vector<bool> attention_ops(const OpGraph& graph);

}  // namespace tbdsim
