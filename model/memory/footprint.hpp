#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/memory/eager_trace.hpp"
#include "model/memory/rank_buffers.hpp"

namespace tbdsim {

/// What decides a step's memory besides network, order and kernels.
struct FootprintOptions {
  double batch = 1;
  Bytes element{4.0};           ///< of feature maps
  double optimizer_states = 1;  ///< arrays per parameter, as wide as the weights that are updated
  double update_arrays = 0;     ///< such arrays per parameter that an update makes and drops
  int early_arrays = 0;         ///< such arrays per parameter that the update makes as the step begins and needs at its end
  bool master_weights = false;  ///< fp32 copy beside 16-bit weights
  bool autocast = false;        ///< with master weights: no 16-bit weights but copies while a step needs them (`EagerOptions`)
  bool casts_shards = false;    ///< with master weights: 16-bit copies of them are made where they are gathered
  bool gathers_layers = false;  ///< with `zero` 3: whole layers at once
  bool keeps_layers = false;    ///< with `zero` 2: whole layers are gathered in forward, too, and kept until backward ends
  bool reduces_layers = false;  ///< gradients leave layer by layer, whatever `zero` divides: no copies of all of them
  bool accumulates = false;     ///< several micro-batches before an update: gradients stay and are added to
  int ranks = 1;                ///< of the job, over which `zero` shards
  int expert_ranks = 1;         ///< over which it shards arrays of experts; as `ranks` where experts are not divided
  std::optional<double> owner_share{};  ///< of states, on the rank that owns most, where ranks own whole arrays
  int ranks_per_node = 1;
  int zero = 0;                 ///< ZeRO stage: 1 shards optimiser state and master weights, 2 also gradients, 3 also weights
  double in_flight = 1;         ///< micro-batches whose feature maps are held at once: of a stage of a pipeline
  bool received = false;        ///< the input is another stage's feature map, one for each of them
  bool mirrors = false;         ///< MXNet computes cheap operators again in backward (`Recompute::mirror`)
  bool half_gradients = false;  ///< under master weights: gradients belong to the 16-bit copy
  double host_states = 0;       ///< share of master weights and optimiser states that lie on the host
  bool host_weights = false;    ///< with them the divided weights and their gradients
  int host_layers = 0;          ///< whose activations leave for the host; expects one micro-batch in flight, nothing recomputed
  std::optional<Bytes> host_room;  ///< of the host's memory, for each rank; none: its size is not known
  Bytes resident_samples;          ///< of the data set, that lie on every rank for good
  Exchange exchange = Exchange::allreduce;
  std::optional<Bytes> capacity;  ///< of the device: the allocator tidies up before it gives in

  /// Of the weights that are updated, and of what their update keeps: torch.optim's zeros_like(parameter), MXNet without
  /// multi_precision.
  [[nodiscard]] Bytes update_element() const { return master_weights ? Bytes(4.0) : element; }
  /// Of a gradient that belongs to them or, where it does, to their 16-bit copy; and of its place in a bucket.
  [[nodiscard]] Bytes gradient_element() const { return half_gradients ? element : update_element(); }
  /// What is left on the device of states, and of divided weights and their gradients.
  [[nodiscard]] double device_states() const { return 1.0 - host_states; }
  [[nodiscard]] double device_weights() const { return host_weights ? 1.0 - host_states : 1.0; }
  /// Whether one process gathers all outputs on its first GPU and runs the loss there alone.
  [[nodiscard]] bool gathers_outputs() const {
    return info(exchange).buffers == ExchangeBuffers::first_gpu && ranks_per_node > 1;
  }
};

/// Whether memory follows from the order of a step: not from a plan made before, nor from arrays that are never given back.
[[nodiscard]] inline bool allocates_as_it_runs(const Stack& stack) {
  return stack.memory.plan == MemoryPlan::caching_allocator || stack.memory.plan == MemoryPlan::bfc;
}

/// Device memory of one rank.
struct RankMemory {
  MemoryParts parts;   ///< at the peak; their sum is `peak`
  StoreArrays stored;  ///< of what the exchange holds
  Bytes pre_training;  ///< context, weights, input and gradients where they exist before the first step (MXNet, Torch7)
  Bytes allocated;     ///< peak of what tensors hold, in the allocator's units
  Bytes reserved;      ///< peak of what the allocator holds
  Bytes peak;          ///< as nvidia-smi shows it: reserved, context, handles; out of memory: as `needed`
  /// The least device on which the step runs: where memory ends the allocator gives back what it only keeps, and convolutions
  /// do with less scratch memory. The peak where that is far below the capacity, or nothing is known of an end.
  Bytes needed;
  Bytes host;                      ///< that lie on the host for it
  std::optional<Bytes> host_room;  ///< its share of the host's memory; none: its size is not known
};

/// Memory over one step: what all ranks have in common in detail, and each rank of a node.
struct StepMemory {
  std::vector<Lifetime> arrays;    ///< weights and the like included, from 0 to the number of positions
  std::vector<OpId> ops;           ///< operator of each position
  std::vector<Pass> passes;        ///< and what it does then; of MXNet's own order forward and backward alone
  MemoryProfile profile;           ///< of `arrays`
  std::vector<std::int32_t> held;  ///< of them, at the peak
  Bytes lower_bound;               ///< peak of what must exist at once: no allocator does with less
  Bytes allocated, reserved;       ///< peaks of what holds `arrays`, on a device without end
  std::vector<RankMemory> ranks;
  std::vector<Bytes> host_layers;       ///< activations of each layer that leave for the host
  bool out_of_memory = false;           ///< the allocator gave up within `capacity`
  std::vector<AllocationEvent> events;  ///< of the first of `arrays`, where the allocator takes memory in regions that double
  int reduced = 0;  ///< convolutions' passes that run with less scratch memory than their fastest algorithm wants
  Seconds longer;   ///< which makes the step so much longer
};

/// Sets profile and held arrays of a step from the lifetimes of its arrays.
void count_lifetimes(StepMemory& memory, std::int32_t positions);

/// Bytes of `memory.profile` while each of `nodes` runs. MXNet's executor has an order of its own: an operator's forward
/// and backward positions answer for its nodes, the last position for updates.
[[nodiscard]] std::vector<Bytes> live_by_node(const StepMemory& memory, std::span<const StepNode> nodes);

/// Replays one training step: `nodes` in the order in which the device runs them, with the costs that say which
/// workspace their kernels ask for.
///
/// MXNet's executor plans storage for its own order of the same graph and shares one workspace, the largest; PyTorch and
/// TensorFlow allocate as they run. Neglects what the driver rounds for them, and Torch7's buffers that stay.
[[nodiscard]] StepMemory step_memory(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                                     const Stack& stack, const FootprintOptions& options);

/// The ranks of a job whose `options` differ from those that `memory` is of in the exchange and the number of ranks alone.
/// Nothing where ZeRO shards arrays over them, where the first rank alone runs the loss, or where the device's end may show in
/// what the allocator does: replay the step.
[[nodiscard]] std::optional<std::vector<RankMemory>> ranks_of(const StepMemory& memory, const OpGraph& graph, const Stack& stack,
                                                              const FootprintOptions& options);

}  // namespace tbdsim
