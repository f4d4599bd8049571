// Long because what each framework holds of a step, on the device and on the host, is put together from the same arrays.
#include "model/memory/footprint.hpp"

#include <algorithm>
#include <array>

#include "model/memory/allocator_bfc.hpp"
#include "model/memory/array_shares.hpp"
#include "model/memory/blob_plan.hpp"
#include "model/memory/event_profile.hpp"
#include "model/memory/mxnet_graph.hpp"
#include "model/memory/offloaded_activations.hpp"
#include "model/memory/replay.hpp"
#include "model/stack/local_store.hpp"
#include "model/workload/layer_classes.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kSingle{4.0};

/// What is left of an array on each rank when `zero` has reached `stage`.
ArrayShares shard(const FootprintOptions& options, int stage) {
  if (options.zero < stage) return {};
  return {stage == 1 && options.owner_share ? *options.owner_share : 1.0 / options.ranks, 1.0 / options.expert_ranks};
}

/// Bytes of the arrays of one rank that exist before, during and after a step.
struct Persistent {
  std::vector<Bytes> weights;               ///< of every parameter, then of the operators `frozen`
  std::vector<OpId> frozen;                 ///< operators with arrays that are never trained
  std::vector<Bytes> gradients, exchanged;  ///< of every parameter
  Bytes input;
  Bytes gathered;                   ///< of the weights, what a step makes of the ranks' own parts
  double state_share = 1;           ///< what a rank has of the optimiser's states of its arrays
  bool beyond_local_store = false;  ///< one array is
  Bytes host;                       ///< of arrays on the host
};

/// Of a parameter on the host, undivided: fp32 weights, states and a gradient.
Bytes on_host(const FootprintOptions& options) {
  const double arrays = 2.0 + options.optimizer_states * (options.update_element() / kSingle);
  return options.host_states * arrays * kSingle;
}

Persistent persistent_arrays(const OpGraph& graph, const Stack& stack, const FootprintOptions& options) {
  Persistent result;
  // Master weights are sharded with the optimiser's states; those of autocast are the only ones.
  const Bytes wide = options.master_weights ? kSingle : Bytes(0.0);
  const ArrayShares masters = shard(options, options.autocast ? 3 : 1), weights = shard(options, 3),
                    gradients = shard(options, 2);
  const bool copies = options.autocast || (options.casts_shards && options.master_weights && options.zero >= 3);
  const Bytes narrow = copies ? Bytes(0.0) : options.device_weights() * options.element;
  const double kept = copies ? options.device_weights() : options.device_states();
  const ArrayShares states = shard(options, 1);
  // What is gathered lies beside the parts that it is made of. Master weights are such parts; of one copy there are none.
  const bool parts = options.keeps_layers && (options.autocast || !options.master_weights);
  const auto part = [](int ranks) { return ranks > 1 ? 1.0 / ranks : 0.0; };
  const ArrayShares own{part(options.ranks), part(options.expert_ranks)};
  for (const Parameter& parameter : graph.parameters) {
    const auto count = static_cast<double>(elements(parameter.shape));
    const Bytes master = kept * wide * masters.of(graph, parameter);
    const Bytes beside = parts ? own.of(graph, parameter) * options.update_element() : Bytes(0.0);
    result.weights.push_back(count * (narrow * weights.of(graph, parameter) + master + beside));
    if (options.keeps_layers && own.of(graph, parameter) > 0.0)
      result.gathered += result.weights.back() - count * (parts ? beside : master);
    // Autocast keeps gradients as wide as the weights they belong to.
    const Bytes gradient = options.device_weights() * options.gradient_element() * gradients.of(graph, parameter);
    result.gradients.push_back(gradient_bytes(parameter, options.batch, gradient));
    result.host += count * (on_host(options) * states.of(graph, parameter));
    result.exchanged.push_back(count * options.gradient_element());
    result.beyond_local_store = result.beyond_local_store || elements(parameter.shape) > kLocalStoreUpdates;
  }
  // Not trained, they need no second copy in 32 bits.
  const Bytes frozen = copies ? options.device_weights() * wide : narrow;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const double count = frozen_elements(graph.ops[i]);
    if (count == 0.0) continue;
    result.frozen.push_back({static_cast<std::int32_t>(i)});
    result.weights.push_back(count * frozen * (copies ? masters : weights).of(graph.ops[i]));
  }
  result.state_share = shard(options, 1).mean(graph);
  const auto input = static_cast<double>(elements(graph.tensors.front().shape));
  result.input = options.batch * graph.label_elements * stack.memory.batches_on_device * kSingle;
  const Bytes received = options.autocast ? kSingle : options.element;
  result.input += options.received ? options.batch * input * options.in_flight * received
                                   : options.batch * input * stack.memory.batches_on_device * kSingle;
  result.input += options.resident_samples;
  return result;
}

