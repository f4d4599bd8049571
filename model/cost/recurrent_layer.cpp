#include "model/cost/recurrent_layer.hpp"

#include <cstdint>

#include "model/cost/memory_bound.hpp"
#include "model/hardware/device.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

/// What one step of a framework's own cell runs beside its products with input and state. Elements moved are in units of
/// batch x hidden. Counted in apache/mxnet 0.12 python/mxnet/rnn/rnn_cell.py; every operator reads its operands and writes
/// its result, a bias is added in place, a slice copies each of its parts.
struct CellOperators {
  double operators, forward_kernels, forward_elements, backward_kernels, backward_elements;
};

CellOperators cell_operators(OpKind cell) {
  switch (cell) {
    case OpKind::lstm:
      // Two products with bias, add, slice, three sigmoids, two tanh, three products of gates, one sum.
      return {12, 18, 58, 26, 52};
    case OpKind::gru:
      // Two products with bias, two slices, two sums and sigmoids, gate, sum, tanh, and the mean of old and new state.
      return {14, 21, 53, 30, 55};
    default:
      // Two products with bias, sum, tanh.
      return {4, 6, 9, 7, 8};
  }
}

/// One layer in one direction.
struct Part {
  RecurrentShape shape;
  double input;
  bool input_gradient;
};

KernelTimeModel product(const GemmShape& shape, const RecurrentMeans& means) {
  return gemm_time(shape, means.element, means.tiles, means.products);
}

KernelTimeModel chain(const RecurrentShape& shape, RecurrentPass pass, const RecurrentMeans& means, bool persistent) {
  return persistent ? persistent_recurrent_time(shape, pass, means.element, means.products)
                    : recurrent_time(shape, pass, means.element, means.constants, means.steps);
}

void add_library(const Part& part, bool backward, const RecurrentMeans& means, bool persistent, KernelTimeModel& sum) {
  const RecurrentShape& s = part.shape;
  const double rows = s.batch * s.steps, gates = s.gates * s.hidden;
  if (!backward) {
    append(sum, product({rows, gates, part.input}, means));
    append(sum, chain(s, RecurrentPass::forward, means, persistent));
    return;
  }
  append(sum, chain(s, RecurrentPass::backward_data, means, persistent));
  append(sum, recurrent_time(s, RecurrentPass::backward_weights, means.element, means.constants, means.steps));
  append(sum, product({gates, part.input, rows}, means));
  if (part.input_gradient) append(sum, product({rows, part.input, gates}, means));
}

void add_cells(const Part& part, bool backward, const CellOperators& cell, const RecurrentMeans& means, KernelTimeModel& sum) {
  const RecurrentShape& s = part.shape;
  const double gates = s.gates * s.hidden;
  KernelTimeModel step;
  step.kernels = 0;
  double kernels = backward ? cell.backward_kernels : cell.forward_kernels;
  if (!backward) {
    append(step, product({s.batch, gates, part.input}, means));
    append(step, product({s.batch, gates, s.hidden}, means));
    kernels -= 2;
  } else {
    if (part.input_gradient) append(step, product({s.batch, part.input, gates}, means));
    append(step, product({s.batch, s.hidden, gates}, means));
    append(step, product({gates, part.input, s.batch}, means));
    append(step, product({gates, s.hidden, s.batch}, means));
    kernels -= part.input_gradient ? 4 : 3;
    // Each step adds to the gradients of the weights: read once more.
    const Bytes weights = gates * (part.input + s.hidden) * means.element;
    step.time += weights / means.products.bandwidth;
    step.bytes += weights;
  }
  const double elements = (backward ? cell.backward_elements : cell.forward_elements) * s.batch * s.hidden;
  append(step, repeated(memory_bound_time(elements / kernels * means.element, 1.0, means.pointwise), kernels));
  append(sum, repeated(step, s.steps));
}

}  // namespace

PersistentRule persistent_rule(const Architecture& chip, int multiprocessors, const std::string& cuda) {
  constexpr int kFewest = 98, kFirstRelease = 111;
  if (chip.persistent != PersistentRule::ampere) return chip.persistent;
  return multiprocessors >= kFewest && capability_number(cuda) >= kFirstRelease ? PersistentRule::ampere : PersistentRule::never;
}

bool persists(const RecurrentLayer& layer, PersistentRule rule) {
  const auto multiple = [](double size, int of) { return static_cast<std::int64_t>(size) % of == 0; };
  if (rule == PersistentRule::never || layer.layers != 1 || layer.directions != 1) return false;
  if (layer.hidden > 1024.0 || !multiple(layer.hidden, 128) || !multiple(layer.input, 128)) return false;
  const double b = layer.batch, steps = layer.steps;
  if (rule == PersistentRule::volta) {
    const bool fast = (multiple(b, 16) && b != 80.0 && b != 112.0) || b == 8.0;
    return fast && ((steps >= 40.0 && b <= 128.0) || (steps >= 20.0 && b <= 96.0) || (steps >= 10.0 && b <= 32.0));
  }
  if (layer.cell == OpKind::gru || !multiple(b, 8) || b > 128.0) return false;
  return layer.cell == OpKind::lstm || b < 96.0 || layer.hidden < 896.0;
}

RecurrentLayerTime recurrent_layer_time(const RecurrentLayer& layer, bool backward, const RecurrentMeans& means) {
  RecurrentLayerTime result;
  result.kernel.kernels = 0;
  const bool cells = means.kernels == RecurrentKernels::cells;
  const bool persistent = persists(layer, means.persistent);
  const CellOperators cell = cell_operators(layer.cell);
  for (int i = 0; i < layer.layers * layer.directions; ++i) {
    const bool first = i < layer.directions;
    const RecurrentShape shape{static_cast<double>(gates(layer.cell)), layer.hidden, layer.batch, layer.steps};
    const Part part{shape, first ? layer.input : layer.hidden * layer.directions, !first || layer.input_gradient};
    if (cells)
      add_cells(part, backward, cell, means, result.kernel);
    else
      add_library(part, backward, means, persistent, result.kernel);
  }
  if (cells) result.operators = cell.operators * layer.steps * layer.layers * layer.directions;
  return result;
}

}  // namespace tbdsim
