#include "model/memory/stage_memory.hpp"

#include <algorithm>
#include <utility>

#include "model/memory/replay.hpp"

namespace tbdsim {
namespace {

std::size_t at(OpId id) { return static_cast<std::size_t>(id.value); }

/// What a stage holds of the whole network's step.
struct StageArrays {
  std::vector<Lifetime> arrays;  ///< of one micro-batch
  std::vector<Lifetime> stays;   ///< throughout: weights and the like, and what the other micro-batches keep
  Bytes first_input{0.0};        ///< of stays: the network's own input, of one micro-batch
  Bytes weights;                 ///< of stays
};

/// Numbers of a sample that operators of `stage` read and others make.
double received(const OpGraph& graph, const PipelineMemory& pipeline, std::int32_t stage) {
  double count = 0.0;
  for (const Tensor& tensor : graph.tensors) {
    if (pipeline.stage_of[at(tensor.producer)] == stage) continue;
    const bool read = std::any_of(tensor.consumers.begin(), tensor.consumers.end(),
                                  [&](OpId reader) { return pipeline.stage_of[at(reader)] == stage; });
    if (read) count += static_cast<double>(elements(tensor.shape));
  }
  return count;
}

StageArrays arrays_of(const StepMemory& whole, const OpGraph& graph, const FootprintOptions& options,
                      const PipelineMemory& pipeline, std::int32_t stage) {
  StageArrays result;
  const auto positions = static_cast<std::int32_t>(whole.ops.size());
  const auto turn = static_cast<std::int32_t>(
      std::find_if(whole.passes.begin(), whole.passes.end(), [](Pass p) { return p != Pass::forward; }) - whole.passes.begin());
  const auto others = static_cast<double>(pipeline.in_flight - 1);
  for (const Lifetime& array : whole.arrays) {
    if (array.op.value >= 0 && pipeline.stage_of[at(array.op)] != stage) continue;
    const bool always = array.birth == 0 && array.death == positions && array.part != MemoryPart::feature_maps;
    (always ? result.stays : result.arrays).push_back(array);
    if (always && array.part == MemoryPart::input) result.first_input += array.bytes;
    if (always && array.part == MemoryPart::weights) result.weights += array.bytes;
    const bool waits = always ? array.part == MemoryPart::input : array.birth < turn && array.death > turn;
    if (waits && others > 0.0) result.stays.push_back({others * array.bytes, array.part, array.op, 0, positions});
  }
  const double arriving = received(graph, pipeline, stage);
  if (arriving > 0.0)
    result.stays.push_back(
        {options.batch * pipeline.in_flight * arriving * options.element, MemoryPart::input, OpId{}, 0, positions});
  return result;
}

/// Requests and releases in the order of the step: a node asks before it gives back.
AllocationTrace trace_of(const std::vector<Lifetime>& arrays, std::int32_t positions) {
  AllocationTrace trace{arrays, {}};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto array = static_cast<std::int32_t>(i);
    trace.events.push_back({array, arrays[i].birth, false});
    if (arrays[i].death < positions) trace.events.push_back({array, arrays[i].death - 1, true});
  }
  std::stable_sort(trace.events.begin(), trace.events.end(), [](const AllocationEvent& a, const AllocationEvent& b) {
    return std::pair(a.node, a.frees) < std::pair(b.node, b.frees);
  });
  return trace;
}

/// Sets what the allocator holds for the arrays of one stage.
void hold(const StageArrays& stage, const StepMemory& whole, const Stack& stack, StepMemory& memory) {
  const auto positions = static_cast<std::int32_t>(whole.ops.size());
  memory.lower_bound = memory.profile.at_peak.total();
  if (!allocates_as_it_runs(stack)) {
    memory.allocated = memory.lower_bound * (whole.allocated / whole.lower_bound);
    memory.reserved = memory.lower_bound * (whole.reserved / whole.lower_bound);
    return;
  }
  std::vector<Bytes> stays;
  for (const Lifetime& array : stage.stays) stays.push_back(array.bytes);
  const Replay played = replay(trace_of(stage.arrays, positions), stays, {}, positions, stack.memory.plan, std::nullopt);
  memory.allocated = played.allocated;
  memory.reserved = std::max(played.reserved, memory.lower_bound);
}

RankMemory rank_of(const StepMemory& memory, const StageArrays& arrays, const OpGraph& graph, const Stack& stack,
                   const FootprintOptions& options, const PipelineMemory& pipeline, std::int32_t stage) {
  double parameters = 0.0;
  for (const Parameter& parameter : graph.parameters)
    if (pipeline.stage_of[at(parameter.op)] == stage) parameters += static_cast<double>(elements(parameter.shape));
  const Bytes state = options.optimizer_states * parameters * options.update_element();
  RankMemory rank;
  rank.parts = memory.profile.at_peak;
  rank.parts[MemoryPart::optimizer_state] += state;
  rank.parts[MemoryPart::context] = stack.memory.context + stack.memory.training_start;
  rank.parts[MemoryPart::slack] = memory.reserved - memory.lower_bound;
  rank.allocated = memory.allocated + state;
  rank.reserved = memory.reserved + state;
  rank.peak = rank.needed = rank.reserved + rank.parts[MemoryPart::context];
  rank.pre_training = stack.memory.context + arrays.weights + arrays.first_input;
  if (stack.features.gradients_from_start) rank.pre_training += parameters * options.gradient_element();
  return rank;
}

}  // namespace

StepMemory pipeline_memory(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                           const Stack& stack, const FootprintOptions& options, const PipelineMemory& pipeline) {
  const StepMemory whole = step_memory(graph, nodes, costs, stack, options);
  StepMemory fullest;
  std::vector<RankMemory> ranks;
  std::size_t most = 0;
  for (std::int32_t s = 0; s < pipeline.stages; ++s) {
    const StageArrays stage = arrays_of(whole, graph, options, pipeline, s);
    StepMemory memory;
    memory.arrays = stage.arrays;
    memory.arrays.insert(memory.arrays.end(), stage.stays.begin(), stage.stays.end());
    count_lifetimes(memory, static_cast<std::int32_t>(whole.ops.size()));
    hold(stage, whole, stack, memory);
    ranks.push_back(rank_of(memory, stage, graph, stack, options, pipeline, s));
    if (ranks.size() > 1 && ranks.back().peak <= ranks[most].peak) continue;
    most = ranks.size() - 1;
    fullest = std::move(memory);
  }
  fullest.ops = whole.ops;
  fullest.passes = whole.passes;
  fullest.ranks = std::move(ranks);
  return fullest;
}

}  // namespace tbdsim
