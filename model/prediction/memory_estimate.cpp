#include "model/prediction/memory_estimate.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/cost/uncertainty.hpp"
#include "model/memory/region_changes.hpp"
#include "model/prediction/data_exchange.hpp"
#include "model/prediction/optimizer_state.hpp"
#include "model/units/format.hpp"
#include "model/workload/array_owners.hpp"
#include "model/workload/expert_arrays.hpp"

namespace tbdsim {

namespace {

/// Arrays per parameter that TensorFlow makes for the update while forward still runs: its executor starts whatever has its
/// inputs. Source: tensorflow/core/common_runtime/executor.cc.
int early_arrays(const Stack& stack, const Optimizer& optimizer) {
  return stack.memory.plan == MemoryPlan::bfc ? optimizer.gradient_free_arrays : 0;
}

FootprintOptions footprint_options(const Configuration& configuration) {
  const bool half = is_narrow(configuration.precision);
  FootprintOptions options;
  options.batch = configuration.batch;
  options.element = half ? Bytes(2.0) : Bytes(4.0);
  options.update_arrays = configuration.optimizer.makes_arrays ? configuration.stack.memory.adam_arrays : 0.0;
  options.early_arrays = early_arrays(configuration.stack, configuration.optimizer);
  const OptimizerState state = optimizer_state(configuration);
  options.master_weights = state.master;
  options.ranks = configuration.gpus;
  options.ranks_per_node = static_cast<int>(configuration.devices.size());
  options.exchange = configuration.exchange;
  options.zero = configuration.sharding();
  options.resident_samples = configuration.device_samples;
  options.accumulates = configuration.accumulate > 1;
  options.mirrors = configuration.recompute == Recompute::mirror;
  options.capacity = usable_capacity(configuration.hardware().device);
  options.optimizer_states = state.arrays * (state.element / options.update_element());
  // Masters beside 16-bit weights are the training loop's own; autocast has no part in it.
  const bool own_masters = configuration.stack.parallel.weights.masters && is_whole_16_bit(configuration.precision);
  const bool narrow_sums = own_masters && !configuration.stack.parallel.gradients.wide;
  options.half_gradients = options.master_weights && (configuration.stack.exchange.amp_16_bit || narrow_sums);
  options.autocast = options.master_weights && configuration.stack.features.casts_weights && !options.half_gradients &&
                     !configuration.stack.operators.amp.all_16_bit && !own_masters;
  if (configuration.by_layers()) options.ranks = shard_ranks(configuration).dense;
  options.expert_ranks = options.ranks;
  options.casts_shards = configuration.stack.parallel.weights.casts_shards;
  options.gathers_layers = configuration.by_layers();
  options.keeps_layers = configuration.gathers_by_layer() && configuration.sharding() == 2;
  // Stages of a pipeline that are divided layer by layer keep whole gradients, but reduce them one layer after the other.
  // Source: pytorch/pytorch, torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py (foreach_reduce).
  options.reduces_layers = configuration.stack.parallel.shards.units && configuration.gathers_by_layer();
  options.host_states = configuration.offload.states;
  options.host_weights = configuration.offload.weights;
  options.host_layers = configuration.offload.layers;
  if (const auto memory = configuration.hardware().host.memory_capacity; memory && configuration.offload.any())
    options.host_room = (1.0 / static_cast<double>(configuration.devices.size())) * *memory;
  // Gradients of a 16-bit copy of the weights are widened for the update.
  if (options.half_gradients) options.update_arrays = std::max(options.update_arrays, 1.0);
  return options;
}

/// Where ranks own whole arrays, the first of them owns most.
void set_owner(const Configuration& configuration, const OpGraph& graph, FootprintOptions& options) {
  if (!configuration.by_layers() || !configuration.stack.parallel.update.broadcasts || options.ranks == 1) return;
  ArraySizes sizes;
  double all = 0.0;
  for (const Parameter& parameter : graph.parameters) {
    if (is_of_experts(graph, parameter)) continue;
    const auto count = static_cast<double>(elements(parameter.shape));
    sizes.add(count);
    all += count;
  }
  if (all > 0.0) options.owner_share = array_owners(sizes, options.ranks).front() / all;
}

}  // namespace

StepMemory estimate_memory(const Configuration& configuration, const OpGraph& graph, std::span<const StepNode> nodes,
                           std::span<const NodeCost> costs, const PartOfNetwork& place) {
  FootprintOptions options = footprint_options(configuration);
  const ShardRanks shards = shard_ranks(configuration);
  options.ranks = shards.dense;
  options.expert_ranks = shards.experts;
  options.ranks_per_node = std::min(options.ranks, options.ranks_per_node);
  options.in_flight = place.in_flight;
  options.received = place.received;
  if (!place.sample) set_owner(configuration, graph, options);
  return step_memory(graph, nodes, costs, configuration.stack, options);
}

StepMemory estimate_memory(const Configuration& configuration, std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                           const StepMemory* known) {
  FootprintOptions options = footprint_options(configuration);
  const OpGraph& graph = configuration.network_graph().graph;
  set_owner(configuration, graph, options);
  if (known != nullptr) {
    if (auto ranks = ranks_of(*known, graph, configuration.stack, options)) {
      StepMemory memory = *known;
      memory.ranks = std::move(*ranks);
      memory.out_of_memory = false;
      return memory;
    }
  }
  return step_memory(graph, nodes, costs, configuration.stack, options);
}

bool lends_memory(const Configuration& configuration) { return !footprint_options(configuration).gathers_outputs(); }

void tell_live_memory(const LoweredStep& step, const StepMemory& memory, std::int32_t rank, Prediction& prediction) {
  const std::vector<Bytes> live = live_by_node(memory, step.nodes);
  std::size_t kernel = 0;
  for (const StepTask& task : step.tasks) {
    if (task.iteration + 1 != step.iterations || task.work != Work::kernel || task.rank != rank) continue;
    prediction.detail.kernels[kernel++].live = live[static_cast<std::size_t>(task.node)];
  }
}

Bytes usable_capacity(const Device& device) { return device.memory_reported.value_or(device.memory_capacity); }

namespace {

/// Standard deviation of ln context. MXNet's is fitted to published memory before training, whose residuals scatter so;
/// elsewhere it is assumed: drivers and library versions differ by 0.1 to 0.2 GB.
double context_spread(const Stack& stack) { return stack.memory.plan == MemoryPlan::mxnet ? 0.02 : 0.2; }

constexpr double kMapSpread = 0.03, kWorkspaceSpread = 0.5;

/// How far what an allocator holds whose regions double may be from what is predicted, since the arrays' own sizes are in doubt:
/// a little more than a region holds takes another one, twice as large.
struct RegionDoubt {
  Bytes less, more;  ///< neither is negative
};
RegionDoubt region_doubt(const StepMemory& memory) {
  RegionDoubt result;
  if (memory.events.empty()) return result;
  constexpr int kWorlds = 6;
  for (const Bytes change : region_changes(memory, {kCentral80 * kMapSpread, kCentral80 * kWorkspaceSpread}, kWorlds)) {
    result.less = std::max(result.less, -change);
    result.more = std::max(result.more, change);
  }
  return result;
}

/// What PyTorch's allocator may hold less, as the holes between its arrays are not there when arrays of the next batch fill them:
/// logits of seven sentences are a little smaller than the gradient of their weights and leave their blocks to nobody, those of
/// eight are as large. Fitted: of ten falls above 5 % from one batch to the next (27 networks, batches 1 to 17, fp32 and amp)
/// nine take no larger part of the slack.
Bytes closing_holes(const RankMemory& rank, const Stack& stack) {
  constexpr double kClosing = 0.8;
  return stack.memory.plan == MemoryPlan::caching_allocator ? kClosing * rank.parts[MemoryPart::slack] : Bytes(0.0);
}

}  // namespace

double memory_spread(const RankMemory& rank, const Stack& stack) {
  const auto part = [&](MemoryPart p, double share) { return share * rank.parts[p].base(); };
  const double maps = kMapSpread * (rank.parts[MemoryPart::feature_maps] + rank.parts[MemoryPart::dynamic]).base();
  double squares = maps * maps;
  for (const auto& [p, share] : {std::pair{MemoryPart::workspace, kWorkspaceSpread},
                                 {MemoryPart::context, context_spread(stack)},
                                 {MemoryPart::slack, 0.4},
                                 {MemoryPart::exchange, 0.2}})
    squares += part(p, share) * part(p, share);
  return std::sqrt(squares) / rank.peak.base();
}

double need_spread(const RankMemory& rank, const Stack& stack) {
  RankMemory least = rank;
  const Bytes beyond_slack = rank.peak - rank.needed - rank.parts[MemoryPart::slack];
  Bytes& workspace = least.parts[MemoryPart::workspace];
  workspace -= std::clamp(beyond_slack, Bytes(0.0), workspace);
  least.peak = rank.needed;
  return memory_spread(least, stack);
}

bool fits_host(const RankMemory& rank) { return !rank.host_room || rank.host <= *rank.host_room; }

bool fits(const RankMemory& rank, Bytes capacity) { return rank.needed <= capacity && fits_host(rank); }

bool fits(const StepMemory& memory, Bytes capacity) {
  return std::all_of(memory.ranks.begin(), memory.ranks.end(), [&](const RankMemory& rank) { return fits(rank, capacity); });
}

double probability_of_fitting(const RankMemory& rank, const Stack& stack, Bytes capacity) {
  const double deviations = std::log(capacity / rank.needed) / need_spread(rank, stack);
  return 0.5 * std::erfc(-deviations / std::numbers::sqrt2);
}

std::string reduced_workspaces(const StepMemory& memory) {
  if (memory.reduced == 0 || memory.out_of_memory) return {};
  return fmt::format(
      "{} {} no memory for the scratch arrays of {} fastest algorithm and {} {} slower one; the step then takes {} longer, which "
      "its time leaves out",
      memory.reduced, memory.reduced == 1 ? "convolution pass has" : "convolution passes have",
      memory.reduced == 1 ? "its" : "their", memory.reduced == 1 ? "runs" : "run", memory.reduced == 1 ? "a" : "each a",
      format(memory.longer));
}

namespace {

/// What the ranks of a node keep in its host's memory, each as much as the one that keeps most.
std::optional<HostMemory> host_memory(const Configuration& configuration, const StepMemory& memory) {
  if (!configuration.offload.any()) return std::nullopt;
  Bytes most(0.0);
  for (const RankMemory& rank : memory.ranks) most = std::max(most, rank.host);
  const Host& host = configuration.hardware().host;
  const Bytes needed = static_cast<double>(configuration.devices.size()) * most;
  return HostMemory{needed, most, host.memory_capacity, !host.memory_capacity || needed <= *host.memory_capacity};
}

}  // namespace

MemoryVerdict memory_verdict(const Configuration& configuration, const StepMemory& memory, bool replays) {
  MemoryVerdict verdict;
  verdict.capacity = usable_capacity(configuration.hardware().device);
  verdict.sold = configuration.hardware().device.memory_capacity;
  const std::size_t local = configuration.devices.size();
  const bool divided = configuration.divided();
  const RegionDoubt regions = replays ? region_doubt(memory) : RegionDoubt{};
  verdict.fits = fits(memory, verdict.capacity);
  verdict.host = host_memory(configuration, memory);
  for (std::size_t i = 0; i < memory.ranks.size(); ++i) {
    const RankMemory& rank = memory.ranks[i];
    GpuMemory gpu;
    // Stages differ from node to node, so those of all nodes are told, counted through; of Megatron's the first GPU.
    const int first = static_cast<int>(i) * (divided ? configuration.gpus / configuration.layout.pipeline : 1);
    gpu.gpu = divided || memory.ranks.size() > local ? first : configuration.devices[i];
    if (configuration.layout.pipeline > 1) gpu.stage = static_cast<int>(i);
    gpu.parts = rank.parts;
    gpu.stored = rank.stored;
    gpu.pre_training = rank.pre_training;
    gpu.allocated = rank.allocated;
    gpu.reserved = rank.reserved;
    gpu.peak = rank.peak;
    const Stack& stack = configuration.stack;
    const double factor = std::exp(kCentral80 * memory_spread(rank, stack));
    gpu.low = std::min({rank.peak / factor, rank.peak - regions.less, rank.peak - closing_holes(rank, stack)});
    gpu.high = std::max(rank.peak * factor, rank.peak + regions.more);
    // Before the first step only the context is uncertain.
    const double before = std::exp(kCentral80 * context_spread(stack) * (stack.memory.context / rank.pre_training));
    gpu.pre_training_low = rank.pre_training / before;
    gpu.pre_training_high = rank.pre_training * before;
    gpu.probability = probability_of_fitting(rank, stack, verdict.capacity);
    verdict.gpus.push_back(gpu);
  }
  return verdict;
}

}  // namespace tbdsim
