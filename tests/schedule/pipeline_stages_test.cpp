// Stages of one network on several GPUs: how operators are divided, and pipelines whose bubble is known.
#include "model/schedule/exchange/pipeline_stages.hpp"

#include <numeric>

#include "model/analysis/step_times.hpp"
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
