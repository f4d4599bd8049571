#include "model/memory/mxnet_cells.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

constexpr std::int32_t kNone = -1;

/// Adds operators of one layer.
class Cells {
 public:
  Cells(PlanGraph& graph, const CellSizes& sizes, bool backward) : graph_(graph), sizes_(sizes), backward_(backward) {}

  /// Returns the first of `outputs`; inputs that do not exist (a state before the first step) are left out.
  std::int32_t add(std::initializer_list<std::int32_t> inputs, std::initializer_list<Bytes> outputs,
                   std::vector<InplacePair> inplace = {}) {
    PlanNode node;
    node.op = sizes_.op;
    node.backward = backward_;
    for (const std::int32_t input : inputs)
      if (input != kNone) node.inputs.push_back(input);
    if (node.inputs.size() == inputs.size()) node.inplace = std::move(inplace);
    std::vector<PlanEntry> made;
    for (const Bytes bytes : outputs)
      made.push_back({bytes, backward_ ? MemoryPart::dynamic : MemoryPart::feature_maps, sizes_.op, false});
    return graph_.add(std::move(node), made);
  }

  /// The sum of one or more gradients of a state.
  std::int32_t sum(const std::vector<std::int32_t>& parts) {
    if (parts.size() == 1) return parts.front();
    PlanNode node;
    node.op = sizes_.op;
    node.backward = backward_;
    node.inputs = parts;
    node.inplace = {{0, 0}};
    const PlanEntry made{sizes_.state, MemoryPart::dynamic, sizes_.op, false};
    return graph_.add(std::move(node), {&made, 1});
  }

 private:
  PlanGraph& graph_;
  const CellSizes& sizes_;
  bool backward_;
};

}  // namespace

CellSteps add_cells(PlanGraph& graph, const CellSizes& sizes, std::span<const std::int32_t> inputs) {
  Cells cells(graph, sizes, false);
  const Bytes state = sizes.state, gates = 4.0 * state;
  CellSteps steps;
  std::int32_t hidden = kNone, cell = kNone;
  for (const std::int32_t input : inputs) {
    const std::int32_t from_input = cells.add({input}, {gates}), from_hidden = cells.add({hidden}, {gates});
    const std::int32_t sum = cells.add({from_input, from_hidden}, {gates}, {{0, 0}, {1, 0}});
    const std::int32_t slices = cells.add({sum}, {state, state, state, state});
    std::array<std::int32_t, 4> gate{}, active{};
    for (std::int32_t i = 0; i < 4; ++i) {
      gate[static_cast<std::size_t>(i)] = slices + i;
      active[static_cast<std::size_t>(i)] = cells.add({slices + i}, {state}, {{0, 0}});
    }
    const std::int32_t kept = cells.add({active[1], cell}, {state}, {{0, 0}, {1, 0}});
    const std::int32_t taken = cells.add({active[0], active[2]}, {state}, {{0, 0}, {1, 0}});
    cell = cells.add({kept, taken}, {state}, {{0, 0}, {1, 0}});
    const std::int32_t cell_tanh = cells.add({cell}, {state}, {{0, 0}});
    hidden = cells.add({active[3], cell_tanh}, {state}, {{0, 0}, {1, 0}});
    steps.input.push_back(input);
    steps.hidden.push_back(hidden);
    steps.cell.push_back(cell);
    steps.cell_tanh.push_back(cell_tanh);
    steps.gates.push_back(gate);
    steps.activations.push_back(active);
  }
  return steps;
}

CellGradients add_cells_backward(PlanGraph& graph, const CellSizes& sizes, const CellSteps& steps,
                                 const std::vector<std::vector<std::int32_t>>& hidden) {
  Cells cells(graph, sizes, true);
  const Bytes state = sizes.state, gates = 4.0 * state;
  CellGradients result;
  result.input.assign(steps.hidden.size(), kNone);
  std::int32_t from_later = kNone, cell_from_later = kNone, parameters = kNone;
  for (std::size_t t = steps.hidden.size(); t-- > 0;) {
    const auto& active = steps.activations[t];
    const std::int32_t earlier = t > 0 ? steps.hidden[t - 1] : kNone, earlier_cell = t > 0 ? steps.cell[t - 1] : kNone;
    std::vector<std::int32_t> parts = hidden[t];
    if (from_later != kNone) parts.push_back(from_later);
    // Of a product the second gradient may replace the incoming one; of an activation the only one.
    const std::int32_t product = cells.add({cells.sum(parts), active[3], steps.cell_tanh[t]}, {state, state}, {{0, 1}});
    std::vector<std::int32_t> cell_parts{cells.add({product + 1, steps.cell_tanh[t], steps.cell[t]}, {state}, {{0, 0}})};
    if (cell_from_later != kNone) cell_parts.push_back(cell_from_later);
    const std::int32_t cell = cells.sum(cell_parts);
    const std::int32_t kept = cells.add({cell, active[1], earlier_cell}, {state, state}, {{0, 1}});
    const std::int32_t taken = cells.add({cell, active[0], active[2]}, {state, state}, {{0, 1}});
    const std::array<std::int32_t, 4> outer{taken, kept, taken + 1, product};
    std::array<std::int32_t, 4> inner{};
    for (std::size_t i = 0; i < 4; ++i) inner[i] = cells.add({outer[i], active[i], steps.gates[t][i]}, {state}, {{0, 0}});
    const std::int32_t joined = cells.add({inner[0], inner[1], inner[2], inner[3]}, {gates});
    const std::int32_t both = cells.add({joined}, {gates, gates}, {{0, 0, true}});
    if (t + 1 == steps.hidden.size()) {
      parameters = cells.add({both, steps.input[t]}, {sizes.input, sizes.parameters}, {{1, 0}}) + 1;
      result.input[t] = parameters - 1;
    } else {
      result.input[t] = cells.add({both, steps.input[t]}, {sizes.input}, {{1, 0}});
    }
    from_later = cells.add({both + 1, earlier}, {state}, {{1, 0}});
    cell_from_later = kept + 1;
  }
  const PlanEntry total{Bytes(0.0), MemoryPart::gradients, sizes.op, true};
  PlanNode last;
  last.op = sizes.op;
  last.backward = true;
  last.inputs = {parameters, from_later};
  result.parameters = graph.add(std::move(last), {&total, 1});
  return result;
}

}  // namespace tbdsim