Bytes sum(const std::vector<Bytes>& all) {
  Bytes total;
  for (const Bytes bytes : all) total += bytes;
  return total;
}

/// ZeRO 3 gathers the arrays of one operator before it runs, while those of the one before are still in use.
Bytes gathered(const OpGraph& graph, const FootprintOptions& options) {
  if (options.zero < 3 || options.ranks == 1) return Bytes(0.0);
  double most = 0.0;
  if (options.gathers_layers) {
    const LayerClasses layers = fold_layers(graph);
    std::vector<double> count(layers.layers(), 0.0);
    for (const Parameter& parameter : graph.parameters)
      count[static_cast<std::size_t>(layers.layer_of[static_cast<std::size_t>(parameter.op.value)])] +=
          static_cast<double>(elements(parameter.shape));
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      count[static_cast<std::size_t>(layers.layer_of[i])] += frozen_elements(graph.ops[i]);
    return 2.0 * *std::max_element(count.begin(), count.end()) * options.element;
  }
  for (const Op& op : graph.ops) {
    double count = frozen_elements(op);
    for (const ParameterId id : op.parameters) count += static_cast<double>(elements(graph.parameter(id).shape));
    most = std::max(most, count);
  }
  return 2.0 * most * options.element;
}

void add_persistent(const OpGraph& graph, const Persistent& arrays, const FootprintOptions& options, bool gradients,
                    StepMemory& memory) {
  const auto positions = static_cast<std::int32_t>(memory.ops.size());
  const auto add = [&](Bytes bytes, MemoryPart part, OpId op) {
    if (bytes > Bytes(0.0)) memory.arrays.push_back({bytes, part, op, 0, positions});
  };
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const OpId op = graph.parameters[i].op;
    add(arrays.weights[i], MemoryPart::weights, op);
    if (gradients) add(arrays.gradients[i], MemoryPart::gradients, op);
  }
  for (std::size_t i = 0; i < arrays.frozen.size(); ++i)
    add(arrays.weights[graph.parameters.size() + i], MemoryPart::weights, arrays.frozen[i]);
  add(gathered(graph, options), MemoryPart::weights, OpId{});
  add(arrays.input, MemoryPart::input, OpId{0});
}

SavingRules saving_rules(const Stack& stack) {
  if (stack.memory.plan == MemoryPlan::mxnet)
    return stack.operators.inplace_activation ? SavingRules::mxnet_later : SavingRules::mxnet;
  return stack.memory.plan == MemoryPlan::bfc ? SavingRules::tensorflow : SavingRules::autograd_cuda;
}

ExchangeMemory exchange_memory(const FootprintOptions& options, const Persistent& arrays) {
  return {options.exchange,
          options.ranks_per_node,
          options.optimizer_states * (options.update_element() / options.gradient_element()),
          arrays.exchanged,
          (options.zero > 1 || options.reduces_layers) && options.ranks > 1,
          arrays.beyond_local_store};
}

/// What the allocator holds for the arrays that all ranks have in common, and what it could do with.
struct Holding {
  Bytes allocated, reserved, needed;
  bool fits = true;  ///< else what is needed is shown
};

/// Of the free memory, what the framework's allocator leaves to others.
double system_share(const Stack& stack) { return stack.framework == Framework::jax ? 0.25 : 0.05; }

