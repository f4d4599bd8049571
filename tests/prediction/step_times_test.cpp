// A hand-made step of four nodes: what each stage, share and gap amounts to.
#include "model/prediction/step_times.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;
using engine::TaskId;

namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;

struct Builder {
  LoweredStep step;
  engine::StreamId host, compute, communication;

  Builder() {
    host = step.graph.add_stream("host");
    compute = step.graph.add_stream("compute");
    communication = step.graph.add_stream("communication");
    const auto node = [&](Pass pass, Bound bound, double flop, bool tensor) {
      step.nodes.push_back({pass, OpId{0}, {}, 0});
      NodeCost cost;
      cost.kernel.bound = bound;
      cost.kernel.flop = Flop(flop);
      cost.tensor_core = tensor;
      step.costs.push_back(cost);
    };
    node(Pass::forward, Bound::compute, 100, false);
    node(Pass::backward, Bound::memory, 0, false);
    node(Pass::backward_weights, Bound::compute, 40, true);
    node(Pass::update, Bound::memory, 0, false);
    step.forward_nodes = step.update_nodes = 1;
  }
  TaskId task(Work work, std::int32_t node, std::int64_t microseconds, std::vector<TaskId> after) {
    const auto label = static_cast<std::int32_t>(step.tasks.size());
    step.tasks.push_back({work, node, 0});
    const auto stream = work == Work::host ? host : work == Work::kernel ? compute : communication;
    return step.graph.add_task(stream, {microseconds * kMicrosecond}, after, label);
  }
  StepTimes times() const { return step_times(step, engine::simulate(step.graph)); }
};

double share(const StepTimes& t, Resource resource) {
  for (const Limit& limit : t.limits)
    if (limit.resource == resource) return limit.share;
  return 0.0;
}

double us(Seconds t) { return t.base() * 1e6; }

}  // namespace

TEST_CASE("host gaps, kernels, an exposed exchange: each microsecond is told once") {
  Builder b;
  // host 5, forward 20; host 10 (runs beside), backward 30 without a gap; host waits for it: 7, weights 15;
  // exchange of 25 after that, update 3 after the exchange.
  const TaskId h0 = b.task(Work::host, 0, 5, {});
  const TaskId k0 = b.task(Work::kernel, 0, 20, {h0});
  const TaskId h1 = b.task(Work::host, 1, 10, {h0});
  const TaskId k1 = b.task(Work::kernel, 1, 30, {h1, k0});
  const TaskId h2 = b.task(Work::host, 2, 7, {k1});
  const TaskId k2 = b.task(Work::kernel, 2, 15, {h2});
  const auto label = static_cast<std::int32_t>(b.step.tasks.size());
  b.step.tasks.push_back({Work::exchange, -1, 0});
  const engine::LinkId link = b.step.graph.add_link("gpu0-gpu1 >", BytesPerSecond(1e9));
  const std::vector<engine::LinkUse> route{{link, 1.0}};
  const TaskId e = b.step.graph.add_flow(b.communication, Bytes(25e3), {0}, route, std::vector<TaskId>{k2}, label);
  const TaskId h3 = b.task(Work::host, 3, 2, {h2});
  b.task(Work::kernel, 3, 3, {h3, e});
  const StepTimes t = b.times();
  CHECK_THAT(us(t.step), WithinRel(5.0 + 20 + 30 + 7 + 15 + 25 + 3, 1e-9));
  CHECK_THAT(us(t.phases.forward), WithinRel(20.0, 1e-9));
  CHECK_THAT(us(t.phases.backward), WithinRel(45.0, 1e-9));
  CHECK_THAT(us(t.phases.weight_update), WithinRel(3.0, 1e-9));
  CHECK_THAT(us(t.phases.host_exposed), WithinRel(12.0, 1e-9));
  CHECK_THAT(us(t.phases.host_forward), WithinRel(5.0, 1e-9));
  CHECK_THAT(us(t.phases.host_backward), WithinRel(7.0, 1e-9));
  CHECK(us(t.phases.host_update) == 0.0);
  CHECK_THAT(us(t.phases.exchange_total), WithinRel(25.0, 1e-9));
  CHECK_THAT(us(t.phases.exchange_exposed), WithinRel(25.0, 1e-9));
  CHECK_THAT(us(t.busy), WithinRel(68.0, 1e-9));
  CHECK_THAT(us(t.host_busy), WithinRel(24.0, 1e-9));
  CHECK(t.flop == Flop(100.0));
  CHECK(t.tensor_flop == Flop(40.0));
  // The critical path is the whole step here.
  CHECK_THAT(share(t, Resource::host), WithinRel(12.0 / 105, 1e-9));
  CHECK_THAT(share(t, Resource::gpu_compute), WithinRel(35.0 / 105, 1e-9));
  CHECK_THAT(share(t, Resource::gpu_memory_bandwidth), WithinRel(33.0 / 105, 1e-9));
  CHECK_THAT(share(t, Resource::intra_node_link), WithinRel(25.0 / 105, 1e-9));
  CHECK(share(t, Resource::network) == 0.0);
  CHECK(t.limits.front().resource == Resource::gpu_compute);
}

