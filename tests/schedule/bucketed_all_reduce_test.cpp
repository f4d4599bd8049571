// Buckets of gradients: when they leave, and what they cost the kernels beside them.
#include "model/schedule/exchange/bucketed_all_reduce.hpp"

#include <vector>

#include "model/prediction/step_times.hpp"
#include "model/schedule/lower.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/linear_layers.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

/// Two ranks: a byte over the link for each byte of a message.
CollectivePlan link(double rate, Seconds start) {
  CollectivePlan plan;
  plan.ranks = 2;
  plan.links = {{"link", BytesPerSecond(rate)}};
  plan.methods.emplace_back();
  plan.methods.front().start = start;
  plan.methods.front().weights = {{0, 1.0}};
  return plan;
}

LoweredStep lowered(BucketPolicy policy, double rate = 1e9, Seconds start = Seconds(0.0)) {
  const OpGraph graph = linear_layers(6);
  BucketedAllReduce style(link(rate, start), policy);
  return lower(graph, training_step(graph), plain_kernels(), hostless_stack(), style, {4, 1.0, true});
}

std::vector<double> buckets(const LoweredStep& step) {
  std::vector<double> megabytes;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const auto id = engine::TaskId{static_cast<std::int32_t>(i)};
    if (step.tasks[i].work == Work::exchange && step.tasks[i].iteration == 0 && step.graph.is_flow(id))
      megabytes.push_back(step.graph.bytes(id).base() / 1e6);
  }
  return megabytes;
}

double step_of(const LoweredStep& step) { return step_times(step, engine::simulate(step.graph)).step.base(); }

}  // namespace

TEST_CASE("a small first bucket leaves early, the others when they are full") {
  BucketPolicy policy;
  policy.bucket = Bytes(8e6);
  CHECK(buckets(lowered(policy)) == std::vector<double>{8, 8, 8});
  policy.first_bucket = Bytes(1e6);
  CHECK(buckets(lowered(policy)) == std::vector<double>{4, 8, 8, 4});
}

TEST_CASE("without overlap all gradients leave as one") {
  BucketPolicy policy;
  policy.bucket = Bytes(8e6);
  policy.overlaps = false;
  CHECK(buckets(lowered(policy)) == std::vector<double>{24});
}

TEST_CASE("no bucket: every array is a call of its own, one after the other, each with its start") {
  BucketPolicy policy;
  policy.overlaps = false;
  policy.bucket = Bytes(1e9);
  const LoweredStep whole = lowered(policy, 1e9, Seconds(1e-3));
  policy.bucket = Bytes(0.0);
  const LoweredStep apart = lowered(policy, 1e9, Seconds(1e-3));
  CHECK(buckets(apart) == std::vector<double>{4, 4, 4, 4, 4, 4});
  CHECK_THAT(step_of(apart) - step_of(whole), WithinRel(5e-3, 1e-6));
}

TEST_CASE("a library that looks now and then fuses what is there, after backward half a cycle passes") {
  BucketPolicy policy;
  policy.bucket = Bytes(1e9);
  policy.cycle = Seconds(10.0);  // longer than the step: one bucket, five seconds late
  const LoweredStep step = lowered(policy);
  CHECK(buckets(step) == std::vector<double>{24});
  CHECK(step_of(step) > 5.0);
}

TEST_CASE("an exchange slows the kernels beside it, by no more than its cost") {
  BucketPolicy policy;
  policy.bucket = Bytes(1e6);
  const double fast = step_of(lowered(policy, 1e15));
  policy.overlap_cost = 0.5;
  CHECK_THAT(step_of(lowered(policy, 1e15)), WithinRel(fast, 1e-3));  // over at once
  policy.overlap_cost = 0.0;
  const StepTimes beside = step_times(lowered(policy, 1e9), engine::simulate(lowered(policy, 1e9).graph));
  policy.overlap_cost = 0.5;
  const StepTimes slowed = step_times(lowered(policy, 1e9), engine::simulate(lowered(policy, 1e9).graph));
  CHECK(slowed.phases.backward > beside.phases.backward);
  CHECK(slowed.phases.backward <= 2.0 * beside.phases.backward);
  // What it adds is told.
  CHECK(beside.phases.exchange_in_backward == Seconds(0.0));
  CHECK_THAT(slowed.phases.exchange_in_backward.base(),
             WithinRel((slowed.phases.backward - beside.phases.backward).base(), 1e-6));
}

TEST_CASE("beside a call that never ends kernels do 1 - cost seconds of their work in a second") {
  BucketPolicy policy;
  policy.bucket = Bytes(1e6);
  const LoweredStep free = lowered(policy, 1e3);
  policy.overlap_cost = 0.75;
  const LoweredStep slowed = lowered(policy, 1e3);
  // The first bucket leaves when the first gradient is there.
  const OpGraph graph = linear_layers(6);
  double before = 0.0, after = 0.0;
  bool sent = false;
  for (std::size_t i = 0; i < free.nodes.size(); ++i) {
    const Pass pass = free.nodes[i].pass;
    if (pass == Pass::forward || pass == Pass::update) continue;
    (sent ? after : before) += free.costs[i].kernel.time.base();
    sent = sent || (pass != Pass::backward_data && !graph.op(free.nodes[i].op).parameters.empty());
  }
  const auto backward = [](const LoweredStep& step) {
    return step_times(step, engine::simulate(step.graph)).phases.backward.base();
  };
  CHECK_THAT(backward(free), WithinRel(before + after, 1e-6));
  CHECK_THAT(backward(slowed), WithinRel(before + after / 0.25, 1e-6));
}

TEST_CASE("a call that costs kernels all of its time is as good as none beside them") {
  BucketPolicy policy;
  policy.bucket = Bytes(4e6);
  policy.overlap_cost = 1.0;
  const double beside = step_of(lowered(policy));
  policy.overlaps = false;
  CHECK_THAT(beside, WithinRel(step_of(lowered(policy)), 1e-6));
}

TEST_CASE("DDP copies gradients into buckets as they come, and back when backward has ended") {
  const KernelModel kernels = plain_kernels();
  BucketPolicy policy;
  policy.bucket = Bytes(8e6);
  policy.overlaps = false;
  const double plain = step_of(lowered(policy, 1e15));
  policy.copies = &kernels;
  const double out = kernels.memory_kernel(Bytes(48e6)).base();
  CHECK_THAT(step_of(lowered(policy, 1e15)) - plain, WithinRel(2.0 * out, 1e-6));  // all at once, there and back
  policy.overlaps = true;
  policy.bucket = Bytes(24e6);
  const double in = 6.0 * kernels.memory_kernel(Bytes(8e6)).base();
  CHECK_THAT(step_of(lowered(policy, 1e15)) - plain, WithinRel(in + out, 1e-6));
}

TEST_CASE("what a call takes from kernels: its thread blocks and, over PCIe, what the library's file says; never more than all") {
  CollectivePlan plan = link(1e9, Seconds(0.0));
  plan.channels = 2;
  Stack stack = hostless_stack();
  CHECK_THAT(bucket_policy(stack, plan, 80).overlap_cost, WithinRel(0.025, 1e-12));
  plan.beside = 0.9;
  CHECK_THAT(bucket_policy(stack, plan, 80).overlap_cost, WithinRel(0.925, 1e-12));
  CHECK(bucket_policy(stack, plan, 8).overlap_cost == 1.0);
  stack.exchange.overlap_cost = 0.28;
  CHECK(bucket_policy(stack, plan, 80).overlap_cost == 0.28);
}
