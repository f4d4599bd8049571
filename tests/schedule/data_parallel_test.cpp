// nn.DataParallel on two GPUs whose link makes every copy a round number, and MXNet's local store beside it.
#include "model/schedule/exchange/data_parallel.hpp"

#include "model/prediction/step_times.hpp"
#include "model/schedule/exchange/parameter_server_exchange.hpp"
#include "model/schedule/lower.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/linear_layers.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

constexpr double kLink = 1e9;

/// A byte over the link for each byte of a message.
CollectivePlan over_link(CollectiveKind kind) {
  CollectivePlan plan;
  plan.kind = kind;
  plan.ranks = 2;
  plan.links = {{"link", BytesPerSecond(kLink)}};
  plan.methods.emplace_back();
  plan.methods.front().weights = {{0, 1.0}};
  return plan;
}

DataParallelExchange::Plan two_gpus(Seconds dispatch = Seconds(0.0)) {
  CopyRoute route;
  route.hops = {{"link", BytesPerSecond(kLink)}};
  DataParallelExchange::Plan plan{over_link(CollectiveKind::broadcast), over_link(CollectiveKind::reduce), {}, 2, dispatch, 4};
  plan.routes = {{}, route, route, {}};
  return plan;
}

LoweredStep lowered(const OpGraph& graph, const Stack& stack, ExchangeStyle& style, const KernelModel& kernels) {
  return lower(graph, training_step(graph), kernels, stack, style, {4, 1.0, true});
}

}  // namespace

TEST_CASE("DataParallel: everything passes the first GPU and nothing hides") {
  const OpGraph graph = linear_layers(3);
  const KernelModel kernels = plain_kernels();
  DataParallelExchange style(two_gpus(), kernels);
  const LoweredStep step = lowered(graph, hostless_stack(), style, kernels);
  const StepTimes t = step_times(step, engine::simulate(step.graph));
  // 12 MB in buffers of 10 MiB each way, each flattened by reading and writing it; before that the batch of 4 x 1000 floats
  // goes to the second GPU; outputs come back and their gradients return, 16 kB each.
  const double buffers = 12e6 / kLink,
               flatten =
                   (kernels.memory_kernel(Bytes(2.0 * 10485760)) + kernels.memory_kernel(Bytes(2.0 * (12e6 - 10485760)))).base();
  const double scatter = 16e3 / kLink;
  CHECK_THAT(t.phases.exchange_exposed.base(), WithinRel(2.0 * (buffers + flatten) + 3.0 * scatter, 1e-6));
  CHECK_THAT((t.phases.forward + t.phases.backward + t.phases.weight_update + t.phases.exchange_exposed).base(),
             WithinRel(t.step.base(), 1e-9));
  CHECK(step.exchanged == Bytes(12e6));
  // The script's calls hold all of it: scatter, broadcast and gather forward; the loss' gradients and the sum backward.
  CHECK_THAT(t.phases.exchange_forward.base(), WithinRel(buffers + flatten + 2.0 * scatter, 1e-6));
  CHECK_THAT(t.phases.exchange_backward.base(), WithinRel(buffers + flatten + scatter, 1e-6));
}

TEST_CASE("DataParallel: replicas take turns at the interpreter in the forward pass alone") {
  const OpGraph graph = linear_layers(3);
  Stack stack = hostless_stack();
  stack.host.dispatch = Seconds(1e-3);
  const KernelModel kernels = plain_kernels(stack);
  DataParallelExchange style(two_gpus(stack.host.dispatch), kernels);
  const LoweredStep step = lowered(graph, stack, style, kernels);
  double forward = 0.0, backward = 0.0, operators = 0.0, backward_operators = 0.0;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.work != Work::host || task.iteration > 0 || task.node < 0) continue;
    const auto node = static_cast<std::size_t>(task.node);
    const bool first = step.nodes[node].pass == Pass::forward;
    (first ? forward : backward) += step.graph.duration({static_cast<std::int32_t>(i)}).seconds().base();
    if (step.nodes[node].pass != Pass::update) (first ? operators : backward_operators) += step.costs[node].host_operators;
  }
  // Each replica's operators, in threads that hand the lock over, and its three arrays.
  CHECK_THAT(forward, WithinRel(2.0 * (1.12 * operators + 3.0) * 1e-3, 1e-9));
  CHECK_THAT(backward, WithinRel(backward_operators * 1e-3, 1e-9));
}

TEST_CASE("the local store adds and updates in host memory, unless an array is too large: then every GPU updates") {
  ServerPlan plan;
  plan.constants.reduces_on_device = false;
  plan.constants.sum = BytesPerSecond(4e9);
  plan.constants.update = BytesPerSecond(2e9);
  plan.inside.up = {{"gpu0-cpu0 >", BytesPerSecond(8e9), 1.0}};
  plan.inside.down = {{"gpu0-cpu0 <", BytesPerSecond(8e9), 1.0}};
  plan.gpus = 2;
  const OpGraph graph = linear_layers(1);
  const KernelModel kernels = plain_kernels();
  const auto times = [&](std::int64_t limit) {
    plan.store_updates_up_to = limit;
    ParameterServerExchange style(plan);
    const LoweredStep step = lowered(graph, hostless_stack(), style, kernels);
    return step_times(step, engine::simulate(step.graph));
  };
  // 4 MB: up 0.5 ms, the second GPU's added to the first's 1 ms, updated 2 ms, down 0.5 ms.
  const StepTimes store = times(1'000'000), workers = times(999'999);
  CHECK_THAT(store.phases.exchange_exposed.base(), WithinRel(2e-3, 1e-9));
  CHECK_THAT(store.phases.weight_update.base(), WithinRel(2e-3, 1e-9));
  CHECK_THAT(store.phases.weight_update_total.base(), WithinRel(2e-3, 1e-9));
  CHECK_THAT(store.phases.exchange_total.base(), WithinRel(2e-3, 1e-9));
  CHECK_THAT(workers.phases.exchange_exposed.base(), WithinRel(2e-3, 1e-9));
  CHECK_THAT(workers.phases.weight_update.base(), WithinRel(kernels.update_cost(1e6).kernel.time.base(), 1e-6));
}
