// Stages of one network on several GPUs: how operators are divided, and pipelines whose bubble is known.
#include "model/schedule/exchange/pipeline_stages.hpp"

#include <numeric>

#include "model/memory/stage_memory.hpp"
#include "model/prediction/step_times.hpp"
#include "model/schedule/lower.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/linear_layers.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

std::vector<Seconds> seconds(const std::vector<double>& values) {
  std::vector<Seconds> result;
  for (const double value : values) result.emplace_back(value);
  return result;
}

/// Every pair of stages has a link of its own.
StageRoutes links(std::int32_t stages, double bytes_per_second) {
  StageRoutes result{{}, stages};
  for (std::int32_t from = 0; from < stages; ++from) {
    for (std::int32_t to = 0; to < stages; ++to) {
      CopyRoute route;
      if (from != to) route.hops = {{std::to_string(from) + ">" + std::to_string(to), BytesPerSecond(bytes_per_second)}};
      result.routes.push_back(route);
    }
  }
  return result;
}

constexpr double kBatch = 64;

LoweredStep pipeline(std::int32_t stages, int micro_batches, double rate, int layers = 8) {
  const OpGraph graph = linear_layers(layers);
  PipelineStages style(links(stages, rate), kBatch, Bytes(4.0));
  LowerOptions options{kBatch, 1.0, false};
  options.micro_batches = micro_batches;
  return lower(graph, training_step(graph), plain_kernels(), hostless_stack(), style, options);
}

double step_time(const LoweredStep& step) { return step_times(step, engine::simulate(step.graph)).step.base(); }

/// Kernel time of one iteration, by stage.
std::vector<double> busy(const LoweredStep& step) {
  std::vector<double> result(static_cast<std::size_t>(step.ranks), 0.0);
  for (std::size_t i = 0; i < step.tasks.size(); ++i)
    if (step.tasks[i].work == Work::kernel && step.tasks[i].iteration == 0)
      result[static_cast<std::size_t>(step.tasks[i].rank)] +=
          step.graph.duration({static_cast<std::int32_t>(i)}).seconds().base();
  return result;
}

}  // namespace

TEST_CASE("stages: the longest run is as short as it can be, and runs are in order") {
  CHECK(balanced_stages(seconds({1, 1, 1, 1}), 2) == std::vector<std::int32_t>{0, 0, 1, 1});
  CHECK(balanced_stages(seconds({5, 1, 1, 1}), 2) == std::vector<std::int32_t>{0, 1, 1, 1});
  CHECK(balanced_stages(seconds({1, 2, 3, 4, 5}), 3) == std::vector<std::int32_t>{0, 0, 0, 1, 2});
  CHECK(balanced_stages(seconds({2, 2}), 4) == std::vector<std::int32_t>{0, 1});
  CHECK(balanced_stages(seconds({0, 0, 0}), 2) == std::vector<std::int32_t>{0, 0, 0});
  CHECK(balanced_stages({}, 2).empty());
}

TEST_CASE("one micro-batch: stages work one after the other, and every border costs a copy each way") {
  const LoweredStep one = pipeline(1, 1, 1e9), two = pipeline(2, 1, 1e9);
  const std::vector<double> parts = busy(two);
  const double compute = std::accumulate(parts.begin(), parts.end(), 0.0);
  CHECK_THAT(compute, WithinRel(busy(one).front(), 1e-9));
  CHECK_THAT(step_time(two), WithinRel(compute + 2.0 * kBatch * 4000.0 / 1e9, 1e-6));
}

