// What operators cost whose work another operator's kernel does.
#include "model/cost/fusion.hpp"

#include "tests/closed_form/cost_example.hpp"
#include "tests/cost/invented_board.hpp"

using namespace tbdsim;
using namespace tbdsim::invented;

namespace {

const Stack kCompiler = changed([](Stack& s) { s.operators.fusion.elementwise = true; });
constexpr double kBandwidth = 600e9;

double seconds(const Stack& s, const char* name, Pass pass) { return cost(model(s), name, pass).kernel.time.base(); }

/// Convolution and ReLU alone.
OpGraph plain_network(bool bias) {
  GraphBuilder g("plain", "torchvision", "image", {64, 28, 28}, 4);
  const TensorId first = g.convolution(g.input(), {64, 3, 3, 1, 1, 1, 1, 1, 1, bias}, "first");
  const TensorId second = g.convolution(g.relu(first, "relu"), {64, 3, 3, 1, 1, 1, 1, 1, 1, bias}, "second");
  g.softmax_loss(g.linear(g.flatten(second, "flat"), 10, "fc"), "loss");
  return std::move(g).finish().value();
}

/// A residual sum that a norm and the next sum read.
OpGraph residual_network() {
  GraphBuilder g("residual", "torchvision", "image", {64, 28, 28}, 4);
  const ConvolutionAttributes same{64, 3, 3, 1, 1, 1, 1, 1, 1, true};
  const TensorId first = g.convolution(g.input(), same, "first");
  const TensorId sum = g.plus(g.convolution(first, same, "branch"), first, "sum");
  const TensorId branch = g.convolution(g.batch_norm(sum, "norm"), same, "branch2");
  g.softmax_loss(g.linear(g.flatten(g.plus(branch, sum, "sum2"), "flat"), 10, "fc"), "loss");
  return std::move(g).finish().value();
}

const Op& operator_of(const OpGraph& graph, std::string_view name) {
  return *std::ranges::find_if(graph.ops, [&](const Op& op) { return op.name == name; });
}

}  // namespace

TEST_CASE("fusion: a batch norm takes its own ReLU") {
  const Stack norm = changed([](Stack& s) { s.operators.fusion.batch_norm_relu = true; });
  CHECK(seconds(norm, "relu", Pass::forward) == 0.0);
  CHECK(seconds(norm, "relu", Pass::backward) == 0.0);
  CHECK(seconds(norm, "relu2", Pass::forward) == seconds(stack(), "relu2", Pass::forward));  // after an addition
  CHECK(seconds(norm, "norm", Pass::forward) == seconds(stack(), "norm", Pass::forward));
}

TEST_CASE("a compiler's kernel reads the other summand of a sum that it takes on, and a ReLU costs nothing") {
  CHECK(seconds(kCompiler, "relu", Pass::forward) == 0.0);
  CHECK_THAT(seconds(kCompiler, "sum", Pass::forward), WithinRel(kMap / kBandwidth, 1e-12));
  CHECK(seconds(kCompiler, "relu2", Pass::forward) == 0.0);
  for (const char* name : {"relu", "sum", "relu2"}) CHECK(seconds(kCompiler, name, Pass::backward) == 0.0);
  CHECK(cost(model(kCompiler), "sum", Pass::forward).kernel.kernels == 0);
  CHECK(cost(model(kCompiler), "sum", Pass::forward).host_operators == 0.0);
}

