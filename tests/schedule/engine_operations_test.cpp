// Operators joined into operations of a framework's engine.
#include "model/schedule/engine_operations.hpp"

#include <numeric>

#include "model/engine/timeline.hpp"
#include "model/schedule/lower.hpp"
#include "model/workload/graph_builder.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/linear_layers.hpp"

using namespace tbdsim;

namespace {

/// A layer with arrays, then `plain` operators without.
OpGraph chain(int plain) {
  GraphBuilder g("chain", "mxnet", "vector", {1000}, 4);
  TensorId x = g.linear(g.input(), 1000, "layer", false);
  for (int i = 0; i < plain; ++i) x = g.relu(x);
  g.softmax_loss(x, "loss");
  return std::move(g).finish().value();
}

struct Joined {
  std::vector<EngineShare> forward, backward, update;
};

Joined joined(const OpGraph& graph, EngineSettings engine, double operators = 1.0) {
  const TrainingStep step = training_step(graph);
  std::vector<StepNode> nodes = step.forward;
  nodes.insert(nodes.end(), step.backward.begin(), step.backward.end());
  nodes.insert(nodes.end(), step.update.begin(), step.update.end());
  NodeCost cost;
  cost.host_operators = operators;
  const std::vector<NodeCost> costs(nodes.size(), cost);
  const std::vector<EngineShare> shares = engine_shares(graph, nodes, costs, engine);
  const auto backward = shares.begin() + static_cast<std::ptrdiff_t>(step.forward.size());
  const auto update = backward + static_cast<std::ptrdiff_t>(step.backward.size());
  return {{shares.begin(), backward}, {backward, update}, {update, shares.end()}};
}

double operations(const std::vector<EngineShare>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0, [](double sum, const EngineShare& s) { return sum + s.operations; });
}

EngineSettings holding(int operators, bool stops_at_arrays = true) { return {Seconds(1e-6), operators, stops_at_arrays}; }

}  // namespace

TEST_CASE("without joining every operator is an operation") {
  const Joined all = joined(chain(5), holding(1));
  CHECK(operations(all.forward) == 7.0);
  CHECK(operations(all.backward) == 7.0);
  for (const EngineShare& share : all.forward) CHECK(share.begins);
}

TEST_CASE("an operation holds as many operators as it may and one more, the next is alone") {
  // The layer, relu and loss: 3 + plain - 1 operators. Four fit when three are allowed.
  CHECK(operations(joined(chain(2), holding(3)).forward) == 1.0);
  CHECK(operations(joined(chain(3), holding(3)).forward) == 2.0);
  // The one alone does not take in the next.
  CHECK(operations(joined(chain(4), holding(3)).forward) == 3.0);
  CHECK(operations(joined(chain(7), holding(3)).forward) == 3.0);
}

TEST_CASE("an operator with arrays begins an operation, its backward is one") {
  const OpGraph layers = linear_layers(3);
  const Joined stopped = joined(layers, holding(15));
  CHECK(operations(stopped.forward) == 3.0);  // the loss joins the last layer
  // The loss; three layers, of whose two passes the second belongs to the first; the first layer has one pass.
  CHECK(operations(stopped.backward) == 4.0);
  CHECK(operations(stopped.update) == 3.0);
  const Joined joined_all = joined(layers, holding(15, false));
  CHECK(operations(joined_all.forward) == 1.0);
  CHECK(operations(joined_all.backward) == 1.0);
}

TEST_CASE("a node of many operators has operations in proportion") {
  // 17 operators: sixteen in one, one alone.
  CHECK(joined(chain(0), holding(15), 17.0).forward.front().operations == Approx(2.0).epsilon(1e-12));
  CHECK(joined(chain(0), holding(1), 17.0).forward.front().operations == 17.0);
}

TEST_CASE("within an operation the host runs ahead, between two the device waits") {
  const OpGraph graph = chain(3);
  const TrainingStep step = training_step(graph);
  const auto makespan = [&](int operators) {
    Stack s = hostless_stack();
    s.host.coupling = HostCoupling::serialized;
    s.host.dispatch = Seconds(10e-6);
    s.engine = {Seconds(20e-6), operators, true};
    const LoweredStep lowered = lower(graph, step, plain_kernels(s), s, CollectivePlan{}, {32, 1.0, false});
    return engine::simulate(lowered.graph).makespan.seconds().base();
  };
  // Alone: 5 + 5 operators of 10 us and as many operations of 20 us beside the kernels. Joined: one operation forward;
  // backward the loss with its relus and then the layer.
  CHECK(makespan(1) - makespan(15) > 7 * 20e-6);
  CHECK(makespan(1) - makespan(15) < 7 * 20e-6 + 10 * 10e-6);
}
