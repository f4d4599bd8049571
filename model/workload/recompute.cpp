#include "model/workload/recompute.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "model/workload/attention_ops.hpp"
#include "model/workload/saved_tensors.hpp"

namespace tbdsim {
namespace {

std::size_t index(OpId id) { return static_cast<std::size_t>(id.value); }

bool overwrites(const Op& op) { return op.inplace || info(op.kind).view == ViewRule::always; }

/// For every operator: whether exactly one tensor is still wanted after it, its own, and the next one leaves that alone.
std::vector<bool> narrow_points(const OpGraph& graph) {
  std::vector<int> ends(graph.ops.size() + 1, 0);
  for (const Tensor& tensor : graph.tensors) {
    std::int32_t last = tensor.producer.value;
    for (const OpId consumer : tensor.consumers) last = std::max(last, consumer.value);
    if (last == tensor.producer.value) continue;
    ++ends[index(tensor.producer)];
    --ends[static_cast<std::size_t>(last)];
  }
  std::vector<bool> narrow(graph.ops.size(), false);
  int crossing = 0;
  for (std::size_t i = 0; i + 1 < graph.ops.size(); ++i) {
    crossing += ends[i];
    narrow[i] = crossing == 1 && !overwrites(graph.ops[i + 1]) && graph.ops[i].kind != OpKind::input;
  }
  return narrow;
}

/// Bytes per sample that each operator makes and backward reads.
std::vector<Bytes> saved_by_producer(const OpGraph& graph) {
  const std::vector<SavedByOp> saved = saved_by_ops(graph, SavingRules::autograd_cuda);
  const std::vector<TensorId> storage = storage_of(graph, SavingRules::autograd_cuda);
  std::vector<Bytes> made(graph.ops.size());
  std::vector<bool> counted(graph.tensors.size(), false);
  for (std::size_t i = 0; i < saved.size(); ++i) {
    made[i] += saved[i].extra_per_sample;
    for (const TensorId tensor : saved[i].tensors) {
      const TensorId owner = storage[static_cast<std::size_t>(tensor.value)];
      if (counted[static_cast<std::size_t>(owner.value)]) continue;
      counted[static_cast<std::size_t>(owner.value)] = true;
      made[index(graph.tensor(owner).producer)] += static_cast<double>(elements(graph.tensor(owner).shape)) * Bytes(4.0);
    }
  }
  return made;
}

/// Bytes per sample that are held at once: while a segment runs backward, what its operators keep, and the inputs of the
/// segments up to it (those of later ones have gone).
Bytes kept_bytes(const OpGraph& graph, const std::vector<Bytes>& saved, const std::vector<OpId>& segments) {
  Bytes inputs, largest, inside;
  std::size_t next = 1;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (next < segments.size() && index(segments[next]) == i) {
      inputs += static_cast<double>(elements(graph.output_shape(graph.ops[i - 1]))) * Bytes(4.0);
      inside = Bytes(0.0);
      ++next;
    }
    inside += saved[i];
    largest = std::max(largest, inputs + inside);
  }
  return largest;
}

/// Blocks joined with those before them until each has an attention; a block with the loss stays by itself.
std::vector<OpId> layers_of(const OpGraph& graph, const std::vector<OpId>& blocks) {
  std::vector<OpId> layers{blocks.front()};
  const auto has = [&](std::size_t block, const auto& property) {
    const auto end = block + 1 < blocks.size() ? graph.ops.begin() + blocks[block + 1].value : graph.ops.end();
    return std::any_of(graph.ops.begin() + blocks[block].value, end, property);
  };
  const auto attends = [](const Op& op) { return info(op.kind).multiplies_activations; };
  const auto ends = [](const Op& op) { return is_loss(op.kind); };
  if (std::none_of(graph.ops.begin(), graph.ops.end(), attends)) return blocks;
  for (std::size_t i = 1; i < blocks.size(); ++i)
    if (has(i, attends) || has(i, ends)) layers.push_back(blocks[i]);
  return layers;
}

/// The step under MXNet's mirroring.
TrainingStep with_mirrors(const OpGraph& graph, TrainingStep step) {
  const std::vector<SavedByOp> saved = saved_by_ops(graph, SavingRules::mxnet);
  std::vector<bool> repeated(graph.ops.size(), false);
  std::vector<StepNode> backward;
  backward.reserve(step.backward.size() + step.forward.size());
  const auto repeat = [&](const auto& self, OpId id) -> void {
    if (repeated[index(id)] || !mirrored(graph.op(id))) return;
    repeated[index(id)] = true;
    for (const TensorId input : graph.op(id).inputs) self(self, graph.tensor(input).producer);
    backward.push_back({Pass::forward, id, {}, 0});
  };
  for (const StepNode& node : step.backward) {
    if (node.pass != Pass::gradient_sum) {
      for (const TensorId tensor : saved[index(node.op)].tensors) repeat(repeat, graph.tensor(tensor).producer);
      repeat(repeat, node.op);
    }
    backward.push_back(node);
  }
  step.backward = std::move(backward);
  return step;
}

}  // namespace

bool mirrored(const Op& op) { return info(op.kind).mirrored; }

