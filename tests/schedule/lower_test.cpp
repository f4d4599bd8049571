// A training step as tasks: small networks whose timelines add up by hand.
#include "model/schedule/lower.hpp"

#include "model/engine/timeline.hpp"

#include <algorithm>
#include <numeric>

#include "model/workload/graph_builder.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/linear_layers.hpp"

using namespace tbdsim;

namespace {

/// Three layers of 1 M parameters each: 4 MB (and biases) of gradients apiece.
OpGraph three_layers() {
  GraphBuilder g("three", "torchvision", "vector", {1000}, 4);
  TensorId x = g.linear(g.input(), 1000, "one", false);
  x = g.linear(g.relu(x, "relu"), 1000, "two", false);
  x = g.linear(x, 1000, "three", false);
  g.softmax_loss(x, "loss");
  return std::move(g).finish().value();
}

const OpGraph kGraph = three_layers();
const TrainingStep kStep = training_step(kGraph);
constexpr double kLayerBytes = 4e6;

Stack stack(HostCoupling coupling, Seconds dispatch, Bytes bucket = Bytes(0.0), bool overlaps = true) {
  Stack s;
  s.convolution.generation = "lib";
  s.host.coupling = coupling;
  s.host.dispatch = dispatch;
  s.host.update_dispatch = dispatch;
  s.exchange.bucket = bucket;
  s.exchange.overlaps = overlaps;
  return s;
}

/// Two ranks on one link: one byte over it per byte of message.
CollectivePlan link(double bytes_per_second, Seconds latency = Seconds(0.0)) {
  CollectivePlan e;
  e.ranks = 2;
  e.links = {{"link", BytesPerSecond(bytes_per_second)}};
  e.methods.emplace_back();
  e.methods.front().start = latency;
  e.methods.front().weights = {{0, 1.0}};
  return e;
}

LoweredStep lowered(const Stack& s, const CollectivePlan& exchange = {}, bool update = true) {
  return lower(kGraph, kStep, plain_kernels(s), s, exchange, {32, 1.0, update});
}

/// Sums over one iteration, rounded task by task as the engine does.
std::int64_t sum(const LoweredStep& step, Work work) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const auto id = engine::TaskId{static_cast<std::int32_t>(i)};
    if (step.tasks[i].work == work && step.tasks[i].iteration == 0) total += step.graph.duration(id).picoseconds;
  }
  return total;
}

std::vector<std::size_t> tasks(const LoweredStep& step, Work work, std::optional<Pass> pass = {}) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    if (task.work != work || task.iteration != 0) continue;
    if (pass && (task.node < 0 || step.nodes[static_cast<std::size_t>(task.node)].pass != *pass)) continue;
    found.push_back(i);
  }
  return found;
}

/// When the device has finished iteration `number`.
SimTime finished(const LoweredStep& step, const engine::Timeline& timeline, std::int32_t number) {
  SimTime latest{0};
  for (std::size_t i = 0; i < step.tasks.size(); ++i)
    if (step.tasks[i].iteration == number && step.tasks[i].work != Work::host) latest = std::max(latest, timeline.end[i]);
  return latest;
}

}  // namespace

TEST_CASE("serialized coupling: host and device times add up, nothing else") {
  const LoweredStep step = lowered(stack(HostCoupling::serialized, Seconds(24e-6)));
  CHECK(step.iterations == 1);
  const engine::Timeline timeline = engine::simulate(step.graph);
  CHECK(timeline.makespan.picoseconds == sum(step, Work::host) + sum(step, Work::kernel));
  // one, relu, two, three, loss; their backwards with one operator a layer; three updates.
  CHECK(sum(step, Work::host) == 24'000'000 * (5 + 5 + 3));
}

TEST_CASE("queued coupling, device-bound: the steady step is the sum of kernels") {
  const LoweredStep step = lowered(stack(HostCoupling::queued, Seconds(1e-9)));
  CHECK(step.iterations == 2);
  const engine::Timeline timeline = engine::simulate(step.graph);
  CHECK((finished(step, timeline, 1) - finished(step, timeline, 0)).picoseconds == sum(step, Work::kernel));
}

TEST_CASE("queued coupling, host-bound: the steady step is the sum of dispatches") {
  const LoweredStep step = lowered(stack(HostCoupling::queued, Seconds(1e-3)));
  const engine::Timeline timeline = engine::simulate(step.graph);
  CHECK((finished(step, timeline, 1) - finished(step, timeline, 0)).picoseconds == sum(step, Work::host));
}

TEST_CASE("the same step is never slower queued than serialized") {
  for (const double dispatch : {0.0, 1e-6, 10e-6, 20e-6, 100e-6}) {
    INFO("dispatch " << dispatch);
    const LoweredStep queued = lowered(stack(HostCoupling::queued, Seconds(dispatch)));
    const engine::Timeline timeline = engine::simulate(queued.graph);
    const SimTime steady = finished(queued, timeline, 1) - finished(queued, timeline, 0);
    CHECK(steady <= engine::simulate(lowered(stack(HostCoupling::serialized, Seconds(dispatch))).graph).makespan);
    CHECK(steady.picoseconds >= std::max(sum(queued, Work::host), sum(queued, Work::kernel)));
  }
}

TEST_CASE("nodes come forward, backward, update, without update the step ends with backward") {
  const LoweredStep step = lowered(stack(HostCoupling::serialized, Seconds(1e-6)));
  CHECK(step.nodes.size() == kStep.forward.size() + kStep.backward.size() + kStep.update.size());
  CHECK(step.costs.size() == step.nodes.size());
  CHECK(tasks(step, Work::kernel, Pass::update).size() == 3);
  const LoweredStep inference = lowered(stack(HostCoupling::serialized, Seconds(1e-6)), {}, false);
  CHECK(inference.nodes.size() == kStep.forward.size() + kStep.backward.size());
  CHECK(tasks(inference, Work::kernel, Pass::update).empty());
}

