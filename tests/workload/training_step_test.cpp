#include "model/workload/training_step.hpp"

#include <fmt/format.h>

#include "model/workload/graph_builder.hpp"
#include "model/workload/op_counts.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

ConvolutionAttributes convolution(std::int64_t channels, std::int64_t kernel) {
  return {channels, kernel, kernel, 1, 1, kernel / 2, kernel / 2, 1, 1, false};
}

std::string text(const OpGraph& graph, const std::vector<StepNode>& nodes) {
  std::string all;
  for (const StepNode& node : nodes) {
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", name(node.pass), graph.op(node.op).name);
    if (node.pass == Pass::gradient_sum) all += fmt::format(" of {}", node.summands);
    if (node.pass == Pass::update) all += fmt::format(" {}", graph.parameter(node.parameter).name);
  }
  return all;
}

/// x -> a -> {b, shortcut} -> add -> loss
OpGraph residual() {
  GraphBuilder g("residual", "torchvision", "image", {3, 8, 8}, 4);
  const TensorId a = g.convolution(g.input(), convolution(4, 3), "a");
  const TensorId b = g.convolution(a, convolution(4, 1), "b");
  const TensorId sum = g.plus(b, a, "sum");
  g.softmax_loss(g.flatten(sum, "flat"), "loss");
  return std::move(g).finish().value();
}

}  // namespace

TEST_CASE("the training step of a residual block, node by node") {
  const OpGraph graph = residual();
  const TrainingStep step = training_step(graph);
  CHECK(text(graph, step.forward) == "forward a, forward b, forward sum, forward flat, forward loss");
  // The first convolution needs no gradient of the image; its output has two consumers.
  CHECK(text(graph, step.backward) ==
        "backward loss, backward flat, backward sum, backward_weights b, backward_data b, gradient_sum a of 2, "
        "backward_weights a");
  CHECK(text(graph, step.update) == "update a a.weight, update b b.weight");
}

TEST_CASE("operators with nothing trainable upstream have no backward pass") {
  GraphBuilder g("prefix", "torchvision", "image", {3, 8, 8}, 4);
  TensorId x = g.pool(g.input(), {}, "shrink");
  x = g.relu(x, "clip");
  x = g.linear(g.flatten(x, "flat"), 2, "fc");
  g.softmax_loss(x, "loss");
  const OpGraph graph = std::move(g).finish().value();
  CHECK(text(graph, training_step(graph).backward) == "backward loss, backward_weights fc");
}

TEST_CASE("an operator that uses a tensor twice counts as two consumers") {
  GraphBuilder g("twice", "torchvision", "vector", {4}, 1);
  const TensorId x = g.linear(g.input(), 4, "fc");
  g.softmax_loss(g.plus(x, x, "double"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  CHECK(text(graph, training_step(graph).backward) ==
        "backward loss, backward double, gradient_sum fc of 2, backward_weights fc");
}

TEST_CASE("FLOP of single operators, by hand") {
  GraphBuilder g("counts", "torchvision", "image", {4, 6, 5}, 1);
  // 6 channels in 2 groups, kernel 3x2, stride 2x1, no padding: output 6x2x4, each of 4/2 x 3 x 2 = 12 multiply-adds.
  TensorId x = g.convolution(g.input(), {6, 3, 2, 2, 1, 0, 0, 1, 2, true}, "conv");
  REQUIRE(to_text(g.shape(x)) == "6x2x4");
  x = g.linear(g.flatten(x, "flat"), 10, "fc");  // 48 x 10
  g.softmax_loss(x, "loss");
  const OpGraph graph = std::move(g).finish().value();
  const auto flop = [&](Pass pass, std::int32_t op) { return flop_per_sample(graph, {pass, OpId{op}, {}, 0}).base(); };
  CHECK(flop(Pass::forward, 1) == 2.0 * 48 * 12);
  CHECK(flop(Pass::backward_weights, 1) == 2.0 * 48 * 12);
  CHECK(flop(Pass::forward, 3) == 2.0 * 480);
  CHECK(flop(Pass::backward_data, 3) == 2.0 * 480);
  CHECK(flop(Pass::forward, 2) == 0.0);
  CHECK(flop(Pass::gradient_sum, 1) == 0.0);
  CHECK(flop(Pass::update, 1) == 0.0);
  const MacCounts macs = macs_per_sample(graph);
  CHECK(macs.forward == 48 * 12 + 480);
  CHECK(macs.backward == 48 * 12 + 2 * 480);
}

TEST_CASE("FLOP of sequences: recurrent cells and products of two tensors") {
  GraphBuilder g("sequence", "torchvision", "sentence", {7}, 1);
  const TensorId words = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{50, 8}, "words");
  // Two layers, both directions, hidden 3: (8 + 3) then (6 + 3) inputs, 4 gates x 3 units, 2 directions, 7 steps.
  const TensorId states = g.add(OpKind::lstm, {words}, RecurrentAttributes{3, 2, true, true}, "rnn");
  const TensorId scores = g.add(OpKind::matmul, {states, states}, MatmulAttributes{true}, "scores");  // 7x6 times 6x7
  g.softmax_loss(scores, "loss");
  const OpGraph graph = std::move(g).finish().value();
  const std::int64_t rnn = 7 * 2 * 4 * 3 * ((8 + 3) + (6 + 3));
  const std::int64_t product = 7 * 7 * 6;
  const MacCounts macs = macs_per_sample(graph);
  CHECK(macs.forward == rnn + product);
  // The first state of every layer and direction is zero and wants no gradient.
  CHECK(macs.backward == 2 * rnn - 2 * 2 * (4 * 3 * 3) + 2 * product);
  CHECK(graph.parameter_elements() == 50 * 8 + 2 * (4 * 3 * (8 + 3) + 2 * 4 * 3) + 2 * (4 * 3 * (6 + 3) + 2 * 4 * 3));
  CHECK(graph.parameters[1].name == "rnn.weight_ih_l0");
}