std::string_view name(Recompute recompute) {
  constexpr std::array<std::string_view, 7> kNames{"none", "selective", "selective", "block", "layer", "full", "mirror"};
  return kNames[static_cast<std::size_t>(recompute)];
}

std::vector<bool> selected_again(const OpGraph& graph, Recompute recompute) {
  std::vector<bool> again(graph.ops.size(), false);
  const std::vector<OpId> layers = recompute_segments(graph, Recompute::layer);
  if (recompute == Recompute::attention) again = attention_ops(graph);
  if (recompute == Recompute::operators) {
    bool kept = false;
    std::size_t next = 1;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const Op& op = graph.ops[i];
      if (next < layers.size() && index(layers[next]) == i) {
        kept = false;  // each layer counts its products anew
        ++next;
      }
      const OpFamily family = info(op.kind).family;
      if (family == OpFamily::gemm) kept = !kept;
      const auto* moved = std::get_if<CollectiveAttributes>(&op.attributes);
      const bool sums = moved != nullptr && moved->forward != CollectiveKind::all_gather;
      again[i] = op.kind != OpKind::input && family != OpFamily::attention && !sums && !(family == OpFamily::gemm && kept);
    }
  }
  const OpId head = layers.back();
  if (is_loss(graph.ops.back().kind)) std::fill(again.begin() + head.value, again.end(), false);
  return again;
}

std::vector<OpId> recompute_segments(const OpGraph& graph, Recompute recompute) {
  std::vector<OpId> blocks{OpId{0}};
  if (recompute == Recompute::none) return blocks;
  const std::vector<bool> narrow = narrow_points(graph);
  bool branches = false;
  for (std::size_t i = 1; i + 1 < graph.ops.size(); ++i) {
    branches |= graph.ops[i].kind == OpKind::add || graph.ops[i].kind == OpKind::concat;
    if (!narrow[i] || !(branches || graph.ops[i].kind == OpKind::pool)) continue;
    blocks.push_back(OpId{static_cast<std::int32_t>(i) + 1});
    branches = false;
  }
  if (recompute == Recompute::block) return blocks;
  if (recompute == Recompute::layer) return layers_of(graph, blocks);
  std::vector<OpId> best = blocks;
  const std::vector<Bytes> saved = saved_by_producer(graph);
  Bytes least = kept_bytes(graph, saved, blocks);
  for (std::size_t size = 2; size < blocks.size(); ++size) {
    std::vector<OpId> groups;
    for (std::size_t i = 0; i < blocks.size(); i += size) groups.push_back(blocks[i]);
    const Bytes kept = kept_bytes(graph, saved, groups);
    if (kept >= least) continue;
    least = kept;
    best = std::move(groups);
  }
  return best;
}

std::vector<bool> repeated_of_segments(const OpGraph& graph, Repetition repetition) {
  std::vector<bool> repeated(graph.ops.size(), true);
  if (!repetition.stops) return repeated;
  const std::vector<SavedByOp> saved = saved_by_ops(graph, SavingRules::autograd_cuda);
  std::vector<OpId> segments = recompute_segments(graph, repetition.what);
  segments.push_back(OpId{static_cast<std::int32_t>(graph.ops.size())});
  for (std::size_t segment = 0; segment + 1 < segments.size(); ++segment) {
    for (std::size_t op = index(segments[segment + 1]); op-- > index(segments[segment]);) {
      const SavedByOp& kept = saved[op];
      const TensorId own = graph.ops[op].output;
      const bool makes = kept.extra_per_sample > Bytes(0.0) || kept.extra_fixed > Bytes(0.0) ||
                         std::find(kept.tensors.begin(), kept.tensors.end(), own) != kept.tensors.end();
      if (makes) break;
      repeated[op] = false;
      if (!kept.tensors.empty()) break;
    }
  }
  return repeated;
}

TrainingStep with_recompute(const OpGraph& graph, TrainingStep step, Repetition repetition, bool all) {
  const Recompute recompute = repetition.what;
  if (recompute == Recompute::none) return step;
  if (recompute == Recompute::mirror) return with_mirrors(graph, std::move(step));
  const bool selects = recompute == Recompute::attention || recompute == Recompute::operators;
  const std::vector<bool> selected = selects ? selected_again(graph, recompute) : repeated_of_segments(graph, repetition);
  std::vector<OpId> segments = recompute_segments(graph, selects ? Recompute::layer : recompute);
  if (all) segments.push_back(OpId{static_cast<std::int32_t>(graph.ops.size())});
  std::vector<StepNode> backward;
  backward.reserve(step.backward.size() + step.forward.size());
  // Nodes of backward come in falling order of operators: the segment of the last one needs no second pass.
  std::size_t segment = segments.size() - 1;
  for (const StepNode& node : step.backward) {
    while (segment > 0 && node.op < segments[segment]) {
      --segment;
      std::copy_if(step.forward.begin(), step.forward.end(), std::back_inserter(backward), [&](const StepNode& again) {
        return selected[index(again.op)] && !(again.op < segments[segment]) && again.op < segments[segment + 1];
      });
    }
    backward.push_back(node);
  }
  step.backward = std::move(backward);
  return step;
}

}  // namespace tbdsim