TEST_CASE("one micro-batch: no stage starts before its data exist, whatever the cut and whether kernels are fused away") {
  GraphBuilder g("residual", "mxnet", "vector", {1000}, 4);
  TensorId x = g.linear(g.input(), 1000, "stem", false);
  for (int i = 0; i < 6; ++i) {
    const TensorId y = g.linear(g.relu(g.linear(x, 1000)), 1000);
    x = g.relu(g.plus(g.reshape(y, {1000}), x));
  }
  g.softmax_loss(x, "loss");
  const OpGraph graph = std::move(g).finish().value();
  for (const bool fused : {false, true}) {
    Stack stack = hostless_stack();
    stack.operators.fuses_elementwise = fused;
    for (std::int32_t stages = 1; stages <= 12; ++stages) {
      INFO(stages << " stages, fused: " << fused);
      PipelineStages style(links(stages, 1e15), kBatch, Bytes(4.0));
      const LoweredStep step =
          lower(graph, training_step(graph), plain_kernels(stack), stack, style, LowerOptions{kBatch, 1.0, false});
      const std::vector<double> parts = busy(step);
      CHECK(step_time(step) >= std::accumulate(parts.begin(), parts.end(), 0.0) * (1.0 - 1e-9));
    }
  }
}

TEST_CASE("micro-batches fill the pipeline: with free copies a stage idles (p-1)/(m+p-1) of the step") {
  for (const std::int32_t stages : {2, 4}) {
    for (const int micro_batches : {1, 4, 16}) {
      INFO(stages << " stages, " << micro_batches << " micro-batches");
      const LoweredStep step = pipeline(stages, micro_batches, 1e15);
      const std::vector<double> parts = busy(step);
      const double longest = *std::max_element(parts.begin(), parts.end());
      const double slots = (micro_batches + stages - 1.0) / micro_batches;
      // The loss and the missing gradient of the input make stages unequal by up to a seventh.
      CHECK(step_time(step) <= longest * slots * (1.0 + 1e-9));
      CHECK_THAT(step_time(step), WithinRel(longest * slots, 0.15));
    }
  }
}

TEST_CASE("waiting for another stage is the bubble, waiting for a copy is exchange, and stages make up the step") {
  for (const double rate : {1e15, 1e9}) {
    for (const int micro_batches : {1, 4}) {
      const LoweredStep step = pipeline(4, micro_batches, rate);
      const engine::Timeline timeline = engine::simulate(step.graph);
      const StepTimes t = step_times(step, timeline);
      const Stages& s = t.stages;
      CHECK_THAT((s.forward + s.backward + s.weight_update + s.exchange_exposed + s.bubble + s.host_exposed).base(),
                 WithinRel(t.step.base(), 1e-9));
      CHECK(s.exchange_exposed <= s.exchange_total);
      const std::vector<double> parts = busy(step);
      CHECK_THAT(t.mean_busy.base(), WithinRel(std::accumulate(parts.begin(), parts.end(), 0.0) / 4.0, 1e-9));
      if (rate == 1e15) {
        CHECK_THAT(s.bubble.base(), WithinRel((t.step - t.busy).base(), 1e-3));
      } else if (micro_batches == 1) {
        // The last stage waits from its last kernel until the next iteration's feature map is on its way.
        CHECK_THAT(s.exchange_exposed.base(), WithinRel(kBatch * 4000.0 / rate, 1e-6));
      }
    }
  }
}

