#pragma once
#include <string>

#include "model/cost/kernel_model.hpp"
#include "model/workload/graph_builder.hpp"
#include "tests/architectures.hpp"

namespace tbdsim {

/// Linear layers of a million parameters each: 4 MB of gradients apiece.
inline OpGraph linear_layers(int count) {
  GraphBuilder g("layers", "mxnet", "vector", {1000}, 4);
  TensorId x = g.input();
  for (int i = 0; i < count; ++i) x = g.linear(x, 1000, "layer" + std::to_string(i), false);
  g.softmax_loss(x, "loss");
  return std::move(g).finish().value();
}

/// A stack whose host costs nothing.
inline Stack hostless_stack() {
  Stack s;
  s.convolution.generation = "lib";
  s.host.coupling = HostCoupling::queued;
  return s;
}

/// A board of round numbers, every family of kernels fitted alike.
inline KernelModel plain_kernels(const Stack& stack = hostless_stack()) {
  Device d;
  d.id = "board";
  name_architecture(d, "Volta");
  d.multiprocessors = 80;
  d.peak.fp32 = FlopPerSecond(12.8e12);
  d.memory_bandwidth = BytesPerSecond(600e9);
  for (const auto* family : {"gemm", "convolution", "memory_bound"})
    d.calibration.families.push_back({family, "fp32", 1.0, 1.0, Seconds(5e-6), 0.1, 10, "fitted: a test"});
  KernelConstants c;
  c.gemm["fp32"] = TileConstants{};
  c.convolution["lib"] = ConvolutionConstants{};
  return KernelModel::make(d, Precision::fp32, stack, c).value();
}

}  // namespace tbdsim
