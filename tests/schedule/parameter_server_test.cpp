// Parameter servers on machines whose rates make every stage of an array's way a round number.
#include "model/schedule/exchange/parameter_server_exchange.hpp"

#include "model/prediction/step_times.hpp"
#include "model/schedule/exchange/plan_exchange.hpp"
#include "model/schedule/lower.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/linear_layers.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

/// Two machines of one GPU: 8 GB/s to the host, 1 GB/s between them, 2 GB/s to add and 4 GB/s to update.
ServerPlan two_machines() {
  ServerPlan plan;
  plan.constants.sum = BytesPerSecond(2e9);
  plan.constants.update = BytesPerSecond(4e9);
  plan.constants.slice = Bytes(1e6);
  plan.inside.up = {{"gpu0-cpu0 >", BytesPerSecond(8e9), 1.0}};
  plan.inside.down = {{"gpu0-cpu0 <", BytesPerSecond(8e9), 1.0}};
  plan.nodes = 2;
  plan.network = BytesPerSecond(1e9);
  return plan;
}

StepTimes times(int layer_count, ServerPlan plan) {
  const OpGraph graph = linear_layers(layer_count);
  ParameterServerExchange style(std::move(plan));
  const LoweredStep step = lower(graph, training_step(graph), plain_kernels(), hostless_stack(), style, {4, 1.0, true});
  return step_times(step, engine::simulate(step.graph));
}

}  // namespace

TEST_CASE("one array through two servers: every stage after the other") {
  // 4 MB: to the host 0.5 ms; half of it leaves, 2 ms; the other node's half is added to the own, 1 ms; that is updated, 0.5 ms;
  // half of it returns, 2 ms; to the GPU 0.5 ms. The only layer is first and last, so nothing hides.
  const StepTimes t = times(1, two_machines());
  // The update is told as such, and once: not as exchange as well.
  CHECK_THAT(t.phases.weight_update.base(), WithinRel(0.5e-3, 1e-9));
  CHECK_THAT(t.phases.exchange_exposed.base(), WithinRel(6e-3, 1e-9));
  CHECK_THAT(t.phases.exchange_total.base(), WithinRel(6e-3, 1e-9));
  const Seconds all = t.phases.forward + t.phases.backward + t.phases.weight_update + t.phases.exchange_exposed;
  CHECK_THAT(all.base(), WithinRel(t.step.base(), 1e-9));
}

TEST_CASE("one machine keeps its pushes to itself") {
  // To the host 0.5 ms, nothing to add, updated 1 ms, back 0.5 ms.
  ServerPlan plan = two_machines();
  plan.nodes = 1;
  const PhaseTimes one = times(1, plan).phases;
  CHECK_THAT(one.exchange_exposed.base(), WithinRel(1e-3, 1e-9));
  CHECK_THAT(one.weight_update.base(), WithinRel(1e-3, 1e-9));
  // Of two GPUs on the host, one gradient is added to the other: 2 ms.
  plan.gpus = 2;
  plan.constants.reduces_on_device = false;
  const PhaseTimes two = times(1, plan).phases;
  CHECK_THAT(two.exchange_exposed.base(), WithinRel(3e-3, 1e-9));
  CHECK_THAT(two.weight_update.base(), WithinRel(1e-3, 1e-9));
}

TEST_CASE("slices pipeline through the stages: the port, which is the slowest, never rests") {
  // Four slices of 1 MB: 0.5 ms to the host for all, then pushes and replies share the port, 2 ms each, while the server
  // adds other slices and updates them, 0.5 ms for all; 0.5 ms to the GPU. What is updated is no exchange, though the port is
  // busy.
  ServerPlan plan = two_machines();
  plan.sliced = true;
  const PhaseTimes stages = times(1, plan).phases;
  CHECK_THAT((stages.exchange_exposed + stages.weight_update).base(), WithinRel(5e-3, 1e-6));
  CHECK_THAT(stages.weight_update.base(), WithinRel(0.5e-3, 1e-6));
}

TEST_CASE("front layers first is never slower than first come, first served, nor is a faster network") {
  double before = 1e9;
  for (const double rate : {0.25e9, 0.5e9, 1e9, 2e9, 4e9, 8e9}) {
    ServerPlan plan = two_machines();
    plan.network = BytesPerSecond(rate);
    const double fifo = times(6, plan).step.base();
    plan.sliced = plan.prioritized = true;
    const double p3 = times(6, plan).step.base();
    CHECK(p3 <= fifo * (1.0 + 1e-9));
    CHECK(fifo <= before * (1.0 + 1e-9));
    before = fifo;
  }
}

TEST_CASE("a framework that pulls at the step hides nothing of the way back") {
  // Six layers; the last push ends as before, then 24 MB are fetched: half of it over the wire, 12 ms, and the last array
  // to the GPU, 0.5 ms.
  ServerPlan plan = two_machines();
  const double eager = times(6, plan).step.base();
  plan.constants.pulls_at_step = true;
  const StepTimes late = times(6, plan);
  CHECK(late.step.base() > eager);
  CHECK(late.phases.exchange_exposed.base() > 12.5e-3);
}

TEST_CASE("the process that hands arrays over holds up the next step, whoever updates") {
  // Three arrays of a second each; the exchange beside it takes milliseconds.
  ServerPlan plan = two_machines();
  plan.host_per_key = Seconds(1.0);
  CHECK_THAT(times(3, plan).step.base(), WithinRel(3.0, 0.02));
  plan.servers_only_add = true;
  CHECK(times(3, plan).step < Seconds(0.1));
  plan.host_per_key_no_update = Seconds(1.0);
  CHECK_THAT(times(3, plan).step.base(), WithinRel(3.0, 0.02));
}

TEST_CASE("servers on machines of their own: all gradients leave, all sums come back, and workers update") {
  ServerPlan plan = two_machines();
  plan.apart = plan.servers_only_add = true;
  // 4 MB: to the host 0.5 ms, out 4 ms; each server adds the other's half, 1 ms; back 4 ms, to the GPU 0.5 ms.
  const StepTimes whole = times(1, plan);
  CHECK_THAT(whole.phases.exchange_exposed.base(), WithinRel(10e-3, 1e-9));
  CHECK(whole.phases.weight_update > Seconds(0.0));
  // In four slices out and back are side by side: the first slice's 2.5 ms, and the port's 3 ms for the others.
  plan.sliced = true;
  CHECK_THAT(times(1, plan).phases.exchange_exposed.base(), WithinRel(0.5e-3 + 1e-3 + 0.25e-3 + 4e-3 + 0.5e-3, 1e-6));
}