TEST_CASE("a stage holds its own arrays, and the feature maps of every micro-batch in flight") {
  const OpGraph graph = linear_layers(4);
  const TrainingStep order = training_step(graph);
  std::vector<StepNode> nodes = order.forward;
  nodes.insert(nodes.end(), order.backward.begin(), order.backward.end());
  nodes.insert(nodes.end(), order.update.begin(), order.update.end());
  const std::vector<std::int32_t> stage_of{0, 0, 0, 1, 1, 1};  // input, four layers, loss
  Stack stack = hostless_stack();
  stack.framework = Framework::pytorch;
  stack.memory.context = Bytes(1e9);
  FootprintOptions options;
  options.batch = kBatch;
  options.accumulates = true;
  for (const MemoryPlan plan : {MemoryPlan::caching_allocator, MemoryPlan::bfc, MemoryPlan::mxnet, MemoryPlan::blobs}) {
    INFO("plan " << static_cast<int>(plan));
    stack.memory.plan = plan;
    stack.features.gradients_from_start = plan == MemoryPlan::mxnet;
    const auto of = [&](int in_flight) { return pipeline_memory(graph, nodes, {}, stack, options, {stage_of, 2, in_flight}); };
    const StepMemory one = of(1), four = of(4), whole = step_memory(graph, nodes, {}, stack, options);
    REQUIRE(one.ranks.size() == 2);
    for (const MemoryPart part : {MemoryPart::weights, MemoryPart::gradients, MemoryPart::optimizer_state})
      CHECK_THAT((one.ranks[0].parts[part] + one.ranks[1].parts[part]).base(),
                 WithinRel(whole.ranks.front().parts[part].base(), plan == MemoryPlan::mxnet ? 0.1 : 1e-9));
    for (std::size_t i = 0; i < 2; ++i) {
      const RankMemory &a = one.ranks[i], &b = four.ranks[i];
      CHECK_THAT(a.parts.total().base(), WithinRel(a.peak.base(), 1e-9));
      CHECK(a.parts[MemoryPart::weights] == b.parts[MemoryPart::weights]);
      // Input or arriving map, and each layer's output: 64 samples of 1000 numbers for each of three more micro-batches.
      CHECK_THAT((b.parts[MemoryPart::input] - a.parts[MemoryPart::input]).base(), WithinRel(3.0 * kBatch * 4000.0, 1e-9));
      CHECK(b.parts[MemoryPart::feature_maps] - a.parts[MemoryPart::feature_maps] >= 3.0 * kBatch * Bytes(4000.0));
      CHECK(b.allocated.base() > a.allocated.base());
    }
  }
}

TEST_CASE("gradients are exchanged after the last micro-batch alone, and added up before") {
  const OpGraph graph = linear_layers(3);
  const KernelModel kernels = plain_kernels();
  const CollectivePlan none;
  LowerOptions options{4, 1.0, true};
  const auto times = [&](int micro_batches) {
    options.micro_batches = micro_batches;
    const LoweredStep step = lower(graph, training_step(graph), kernels, hostless_stack(), none, options);
    return step_times(step, engine::simulate(step.graph));
  };
  const StepTimes one = times(1), three = times(3);
  CHECK_THAT(three.stages.forward.base(), WithinRel(3.0 * one.stages.forward.base(), 1e-9));
  CHECK(three.stages.weight_update == one.stages.weight_update);
  // Twice three arrays of 4 MB: two reads and a write each.
  const double added = 6.0 * kernels.memory_kernel(Bytes(12e6)).base();
  CHECK_THAT(three.stages.backward.base(), WithinRel(3.0 * one.stages.backward.base() + added, 1e-6));
}

TEST_CASE("gradients that stay are set to zero once a step and added once a micro-batch, every addition is one operator") {
  const OpGraph graph = linear_layers(3);
  const CollectivePlan none;
  LowerOptions options{4, 1.0, true};
  Stack stack = hostless_stack();
  stack.host.eager = true;
  const auto times = [&](int micro_batches) {
    options.micro_batches = micro_batches;
    const KernelModel kernels = plain_kernels(stack);
    const LoweredStep step = lower(graph, training_step(graph), kernels, stack, none, options);
    return step_times(step, engine::simulate(step.graph));
  };
  stack.host.dispatch = Seconds(1e-3);
  // Three arrays, in two of three micro-batches.
  const Seconds added = times(3).host_busy - 3.0 * times(1).host_busy;
  CHECK_THAT(added.base(), WithinRel(6 * 1e-3, 1e-6));
  stack.update.gradient_passes = 4;
  stack.update.gradient_kernels = 2;
  const StepTimes one = times(1), three = times(3);
  CHECK_THAT(three.stages.backward.base(), WithinRel(3.0 * one.stages.backward.base(), 1e-6));
  CHECK_THAT(three.stages.weight_update.base(), WithinRel(one.stages.weight_update.base(), 1e-9));
}