TEST_CASE("the worked example: the shortcut of ResNet's first block") {
  GraphBuilder g("block", "torchvision", "image", {256, 56, 56}, 4);
  const TensorId shortcut = g.convolution(g.input(), {256, 1, 1, 1, 1, 0, 0}, "shortcut");
  const TensorId norm = g.batch_norm(g.convolution(shortcut, {256, 1, 1, 1, 1, 0, 0}, "conv"), "norm");
  g.softmax_loss(g.linear(g.flatten(g.relu(g.plus(norm, shortcut, "sum"), "relu"), "flat"), 10, "fc"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const double bytes = 32 * 4 * fused_numbers(graph, operator_of(graph, "sum"), Pass::forward, kCompiler);
  CHECK(bytes == 32.0 * 256 * 56 * 56 * 4);
  CHECK(example::documented("t = 102,760,448 / 600e9 = " + example::microseconds(Bytes(bytes) / BytesPerSecond(kBandwidth))));
}

TEST_CASE("a gradient that reads a ReLU's result: both kernels of a norm's gradient do, or the one after a sum") {
  const Stack reading = changed([](Stack& s) { s.operators.fusion.elementwise = s.operators.fusion.reads_results = true; });
  CHECK_THAT(seconds(reading, "relu", Pass::backward), WithinRel(2 * kMap / kBandwidth, 1e-12));
  CHECK_THAT(seconds(reading, "relu2", Pass::backward), WithinRel(kMap / kBandwidth, 1e-12));
  CHECK(seconds(reading, "sum", Pass::backward) == 0.0);
}

TEST_CASE("between convolutions an activation is a kernel of its own, but forward where a bias is added anyway") {
  for (const bool bias : {false, true}) {
    const OpGraph graph = plain_network(bias);
    CHECK(fused_away(graph, operator_of(graph, "relu"), Pass::forward, kCompiler) == bias);
    CHECK_FALSE(fused_away(graph, operator_of(graph, "relu"), Pass::backward, kCompiler));
    CHECK(fused_numbers(graph, operator_of(graph, "relu"), Pass::forward, kCompiler) == 0.0);
  }
}

TEST_CASE("a sum before a norm is written for whoever else reads it; one between convolutions is a kernel of its own") {
  const OpGraph graph = residual_network();
  const double map = 64.0 * 28 * 28;
  CHECK(fused_away(graph, operator_of(graph, "sum"), Pass::forward, kCompiler));
  CHECK(fused_numbers(graph, operator_of(graph, "sum"), Pass::forward, kCompiler) == 2 * map);
  CHECK_FALSE(fused_away(graph, operator_of(graph, "sum2"), Pass::forward, kCompiler));
}

TEST_CASE("fused elementwise operators change no other operator, in 16 bits, too") {
  for (const Precision precision : {Precision::fp32, Precision::fp16, Precision::amp}) {
    const KernelModel apart = model(stack(), precision), together = model(kCompiler, precision);
    for (const char* name : {"conv", "norm", "fc", "loss"}) {
      CHECK(cost(together, name, Pass::forward).kernel.time == cost(apart, name, Pass::forward).kernel.time);
      const Pass back =
          name == std::string_view("conv") || name == std::string_view("fc") ? Pass::backward_weights : Pass::backward;
      CHECK(cost(together, name, back).kernel.time == cost(apart, name, back).kernel.time);
    }
    CHECK(cost(together, "relu", Pass::forward).kernel.time == Seconds(0.0));
    CHECK(cost(together, "sum", Pass::forward).kernel.time < cost(apart, "sum", Pass::forward).kernel.time / 2.0);
  }
  // Kernels that a compiler makes load several numbers at once, whatever they compute.
  const Stack compiled = changed([](Stack& s) { s.operators.loads.compiles_kernels = true; });
  CHECK(cost(model(compiled, Precision::fp16), "norm", Pass::forward).kernel.time <
        cost(model(stack(), Precision::fp16), "norm", Pass::forward).kernel.time);
}

TEST_CASE("convolutions of 16 bits alone with channels last turn nothing in 16 bits, and the rest as ever") {
  const Stack half = changed([](Stack& s) { s.operators.order.channels_last_in_16_bits = true; });
  const Stack last = changed([](Stack& s) { s.operators.order.channels_last = true; });
  const auto conv = [](const Stack& s, Precision p) { return cost(model(s, p), "conv", Pass::forward).kernel.time; };
  CHECK(conv(half, Precision::fp16) == conv(last, Precision::fp16));
  CHECK(conv(half, Precision::fp16) < conv(stack(), Precision::fp16));
  CHECK(conv(half, Precision::fp32) == conv(stack(), Precision::fp32));
}