/// What each rank adds to what all have in common, `common`.
std::vector<RankMemory> rank_memories(const Persistent& arrays, const Stack& stack, const FootprintOptions& options,
                                      const MemoryParts& common, const Holding& holding) {
  const Bytes least = common.total();
  // Shares of whole layers' gradients stay in the pool of another stream (fully_shard/_fsdp_collectives.py, reduce_output).
  const bool own_pool = (options.keeps_layers || options.zero >= 3) && options.ranks > 1 && options.gathers_layers;
  const Bytes shares = own_pool ? std::max(sum(arrays.gradients) - common[MemoryPart::gradients], Bytes(0.0)) : Bytes(0.0);
  std::vector<RankMemory> ranks;
  for (RankBuffers buffers : rank_buffers(stack, exchange_memory(options, arrays))) {
    buffers.optimizer_state *= options.device_states() * arrays.state_share;
    const Bytes extra = buffers.optimizer_state + buffers.exchange;
    RankMemory rank;
    rank.parts = common;
    rank.stored = buffers.stored;
    rank.parts[MemoryPart::optimizer_state] += buffers.optimizer_state;
    rank.parts[MemoryPart::exchange] += buffers.exchange;
    rank.parts[MemoryPart::context] = stack.memory.context + stack.memory.training_start;
    rank.allocated = holding.allocated + extra;
    rank.reserved = std::max(holding.reserved, least) + extra + shares;
    const Bytes needed = std::min(std::max(holding.needed, least) + extra, rank.reserved);
    rank.needed = (stack.memory.plan == MemoryPlan::bfc ? bfc_free_memory(needed, system_share(stack)) : needed) +
                  rank.parts[MemoryPart::context];
    if (!holding.fits) rank.reserved = std::max(rank.reserved, rank.needed - rank.parts[MemoryPart::context]);
    // Of the other pool, too, the allocator gives back what is only kept.
    if (shares > Bytes(0.0) && options.capacity)
      rank.reserved = std::min(rank.reserved, std::max(*options.capacity - rank.parts[MemoryPart::context], needed));
    rank.peak = rank.reserved + rank.parts[MemoryPart::context];
    rank.parts[MemoryPart::slack] = rank.reserved - least - extra;
    rank.pre_training = stack.memory.context + sum(arrays.weights) - arrays.gathered + arrays.input;
    rank.host = arrays.host;
    rank.host_room = options.host_room;
    if (stack.features.gradients_from_start) rank.pre_training += sum(arrays.gradients);
    ranks.push_back(rank);
  }
  return ranks;
}

/// Sets what follows from the profile of `memory` and what the allocator holds for its arrays.
void finish(const Persistent& arrays, const Stack& stack, const FootprintOptions& options, const Holding& holding,
            StepMemory& memory) {
  memory.lower_bound = memory.profile.at_peak.total();
  memory.allocated = holding.allocated;
  memory.reserved = holding.reserved;
  memory.ranks = rank_memories(arrays, stack, options, memory.profile.at_peak, holding);
}

/// MXNet's pool takes arrays from the driver one by one.
void round_for_driver(Persistent& arrays) {
  for (std::vector<Bytes>* kind : {&arrays.weights, &arrays.gradients, &arrays.exchanged})
    for (Bytes& bytes : *kind) bytes = driver_rounded(bytes);
}

/// What arrays may take of the device beside what the fullest rank holds besides them. Nothing: there is no end.
std::optional<Bytes> room(const Persistent& arrays, const Stack& stack, const FootprintOptions& options) {
  if (!options.capacity || !allocates_as_it_runs(stack)) return std::nullopt;
  const RankBuffers first = rank_buffers(stack, exchange_memory(options, arrays)).front();
  Bytes left = std::max(*options.capacity - stack.memory.context - stack.memory.training_start, Bytes(0.0));
  if (stack.memory.plan == MemoryPlan::bfc) left = bfc_limit(left, system_share(stack));
  return std::max(left - options.device_states() * first.optimizer_state * arrays.state_share - first.exchange, Bytes(0.0));
}

void profile(StepMemory& memory) { count_lifetimes(memory, static_cast<std::int32_t>(memory.ops.size())); }

/// One scratch buffer for all operators, grown to the largest request and kept.
Bytes add_largest_workspace(std::span<const NodeCost> costs, StepMemory& memory) {
  Bytes workspace;
  for (const NodeCost& cost : costs) workspace = std::max(workspace, cost.kernel.workspace);
  const auto positions = static_cast<std::int32_t>(memory.ops.size());
  if (workspace > Bytes(0.0)) memory.arrays.push_back({workspace, MemoryPart::workspace, OpId{}, 0, positions});
  return workspace;
}

