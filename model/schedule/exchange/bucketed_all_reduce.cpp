#include "model/schedule/exchange/bucketed_all_reduce.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/issue.hpp"
#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {

using engine::TaskId;

namespace {

/// A copy reads and writes.
constexpr double kCopyPasses = 2.0;

}  // namespace

void BucketedAllReduce::prepare(StepBuilder& builder) {
  stream_ = builder.add_stream("communication");
  if (copies()) copy_stream_ = builder.add_stream("buckets");
  lane_.prepare(builder);
}

void BucketedAllReduce::begin_iteration(StepBuilder& /*builder*/) {
  last_.clear();
  buckets_.clear();
  gathered_ = Bytes(0.0);
  arrays_.clear();
  sent_ = 0;
  clock_ = opened_ = busy_until_ = Seconds(0.0);
}

std::span<const TaskId> BucketedAllReduce::before(StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) {
  if (builder.node(node).pass != Pass::update) return {};
  return last_;
}

double BucketedAllReduce::stretch(const StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) const {
  const Pass pass = builder.node(node).pass;
  const Seconds alone = builder.step().costs[node].kernel.time;
  if (pass == Pass::forward || pass == Pass::update || alone <= Seconds(0.0)) return 1.0;
  Seconds time = alone;
  if (copies() && policy_.overlaps)
    for (const ParameterId id : builder.gradients(node))
      time += policy_.copies->memory_kernel(kCopyPasses * builder.gradient_bytes(id));
  if (busy_until_ <= clock_) return time / alone;
  // Beside a call the kernel does 1 - cost seconds of its work in a second.
  const double pace = 1.0 - policy_.overlap_cost;
  const Seconds left = busy_until_ - clock_;
  const Seconds beside = pace > 0.0 ? std::min(left, time / pace) : left;
  return (time + policy_.overlap_cost * beside) / alone;
}

Seconds BucketedAllReduce::issue(const StepBuilder& builder, std::size_t node, Seconds dispatch) const {
  if (!copies() || !policy_.overlaps) return dispatch;
  return dispatch + static_cast<double>(builder.gradients(node).size()) * policy_.copy_issue;
}

void BucketedAllReduce::after(StepBuilder& builder, std::size_t node, std::span<const TaskId> kernels) {
  if (lane_.plan().ranks <= 1) return;
  const Pass pass = builder.node(node).pass;
  if (pass == Pass::forward || pass == Pass::update) return;
  clock_ += stretch(builder, node, 0) * builder.step().costs[node].kernel.time;
  for (const ParameterId id : builder.gradients(node)) {
    if (arrays_.empty()) opened_ = clock_;
    arrays_.push_back(builder.gradient_bytes(id));
    gathered_ += arrays_.back();
  }
  if (gathered_ == Bytes(0.0)) return;
  const bool last = builder.ends_backward(node);
  if (last || (policy_.overlaps && full())) send(builder, kernels, last);
}

bool BucketedAllReduce::full() const {
  const bool first = sent_ == 0 && policy_.first_bucket > Bytes(0.0);
  if (gathered_ >= (first ? policy_.first_bucket : policy_.bucket)) return true;
  const Seconds cycle = policy_.cycle;
  return cycle > Seconds(0.0) && std::floor(clock_ / cycle) > std::floor(opened_ / cycle);
}

void BucketedAllReduce::send(StepBuilder& builder, std::span<const TaskId> gradients, bool last) {
  const StepTask task{Work::exchange, -1, 0, 0, sent_++};
  // After backward has ended no kernel's end tells of the next look: it is half a cycle away on average.
  const Seconds wait = (last ? 0.5 : 0.0) * policy_.cycle;
  busy_until_ = std::max(busy_until_, clock_) + wait;
  std::vector<TaskId> after(gradients.begin(), gradients.end());
  if (wait > Seconds(0.0)) after = {builder.add_task(task, stream_, wait, after)};
  if (copies() && !policy_.overlaps)
    after = {builder.add_task(task, stream_, policy_.copies->memory_kernel(kCopyPasses * gathered_), after)};
  if (policy_.bucket > Bytes(0.0)) arrays_.assign(1, gathered_);
  for (const Bytes array : arrays_) {
    after = {lane_.call(builder, task, stream_, array, after)};
    busy_until_ += collective_call(lane_.plan(), array).time;
  }
  last_ = after;
  if (copies()) {
    buckets_.push_back({after.front(), gathered_});
    if (last) copy_back(builder, gradients);
  }
  builder.count_exchanged(gathered_);
  gathered_ = Bytes(0.0);
  arrays_.clear();
}

void BucketedAllReduce::copy_back(StepBuilder& builder, std::span<const TaskId> gradients) {
  for (const Bucket& bucket : buckets_) {
    std::vector<TaskId> after(gradients.begin(), gradients.end());
    after.push_back(bucket.call);
    const StepTask task{Work::exchange, -1, 0, 0, sent_, Leg::merge};
    last_ = {builder.add_task(task, copy_stream_, policy_.copies->memory_kernel(kCopyPasses * bucket.bytes), after)};
  }
}

BucketPolicy bucket_policy(const Stack& stack, const CollectivePlan& plan, int multiprocessors) {
  BucketPolicy policy;
  policy.bucket = stack.exchange.bucket;
  policy.first_bucket = stack.exchange.first_bucket;
  policy.overlaps = stack.exchange.overlaps;
  policy.cycle = stack.exchange.cycle;
  const double blocks = multiprocessors > 0 ? std::min(1.0, static_cast<double>(plan.channels) / multiprocessors) : 0.0;
  policy.overlap_cost = stack.exchange.overlap_cost.value_or(std::min(1.0, blocks + plan.beside));
  return policy;
}

Result<PlannedExchange> plan_bucketed_all_reduce(const ExchangeSetting& setting) {
  auto plan = plan_collective(setting.system, {setting.devices, setting.nodes, setting.network, setting.stack.exchange.launch},
                              CollectiveKind::all_reduce, setting.nccl);
  if (!plan) return tl::make_unexpected(plan.error());
  std::string description = plan->description;
  BucketPolicy policy = bucket_policy(setting.stack, *plan, setting.system.device.multiprocessors);
  if (const auto measured = setting.system.device.calibration.own.overlap_cost) policy.overlap_cost = *measured;
  if (setting.stack.exchange.copies_all) {
    constexpr double kCopies = 2.0;  // into the bucket and back
    policy.copies = &setting.kernels;
    const HostSettings& host = setting.stack.host;
    policy.copy_issue = kCopies * issue_scale(setting.system.host, host) * issued_sum(host) * host.dispatch;
  }
  auto style = std::make_unique<BucketedAllReduce>(std::move(*plan), policy);
  return PlannedExchange{std::move(style), "fitted", std::move(description)};
}

}  // namespace tbdsim
