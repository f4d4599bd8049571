// An invented board, stack and network, for tests whose expectations are the cost model's own formulas.
#pragma once
#include "model/cost/kernel_model.hpp"
#include "model/workload/graph_builder.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

namespace tbdsim::invented {

/// Shares of 1 everywhere, so rates are the description's.
inline FamilyParameters ideal(const char* family, const char* precision) {
  return {family, precision, 1.0, 1.0, Seconds(5e-6), 0.1, 10, "fitted: a test"};
}

inline Device board() {
  Device d;
  d.id = "board";
  d.name = "Tesla B";
  name_architecture(d, "Volta");
  d.multiprocessors = 80;
  d.fp32_lanes = 64;
  d.peak.fp32 = FlopPerSecond(12.8e12);
  d.peak.fp16_tensor = FlopPerSecond(100e12);
  d.memory_bandwidth = BytesPerSecond(600e9);
  d.memory_kind = "HBM2";
  for (const auto* precision : {"fp32", "fp16"}) {
    d.calibration.families.push_back(ideal("gemm", precision));
    d.calibration.families.push_back(ideal("convolution", precision));
  }
  d.calibration.families.push_back(ideal("memory_bound", "fp32"));
  return d;
}

inline Stack stack() {
  using A = ConvolutionAlgorithm;
  Stack s;
  s.id = "stack";
  s.file = "stack.toml";
  s.convolution.generation = "lib";
  for (auto* pass : {&s.convolution.forward, &s.convolution.backward_data})
    *pass = {A::implicit_gemm, A::direct, A::winograd_fused, A::winograd_nonfused, A::fft};
  s.convolution.backward_weights = {A::implicit_gemm, A::direct, A::winograd_nonfused, A::fft};
  return s;
}

inline KernelConstants constants() {
  KernelConstants c;
  c.file = "kernels.toml";
  c.gemm["fp32"] = c.gemm["tensor"] = TileConstants{};
  c.convolution["lib"] = c.convolution["lib-tensor"] = ConvolutionConstants{};
  return c;
}

inline KernelModel model(const Stack& s = stack(), Precision precision = Precision::fp32) {
  return KernelModel::make(board(), precision, s, constants()).value();
}

inline std::string refusal(Device device, Precision precision, const Stack& s = stack(), const KernelConstants& c = constants()) {
  const auto made = KernelModel::make(device, precision, s, c);
  return made ? "" : to_text(made.error());
}

/// conv (with bias) -> batch norm -> relu -> add of both -> relu -> linear -> loss
inline OpGraph network() {
  GraphBuilder g("small", "torchvision", "image", {64, 28, 28}, 4);
  const TensorId c = g.convolution(g.input(), {64, 3, 3, 1, 1, 1, 1, 1, 1, true}, "conv");
  const TensorId n = g.batch_norm(c, "norm");
  const TensorId r = g.relu(n, "relu");
  const TensorId sum = g.plus(r, c, "sum");
  const TensorId again = g.relu(sum, "relu2");
  g.softmax_loss(g.linear(g.flatten(again, "flat"), 10, "fc"), "loss");
  return std::move(g).finish().value();
}

/// Cost of the node of `pass` of the operator called `name`.
inline NodeCost cost(const KernelModel& kernels, const char* name, Pass pass, double batch = 32) {
  static const OpGraph kGraph = network();
  const TrainingStep step = training_step(kGraph);
  for (const auto* part : {&step.forward, &step.backward}) {
    for (const StepNode& node : *part)
      if (node.pass == pass && kGraph.op(node.op).name == name) return kernels.cost(kGraph, node, batch);
  }
  FAIL("no such node");
  return {};
}

inline Stack changed(void (*change)(Stack&)) {
  Stack s = stack();
  change(s);
  return s;
}

inline constexpr double kMap = 32.0 * 64 * 28 * 28 * 4;  // bytes of one feature map of the batch

}  // namespace tbdsim::invented
