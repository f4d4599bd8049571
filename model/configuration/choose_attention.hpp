#pragma once
#include <string_view>

#include "model/configuration/configuration.hpp"
#include "model/configuration/predict_options.hpp"
#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Takes the kernel that `--attention` names in place of the stack's. Expects a system and a stack. Errors: an unknown one, or
/// one that the device lacks, with those that it has.
[[nodiscard]] Errors choose_attention(const PredictOptions& options, Configuration& configuration);
/// Errors: a kernel that the code of the network does not call, so that its name would have no effect.
[[nodiscard]] Errors check_attention(const PredictOptions& options, const OpGraph& graph);

/// That the network's code is of a time before it called the kernel that the stack has; empty: it is not, or another was named.
[[nodiscard]] std::string attention_notice(const PredictOptions& options, const Configuration& configuration);

/// The kernel that runs on the job's devices, as `--attention` names it: "cudnn", "flash-2", "unfused".
[[nodiscard]] std::string_view attention_word(const Configuration& configuration);
/// Whether the device is known to lack the kernel that `--attention` names so; false of other words.
[[nodiscard]] bool lacks_attention(const Device& device, std::string_view word);

}  // namespace tbdsim
