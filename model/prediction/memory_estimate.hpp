#pragma once
#include "model/configuration/configuration.hpp"
#include "model/memory/footprint.hpp"
#include "model/prediction/prediction.hpp"
#include "model/schedule/lowered_step.hpp"

namespace tbdsim {

/// Memory of a configured step whose nodes run in the order of `nodes` with the costs `costs`. `known`: of the same step on other
/// ranks, from which that of these follows where nothing but the ranks' own arrays differs.
[[nodiscard]] StepMemory estimate_memory(const Configuration& configuration, std::span<const StepNode> nodes,
                                         std::span<const NodeCost> costs, const StepMemory* known = nullptr);

/// Whether a step's memory may serve as `known`: not where a rank gathers what the others compute.
[[nodiscard]] bool lends_memory(const Configuration& configuration);

/// The place of what one GPU runs in a network that is divided over several.
struct PartOfNetwork {
  double in_flight = 1;   ///< micro-batches whose feature maps are held at once
  bool received = false;  ///< its input is another stage's feature map
  bool sample = false;    ///< it stands for a larger part, which has more arrays to give to ranks
};

/// The same of one GPU's part of the network, `graph`, under the configuration's layout.
[[nodiscard]] StepMemory estimate_memory(const Configuration& configuration, const OpGraph& graph,
                                         std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                                         const PartOfNetwork& place);

/// Each GPU of a node, of a divided network the first of each stage, against the device's capacity, with ranges. `replays`:
/// ranges may ask what the allocator would do with arrays of other sizes; a sweep shows none.
[[nodiscard]] MemoryVerdict memory_verdict(const Configuration& configuration, const StepMemory& memory, bool replays = true);

/// What is said of convolutions that find no memory for their fastest algorithm's scratch arrays; empty if all do.
[[nodiscard]] std::string reduced_workspaces(const StepMemory& memory);

/// Notes in every kernel of `prediction`, which are those of `rank`, how much memory arrays hold while it runs.
void tell_live_memory(const LoweredStep& step, const StepMemory& memory, std::int32_t rank, Prediction& prediction);

/// What the driver lets programs have: as `nvidia-smi` reports it where that is known, else the data sheet's.
[[nodiscard]] Bytes usable_capacity(const Device& device);

/// Standard deviation of ln(measured peak / predicted peak) of one rank, from independent causes added in squares.
///
/// * feature maps and their gradients: what a version keeps or computes in place, 3 % (assumed: the nine networks whose
///   saved bytes are published agree exactly, the plans of MXNet's five within 4 %),
/// * workspace: which algorithm the library chose, half of it (assumed: candidates differ by a factor of two),
/// * context and handles: 2 % where it is fitted (MXNet), else 20 % (assumed: drivers differ by 0.1 to 0.2 GB),
/// * slack: the order in which a framework asks, 40 % of it (assumed: replays with and without workspaces differ so),
/// * exchange buffers: 20 % (assumed).
[[nodiscard]] double memory_spread(const RankMemory& rank, const Stack& stack);

/// The same of ln(least device on which a rank runs): workspaces that are done without are in no doubt, slack is as it is in the
/// peak's.
[[nodiscard]] double need_spread(const RankMemory& rank, const Stack& stack);

/// Whether the host's memory holds what lies there for a rank; true where its size is not known.
[[nodiscard]] bool fits_host(const RankMemory& rank);
/// Whether a rank, or every rank of a step, runs on a device of `capacity` and on its host: what all verbs mean by "fits".
[[nodiscard]] bool fits(const RankMemory& rank, Bytes capacity);
[[nodiscard]] bool fits(const StepMemory& memory, Bytes capacity);

/// Probability that a rank runs on a device of `capacity`.
[[nodiscard]] double probability_of_fitting(const RankMemory& rank, const Stack& stack, Bytes capacity);

}  // namespace tbdsim
