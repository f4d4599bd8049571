#pragma once
#include "model/configuration/configuration.hpp"

namespace tbdsim {

/// Fills in `input`, `pipeline`, where its samples lie and the input's source of a configuration whose system, stack, workload,
/// size and exchange are known: `--input`, else the stack's own default; `--storage`, else memory that costs nothing to read.
/// Errors: an unknown input or storage; images for a network that takes none; a data set that memory does not hold; a mock
/// trainer without anything to load.
[[nodiscard]] Errors choose_input(Session& session, const PredictOptions& options, Configuration& configuration);

/// Threads of a node that decode samples where a job names no workers.
[[nodiscard]] int usual_threads(const InputSettings& settings, const Host& host);

/// One sample as the network takes it.
[[nodiscard]] Bytes decoded_bytes(const OpGraph& graph);

/// Nodes that load: with a pipeline the one of its first stage.
[[nodiscard]] int loading_nodes(const Configuration& configuration);

/// Synthetic samples that lie in host memory are copied at the start of a step, which a mock loader leaves out.
[[nodiscard]] bool copies_synthetic(const InputSettings& settings);

}  // namespace tbdsim
