#include "model/memory/offloaded_activations.hpp"

#include <algorithm>

#include "model/workload/layer_classes.hpp"

namespace tbdsim {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Nodes of a layer: the last one forward, the first one backward.
struct LayerSpan {
  std::int32_t forward_end = -1, backward_begin = -1;
};

std::vector<LayerSpan> spans(std::span<const StepNode> nodes, const LayerClasses& layers) {
  std::vector<LayerSpan> all(layers.layers());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op.value < 0) continue;
    LayerSpan& own = all[at(layers.layer_of[at(nodes[i].op.value)])];
    const auto node = static_cast<std::int32_t>(i);
    if (nodes[i].pass == Pass::forward)
      own.forward_end = node;
    else if (nodes[i].pass != Pass::update && own.backward_begin < 0)
      own.backward_begin = node;
  }
  return all;
}

/// Events that are put between those of a trace.
struct Inserted {
  std::vector<std::vector<AllocationEvent>> before, after;  ///< all others of a node
};

std::vector<AllocationEvent> merged(const std::vector<AllocationEvent>& events, const Inserted& inserted) {
  std::vector<AllocationEvent> all;
  std::size_t next = 0;
  for (std::size_t node = 0; node < inserted.before.size(); ++node) {
    all.insert(all.end(), inserted.before[node].begin(), inserted.before[node].end());
    for (; next < events.size() && at(events[next].node) <= node; ++next) all.push_back(events[next]);
    all.insert(all.end(), inserted.after[node].begin(), inserted.after[node].end());
  }
  all.insert(all.end(), events.begin() + static_cast<std::ptrdiff_t>(next), events.end());
  return all;
}

}  // namespace

std::vector<Bytes> offload_activations(const OpGraph& graph, std::span<const StepNode> nodes, int layers,
                                       AllocationTrace& trace) {
  const LayerClasses classes = fold_layers(graph);
  const std::vector<LayerSpan> span = spans(nodes, classes);
  std::vector<Bytes> kept(at(layers));
  std::vector<std::int32_t> returned(trace.arrays.size(), -1);
  Inserted inserted{std::vector<std::vector<AllocationEvent>>(nodes.size()),
                    std::vector<std::vector<AllocationEvent>>(nodes.size())};
  const std::size_t arrays = trace.arrays.size();
  for (std::size_t i = 0; i < arrays; ++i) {
    const Lifetime array = trace.arrays[i];
    if (array.part != MemoryPart::feature_maps || array.op.value < 0) continue;
    const std::int32_t layer = classes.layer_of[at(array.op.value)];
    if (layer >= layers) continue;
    const LayerSpan& next = span[at(layer) + 1];
    if (array.birth > next.forward_end || array.death <= next.backward_begin + 1) continue;
    kept[at(layer)] += array.bytes;
    returned[i] = static_cast<std::int32_t>(trace.arrays.size());
    inserted.after[at(next.forward_end)].push_back({static_cast<std::int32_t>(i), next.forward_end, true});
    inserted.before[at(next.backward_begin)].push_back({returned[i], next.backward_begin, false});
    trace.arrays.push_back({array.bytes, array.part, array.op, next.backward_begin, array.death});
    trace.arrays[i].death = next.forward_end + 1;
  }
  for (AllocationEvent& event : trace.events)
    if (event.frees && returned[at(event.array)] >= 0) event.array = returned[at(event.array)];
  trace.events = merged(trace.events, inserted);
  return kept;
}

}  // namespace tbdsim
