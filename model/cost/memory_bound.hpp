#pragma once
#include <optional>

#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/stack/stack.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// How often an operator's kernel passes over its inputs and its output. A pass reads or writes every element once.
struct Passes {
  double forward_inputs = 0, forward_output = 0;
  double backward_inputs = 0, backward_output = 0;
  double backward_parameters = 0;  ///< over the operator's own arrays, whatever the batch
  double bandwidth_share = 1.0;    ///< of the sustained bandwidth; row-wise reductions reach less
};

/// Passes of a memory-bound operator; nullopt for operators of other families and those that launch nothing.
/// Batch norm's depend on the stack (a fused library kernel or a chain of framework kernels).
[[nodiscard]] std::optional<Passes> memory_passes(const Op& op, const Stack& stack);

/// One kernel that moves `bytes`: t = launch + bytes / (share x B).
[[nodiscard]] KernelTimeModel memory_bound_time(Bytes bytes, double bandwidth_share, const KernelRates& rates);

}  // namespace tbdsim