TEST_CASE("a hidden exchange counts in full and is exposed by nothing") {
  Builder b;
  const TaskId k0 = b.task(Work::kernel, 0, 20, {});
  b.task(Work::exchange, -1, 25, {k0});
  const TaskId k1 = b.task(Work::kernel, 1, 30, {k0});
  b.task(Work::kernel, 3, 3, {k1});
  const StepTimes t = b.times();
  CHECK_THAT(us(t.step), WithinRel(53.0, 1e-9));
  CHECK_THAT(us(t.phases.exchange_total), WithinRel(25.0, 1e-9));
  CHECK(us(t.phases.exchange_exposed) == 0.0);
  CHECK(us(t.phases.host_exposed) == 0.0);
}

TEST_CASE("an exchange through the network is told as such") {
  Builder b;
  const TaskId k0 = b.task(Work::kernel, 0, 20, {});
  const auto label = static_cast<std::int32_t>(b.step.tasks.size());
  b.step.tasks.push_back({Work::exchange, -1, 0});
  const engine::LinkId link = b.step.graph.add_link("network", BytesPerSecond(1e9));
  const std::vector<engine::LinkUse> route{{link, 1.0}};
  b.step.graph.add_flow(b.communication, Bytes(60e3), {0}, route, std::vector<TaskId>{k0}, label);
  const StepTimes t = b.times();
  CHECK_THAT(share(t, Resource::network), WithinRel(0.75, 1e-9));
  CHECK_THAT(us(t.phases.exchange_exposed), WithinRel(60.0, 1e-9));  // after the last kernel
}

TEST_CASE("what a server's processor and a store's GPU do for an exchange is not the link's") {
  Builder b;
  const TaskId k0 = b.task(Work::kernel, 0, 20, {});
  const TaskId e0 = b.task(Work::exchange, -1, 25, {k0}), e1 = b.task(Work::exchange, -1, 15, {e0});
  const TaskId e2 = b.task(Work::exchange, -1, 40, {e1});
  b.task(Work::kernel, 1, 30, {e2});
  const std::size_t first = 1;
  b.step.tasks[first].leg = Leg::serve;
  b.step.tasks[first + 1].leg = Leg::merge;
  const StepTimes t = b.times();
  CHECK_THAT(share(t, Resource::host), WithinRel(25.0 / 130, 1e-9));
  CHECK_THAT(share(t, Resource::intra_node_link), WithinRel(40.0 / 130, 1e-9));
  CHECK_THAT(share(t, Resource::gpu_memory_bandwidth), WithinRel((30.0 + 15.0) / 130, 1e-9));
}

TEST_CASE("of two iterations the second is told: from the first's last kernel to its own") {
  Builder b;
  b.step.iterations = 2;
  for (const std::int32_t iteration : {0, 1}) {
    const TaskId h = b.task(Work::host, 0, 50, {});
    b.step.tasks.back().iteration = iteration;
    b.task(Work::kernel, 0, 20, {h});
    b.step.tasks.back().iteration = iteration;
  }
  const StepTimes t = b.times();  // kernels end at 70 and 120
  CHECK_THAT(us(t.step), WithinRel(50.0, 1e-9));
  CHECK_THAT(us(t.phases.forward), WithinRel(20.0, 1e-9));
  CHECK_THAT(us(t.phases.host_exposed), WithinRel(30.0, 1e-9));
  CHECK_THAT(us(t.host_busy), WithinRel(50.0, 1e-9));
}
