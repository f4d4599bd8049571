#pragma once
#include <string>
#include <vector>

#include "model/engine/timeline.hpp"
#include "model/schedule/lowered_step.hpp"
#include "model/units/quantity.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// What travels as one: a parameter array, or a bucket of them. Times count from the start of the backward pass.
struct ArrayTraffic {
  std::string name;
  Bytes bytes;
  Seconds send_start, send_end;        ///< push; of an all-reduce, the call
  Seconds receive_start, receive_end;  ///< from the end of the push, which is the request, to arrival on the GPUs
  Seconds exposed;                     ///< for which kernels wait while it is this array's turn
};

/// When each array or bucket of the steady iteration travels, and how long kernels wait for it. Most exposed first.
[[nodiscard]] std::vector<ArrayTraffic> array_traffic(const OpGraph& graph, const LoweredStep& step,
                                                      const engine::Timeline& timeline);

}  // namespace tbdsim