StepMemory planned(const OpGraph& graph, std::span<const NodeCost> costs, const Stack& stack, const FootprintOptions& options) {
  const PlanGraph executor = mxnet_graph(graph, saving_rules(stack), options.batch, options.element, options.mirrors);
  StoragePlan plan = plan_storage(executor);
  StepMemory memory;
  for (const std::int32_t node : plan.order) {
    memory.ops.push_back(executor.nodes[static_cast<std::size_t>(node)].op);
    memory.passes.push_back(executor.nodes[static_cast<std::size_t>(node)].backward ? Pass::backward : Pass::forward);
  }
  memory.arrays = std::move(plan.lifetimes);
  Persistent arrays = persistent_arrays(graph, stack, options);
  const Bytes workspace = add_largest_workspace(costs, memory);
  add_persistent(graph, arrays, options, true, memory);
  profile(memory);
  const Bytes bound = sum(arrays.weights) + sum(arrays.gradients) + arrays.input + workspace;
  Bytes allocated = bound, reserved = driver_rounded(arrays.input) + driver_rounded(workspace);
  round_for_driver(arrays);
  reserved += sum(arrays.weights) + sum(arrays.gradients) + gathered(graph, options);
  allocated += plan.total();
  reserved += driver_held(plan.blocks);
  finish(arrays, stack, options, {allocated, reserved, reserved}, memory);
  return memory;
}

/// Caffe2: arrays that exist once exist for good, and the largest workspace is kept.
StepMemory kept(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs, const Stack& stack,
                const FootprintOptions& options) {
  StepMemory memory;
  for (const StepNode& node : nodes) {
    memory.ops.push_back(node.op);
    memory.passes.push_back(node.pass);
  }
  const auto count = static_cast<std::int32_t>(nodes.size());
  for (const Blob& blob : plan_blobs(graph, options.batch, options.element))
    memory.arrays.push_back({blob.bytes, blob.part, blob.op, 0, count});
  (void)add_largest_workspace(costs, memory);
  const Persistent arrays = persistent_arrays(graph, stack, options);
  add_persistent(graph, arrays, options, true, memory);
  profile(memory);
  const Bytes held = memory.profile.at_peak.total();
  finish(arrays, stack, options, {held, held, held}, memory);
  return memory;
}

/// Adds what every micro-batch before the one that runs backward holds besides, all that its forward pass has kept: it is there
/// when that one begins and gone before the update, which waits for the last backward pass.
void add_in_flight(std::span<const StepNode> nodes, const FootprintOptions& options, AllocationTrace& trace) {
  const double others = options.in_flight - 1.0;
  if (others <= 0.0) return;
  // The pass forward ends where an operator runs backward or, recomputed, a second time.
  std::size_t end = 0;
  while (end < nodes.size() && nodes[end].pass == Pass::forward && (end == 0 || nodes[end - 1].op < nodes[end].op)) ++end;
  const auto boundary = static_cast<std::int32_t>(end);
  const auto updates = std::find_if(nodes.begin(), nodes.end(), [](const StepNode& node) { return node.pass == Pass::update; });
  const auto drained = static_cast<std::int32_t>(updates - nodes.begin());
  const std::size_t own = trace.arrays.size();
  std::vector<AllocationEvent> made, freed;
  for (std::size_t i = 0; i < own; ++i) {
    const Lifetime array = trace.arrays[i];
    if (array.birth >= boundary || array.death <= boundary) continue;
    const auto index = static_cast<std::int32_t>(trace.arrays.size());
    trace.arrays.push_back({others * array.bytes, array.part, array.op, 0, drained});
    made.push_back({index, 0, false});
    if (updates != nodes.end()) freed.push_back({index, drained, true});
  }
  const auto update =
      std::find_if(trace.events.begin(), trace.events.end(), [&](const AllocationEvent& event) { return event.node >= drained; });
  trace.events.insert(update, freed.begin(), freed.end());
  trace.events.insert(trace.events.begin(), made.begin(), made.end());
}

/// What a dataflow executor computes of the update as soon as it can: products that depend on no gradient.
std::vector<Lifetime> early_arrays(const OpGraph& graph, std::span<const StepNode> nodes, const FootprintOptions& options) {
  std::vector<Lifetime> early;
  const ArrayShares states = shard(options, 1);
  for (const Parameter& parameter : graph.parameters)
    for (int i = 0; i < options.early_arrays; ++i)
      early.push_back({static_cast<double>(elements(parameter.shape)) * options.update_element() * states.of(graph, parameter),
                       MemoryPart::dynamic, parameter.op, 0, static_cast<std::int32_t>(nodes.size())});
  return early;
}

