// Micro-batches whose gradients are added up before an update.
#include "model/prediction/step_times.hpp"
#include "model/schedule/lower.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/linear_layers.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

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
  CHECK_THAT(three.phases.forward.base(), WithinRel(3.0 * one.phases.forward.base(), 1e-9));
  CHECK(three.phases.weight_update == one.phases.weight_update);
  // Twice three arrays of 4 MB: two reads and a write each.
  const double added = 6.0 * kernels.memory_kernel(Bytes(12e6)).base();
  CHECK_THAT(three.phases.backward.base(), WithinRel(3.0 * one.phases.backward.base() + added, 1e-6));
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
  CHECK_THAT(three.phases.backward.base(), WithinRel(3.0 * one.phases.backward.base(), 1e-6));
  CHECK_THAT(three.phases.weight_update.base(), WithinRel(one.phases.weight_update.base(), 1e-9));
}
