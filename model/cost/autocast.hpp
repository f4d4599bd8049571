#pragma once
#include <vector>

#include "model/units/quantity.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Bytes of an element of each tensor, in graph order: 4 or, where 16 bits, `narrow`. What a network reads is fp32.
[[nodiscard]] std::vector<Bytes> autocast_widths(const OpGraph& graph, Bytes narrow);

}  // namespace tbdsim
