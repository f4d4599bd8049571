// Products in 8 bits that keep their operands for backward hold these in the place of the input.
#include "model/memory/eager_trace.hpp"
#include "model/workload/graph_builder.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// Feature maps held as backward begins, of three layers of 64 numbers, 8 rows, in 16 bits. `kept`: by the second layer.
Bytes held(Bytes kept) {
  GraphBuilder g("layers", "torchvision", "vector", {64}, 8);
  const TensorId x = g.linear(g.input(), 64, "first", false);
  g.softmax_loss(g.linear(g.linear(x, 64, "second", false), 64, "third", false), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const TrainingStep step = training_step(graph);
  std::vector<StepNode> nodes = step.forward;
  const auto turn = static_cast<std::int32_t>(nodes.size());
  nodes.insert(nodes.end(), step.backward.begin(), step.backward.end());
  std::vector<NodeCost> costs(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].pass == Pass::forward && graph.op(nodes[i].op).name == "second") costs[i].kept_operands = kept;
  EagerOptions options;
  options.batch = 8;
  options.element = options.gradient_element = Bytes(2.0);
  Bytes bytes;
  for (const Lifetime& array : eager_trace(graph, nodes, costs, options).arrays)
    if (array.part == MemoryPart::feature_maps && array.birth < turn && array.death > turn) bytes += array.bytes;
  return bytes;
}

}  // namespace

TEST_CASE("8-bit operands kept for backward take the place of the 16-bit input") {
  constexpr double kInput = 8 * 64, kWeights = 64 * 64;
  const Bytes plain = held(Bytes(0.0));
  CHECK(held(Bytes(kInput + kWeights)) == plain - Bytes(2 * kInput) + Bytes(kInput + kWeights));
}