TEST_CASE("one rank exchanges nothing, several exchange every gradient once") {
  const Stack s = stack(HostCoupling::queued, Seconds(1e-6));
  CHECK(tasks(lowered(s), Work::exchange).empty());
  CHECK(lowered(s).exchanged == Bytes(0.0));
  for (const double bucket : {0.0, 1.0, 4e6, 5e6, 1e9}) {
    INFO("bucket " << bucket);
    CHECK(lowered(stack(HostCoupling::queued, Seconds(1e-6), Bytes(bucket)), link(1e9)).exchanged == Bytes(3 * kLayerBytes));
  }
}

TEST_CASE("buckets leave when full: exactly at their size, not before") {
  const auto buckets = [](double size, bool overlaps = true) {
    return tasks(lowered(stack(HostCoupling::queued, Seconds(1e-6), Bytes(size), overlaps), link(1e9)), Work::exchange).size();
  };
  CHECK(buckets(0) == 3);
  CHECK(buckets(kLayerBytes) == 3);      // one layer fills it
  CHECK(buckets(kLayerBytes + 1) == 2);  // one does not, two do; the rest leaves at the end
  CHECK(buckets(2 * kLayerBytes) == 2);
  CHECK(buckets(2 * kLayerBytes + 1) == 1);
  CHECK(buckets(1, false) == 1);
  CHECK(buckets(0, false) == 3);  // no bucket: every array by itself
}

TEST_CASE("a bucket starts with its last gradient, updates wait for the last bucket") {
  for (const bool overlaps : {true, false}) {
    const LoweredStep step = lowered(stack(HostCoupling::queued, Seconds(1e-9), Bytes(0.0), overlaps), link(1e9));
    const engine::Timeline timeline = engine::simulate(step.graph);
    const auto exchanges = tasks(step, Work::exchange), gradients = tasks(step, Work::kernel, Pass::backward_weights);
    const auto updates = tasks(step, Work::kernel, Pass::update);
    REQUIRE(gradients.size() == 3);
    // Backward runs from the last layer: its gradient is the first to leave.
    CHECK(timeline.start[exchanges.front()] == timeline.end[gradients[overlaps ? 0 : 2]]);
    for (const std::size_t update : updates) CHECK(timeline.start[update] >= timeline.end[exchanges.back()]);
    // 4 MB over 1 GB/s take 4 ms each, far longer than a layer: the link is busy from the first gradient on.
    const SimTime moved = timeline.end[exchanges.back()] - timeline.start[exchanges.front()];
    CHECK(moved.picoseconds == 12'000'000'000);
  }
}

TEST_CASE("an exchange shorter than the backward pass behind it hides, but for the first layer's") {
  // So fast a link that each bucket ends before the next gradient exists.
  const Stack s = stack(HostCoupling::queued, Seconds(1e-9));
  const LoweredStep step = lowered(s, link(1e12)), alone = lowered(s);
  const engine::Timeline timeline = engine::simulate(step.graph), without = engine::simulate(alone.graph);
  const SimTime exposed =
      (finished(step, timeline, 1) - finished(step, timeline, 0)) - (finished(alone, without, 1) - finished(alone, without, 0));
  CHECK(exposed.picoseconds == 4'000'000);  // 4 MB over 1 TB/s, once
}

TEST_CASE("overlap never hurts while calls have no latency of their own") {
  for (const double rate : {1e8, 1e9, 1e10, 1e11, 1e12}) {
    for (const auto coupling : {HostCoupling::queued, HostCoupling::serialized}) {
      INFO("link of " << rate << " B/s");
      const auto makespan = [&](bool overlaps) {
        return engine::simulate(lowered(stack(coupling, Seconds(5e-6), Bytes(0.0), overlaps), link(rate)).graph).makespan;
      };
      CHECK(makespan(true) <= makespan(false));
    }
  }
}

TEST_CASE("named anomaly: with a latency per call, small overlapping buckets may lose to one at the end") {
  const auto makespan = [](bool overlaps) {
    return engine::simulate(
               lowered(stack(HostCoupling::queued, Seconds(1e-9), Bytes(1.0), overlaps), link(1e12, Seconds(10e-3))).graph)
        .makespan;
  };
  CHECK(makespan(true) > makespan(false));
}

TEST_CASE("16-bit gradients: half the bytes on the link") {
  LowerOptions options{32, 1.0, true};
  options.gradient_element = Bytes(2.0);
  const Stack s = stack(HostCoupling::queued, Seconds(0.0));
  const LoweredStep step = lower(kGraph, kStep, plain_kernels(s), s, link(1e9), options);
  CHECK(2.0 * step.exchanged == lowered(s, link(1e9)).exchanged);
}

TEST_CASE("an update whose host waits: one dispatch more where it checks once, one for every array where it reads each") {
  const auto steady = [](UpdateWait wait) {
    Stack s = stack(HostCoupling::queued, Seconds(1e-6));  // far shorter than any kernel: else the host runs ahead
    s.update.wait = wait;
    const LoweredStep step = lowered(s);
    const engine::Timeline timeline = engine::simulate(step.graph);
    return (finished(step, timeline, 1) - finished(step, timeline, 0)).picoseconds;
  };
  const std::int64_t ahead = steady(UpdateWait::never);
  CHECK(steady(UpdateWait::once) - ahead == 1'000'000);
  // Three arrays: its kernel, the copy and the comparison that reading back takes.
  CHECK(steady(UpdateWait::each_array) - ahead == 3 * 3 * 1'000'000);
}