/// Whether what is held may reach the device's end; below, no doubt about a part of it moves it there, and with how much less
/// the step would do is of no interest.
bool near_end(Bytes reserved, Bytes capacity) {
  constexpr double kNear = 0.7;
  return reserved > kNear * capacity;
}

/// A step on a device without end, and what is shown of it on one that ends.
struct Played {
  Replay endless, shown;
  Bytes needed;      ///< what the arrays' least device has for them
  bool fits = true;  ///< else `shown` is what that least device would
};

Played play(const AllocationTrace& trace, std::span<const Bytes> stays, std::span<const NodeCost> costs, const Stack& stack,
            std::int32_t nodes, std::optional<Bytes> capacity) {
  Played result;
  result.endless = result.shown = replay(trace, stays, costs, nodes, stack.memory.plan, std::nullopt);
  result.needed = result.endless.reserved;
  if (!capacity || !near_end(result.endless.reserved, *capacity)) return result;
  CapacitySearch search{result.endless.least, {result.endless.reserved, result.endless}};
  // The allocator notices the device's end only where it would go beyond it.
  if (result.endless.reserved > *capacity) {
    result.shown = replay(trace, stays, costs, nodes, stack.memory.plan, capacity);
    result.fits = result.shown.fits;
    search.upwards = !result.fits;
    if (result.fits)
      search.enough = {*capacity, result.shown};
    else
      search.low = std::max(search.low, *capacity);
  }
  LeastCapacity least = least_capacity(trace, stays, costs, nodes, stack.memory.plan, std::move(search));
  result.needed = least.capacity;
  if (!result.fits) result.shown = std::move(least.played);
  return result;
}

/// Whether ranks of the tensor axis share the words that a loss scores.
bool divided_words(const OpGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) {
    const auto* moved = std::get_if<CollectiveAttributes>(&op.attributes);
    return moved != nullptr && moved->axis == Axis::tensor;
  });
}

StepMemory eager(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs, const Stack& stack,
                 const FootprintOptions& options, std::optional<int> loss_gathered = std::nullopt) {
  EagerOptions traced;
  traced.loss_gathered = loss_gathered;
  traced.rules = saving_rules(stack);
  traced.batch = options.batch;
  traced.element = options.element;
  traced.fused_attention = stack.operators.attention.fused;
  traced.gradient_element = options.gradient_element() * shard(options, 2).dense;
  traced.expert_gradient_element = options.gradient_element() * shard(options, 2).experts;
  traced.update_element = options.update_element();
  if (options.master_weights && !stack.memory.online_loss) traced.loss_element = kSingle;
  const double parallel = divided_words(graph) ? stack.memory.parallel_loss_arrays : 0.0;
  traced.loss_arrays = stack.memory.online_loss ? 0.0 : stack.memory.loss_arrays + parallel;
  traced.autocast = options.autocast;
  traced.narrow_norms = stack.operators.amp.narrow_norms;
  traced.gathers_weights = options.zero >= 3 && options.ranks > 1 && !options.gathers_layers;
  traced.keeps_gradients = stack.memory.keeps_gradients || options.accumulates;
  traced.update_arrays = options.device_states() * options.update_arrays * shard(options, 1).dense;
  traced.expert_update_arrays = options.device_states() * options.update_arrays * shard(options, 1).experts;
  traced.updates_together = stack.update.kind == UpdateKind::multi_tensor;
  traced.flattens_updates = stack.memory.flattens_gradients;
  AllocationTrace trace = eager_trace(graph, nodes, costs, traced);
  StepMemory memory;
  if (options.host_layers > 0) memory.host_layers = offload_activations(graph, nodes, options.host_layers, trace);
  for (const StepNode& node : nodes) {
    memory.ops.push_back(node.op);
    memory.passes.push_back(node.pass);
  }
  Persistent arrays = persistent_arrays(graph, stack, options);
  for (const Bytes kept : memory.host_layers) arrays.host += kept;
  std::vector<Bytes> stays = arrays.weights;
  if (traced.keeps_gradients) stays.insert(stays.end(), arrays.gradients.begin(), arrays.gradients.end());
  stays.push_back(gathered(graph, options));
  add_in_flight(nodes, options, trace);
  const std::vector<Lifetime> early = early_arrays(graph, nodes, options);
  for (const Lifetime& array : early) stays.push_back(array.bytes);
  stays.push_back(arrays.input);
  const auto count = static_cast<std::int32_t>(nodes.size());
  const Played played = play(trace, stays, costs, stack, count, room(arrays, stack, options));
  memory.out_of_memory = !played.fits;
  for (const ReducedWorkspace& reduced : played.shown.reduced) {
    trace.arrays[static_cast<std::size_t>(reduced.array)].bytes = reduced.bytes;
    memory.longer += reduced.longer;
    ++memory.reduced;
  }
  memory.arrays = std::move(trace.arrays);
  memory.arrays.insert(memory.arrays.end(), early.begin(), early.end());
  add_persistent(graph, arrays, options, traced.keeps_gradients, memory);
  EventProfile counted = event_profile(memory.arrays, trace.events, count);
  memory.profile = std::move(counted.profile);
  memory.held = std::move(counted.held);
  if (stack.memory.plan == MemoryPlan::bfc) memory.events = std::move(trace.events);
  const Bytes held = played.fits ? played.shown.reserved : played.needed;
  finish(arrays, stack, options, {played.shown.allocated, held, played.needed, played.fits}, memory);
  memory.allocated = played.endless.allocated;
  memory.reserved = played.endless.reserved;
  return memory;
}

}  // namespace

