#pragma once
#include <array>
#include <span>
#include <vector>

#include "model/memory/planner_mxnet.hpp"

namespace tbdsim {

/// Arrays of one layer of unrolled LSTM cells.
struct CellSizes {
  Bytes input, state;  ///< of one step: what the cell reads, and its hidden or cell state
  Bytes parameters;
  OpId op;
};

/// What the cells of one layer keep for backward: entries of the plan, one for each step.
struct CellSteps {
  std::vector<std::int32_t> input, hidden, cell, cell_tanh;
  std::vector<std::array<std::int32_t, 4>> gates, activations;  ///< input, forget, candidate, output
};

/// Adds the operators of a layer of LSTM cells to `graph`: per step two products and their sum, four slices, four
/// activations, two products and their sum (the cell state), its tanh and the hidden state. `inputs`: entry of each step.
/// Source: apache/mxnet 1.1.0 python/mxnet/rnn/rnn_cell.py.
[[nodiscard]] CellSteps add_cells(PlanGraph& graph, const CellSizes& sizes, std::span<const std::int32_t> inputs);

/// The gradients that a layer's backward operators make.
struct CellGradients {
  std::vector<std::int32_t> input;  ///< of each step
  std::int32_t parameters = -1;     ///< external: stands for all arrays of the layer
};

/// Adds their backward operators, last step first. `hidden`: gradients of the hidden state of each step that come from
/// outside the layer (at least one of every step). The gradients of the parameters are added up in one array for each, which
/// lasts until the first step.
[[nodiscard]] CellGradients add_cells_backward(PlanGraph& graph, const CellSizes& sizes, const CellSteps& steps,
                                               const std::vector<std::vector<std::int32_t>>& hidden);

}  // namespace tbdsim
