#pragma once
#include "model/configuration/predict_options.hpp"
#include "model/stack/stack.hpp"
#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Takes the kernel that `--attention` names in place of the stack's. Errors: an unknown one.
[[nodiscard]] Errors choose_attention(const PredictOptions& options, Stack& stack);
/// Errors: a kernel that the code of the network does not call, so that its name would have no effect.
[[nodiscard]] Errors check_attention(const PredictOptions& options, const OpGraph& graph);

}  // namespace tbdsim