void count_lifetimes(StepMemory& memory, std::int32_t positions) {
  memory.profile = memory_profile(memory.arrays, positions);
  memory.held.clear();
  for (std::size_t i = 0; i < memory.arrays.size(); ++i)
    if (memory.arrays[i].birth <= memory.profile.peak && memory.profile.peak < memory.arrays[i].death)
      memory.held.push_back(static_cast<std::int32_t>(i));
}

std::vector<Bytes> live_by_node(const StepMemory& memory, std::span<const StepNode> nodes) {
  if (memory.ops.size() == nodes.size()) return memory.profile.live;
  std::vector<Bytes> live;
  std::vector<std::array<std::int32_t, 2>> position;
  for (std::size_t i = 0; i < memory.ops.size(); ++i) {
    const auto op = static_cast<std::size_t>(memory.ops[i].value);
    if (op >= position.size()) position.resize(op + 1, {-1, -1});
    position[op][memory.passes[i] != Pass::forward ? 1 : 0] = static_cast<std::int32_t>(i);
  }
  for (const StepNode& node : nodes) {
    const auto op = static_cast<std::size_t>(node.op.value);
    const std::int32_t at =
        op < position.size() && node.pass != Pass::update ? position[op][node.pass == Pass::forward ? 0 : 1] : -1;
    live.push_back(at < 0 ? memory.profile.live.back() : memory.profile.live[static_cast<std::size_t>(at)]);
  }
  return live;
}

StepMemory step_memory(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs, const Stack& stack,
                       const FootprintOptions& options) {
  if (stack.memory.plan == MemoryPlan::mxnet) return planned(graph, costs, stack, options);
  if (stack.memory.plan == MemoryPlan::blobs) return kept(graph, nodes, costs, stack, options);
  if (!options.gathers_outputs()) return eager(graph, nodes, costs, stack, options);
  StepMemory first = eager(graph, nodes, costs, stack, options, options.ranks_per_node);
  const StepMemory other = eager(graph, nodes, costs, stack, options, 0);
  std::copy(other.ranks.begin() + 1, other.ranks.end(), first.ranks.begin() + 1);
  first.out_of_memory = first.out_of_memory || other.out_of_memory;
  return first;
}

std::optional<std::vector<RankMemory>> ranks_of(const StepMemory& memory, const OpGraph& graph, const Stack& stack,
                                                const FootprintOptions& options) {
  if (options.zero > 0 || options.gathers_outputs()) return std::nullopt;
  Persistent arrays = persistent_arrays(graph, stack, options);
  if (stack.memory.plan == MemoryPlan::mxnet) round_for_driver(arrays);
  if (const auto capacity = room(arrays, stack, options); capacity && near_end(memory.reserved, *capacity)) return std::nullopt;
  return rank_memories(arrays, stack, options, memory.profile.at_peak, {memory.allocated, memory.reserved, memory.reserved});
}

}  // namespace tbdsim
