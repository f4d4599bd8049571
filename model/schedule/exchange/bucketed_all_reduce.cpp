#include "model/schedule/exchange/bucketed_all_reduce.hpp"

#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {

using engine::TaskId;

void BucketedAllReduce::prepare(StepBuilder& builder) {
  stream_ = builder.add_stream("communication");
  lane_.prepare(builder);
}

void BucketedAllReduce::begin_iteration(StepBuilder& /*builder*/) {
  last_.clear();
  gathered_ = Bytes(0.0);
  sent_ = 0;
}

std::span<const TaskId> BucketedAllReduce::before(StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) {
  if (builder.node(node).pass != Pass::update) return {};
  return last_;
}

void BucketedAllReduce::after(StepBuilder& builder, std::size_t node, std::span<const TaskId> kernels) {
  if (lane_.plan().ranks <= 1) return;
  const Pass pass = builder.node(node).pass;
  if (pass == Pass::forward || pass == Pass::update) return;
  for (const ParameterId id : builder.gradients(node)) gathered_ += builder.gradient_bytes(id);
  if (gathered_ == Bytes(0.0)) return;
  if (builder.ends_backward(node) || (overlaps_ && gathered_ >= bucket_)) send(builder, kernels);
}

void BucketedAllReduce::send(StepBuilder& builder, std::span<const TaskId> gradients) {
  last_ = {lane_.call(builder, {Work::exchange, -1, 0, 0, sent_++}, stream_, gathered_, gradients)};
  builder.count_exchanged(gathered_);
  gathered_ = Bytes(0.0);
}

Result<PlannedExchange> plan_bucketed_all_reduce(const ExchangeSetting& setting) {
  auto plan = plan_collective(setting.system, {setting.devices, setting.nodes, setting.network}, CollectiveKind::all_reduce,
                              setting.nccl);
  if (!plan) return tl::make_unexpected(plan.error());
  std::string description = plan->description;
  auto style =
      std::make_unique<BucketedAllReduce>(std::move(*plan), setting.stack.exchange_bucket, setting.stack.exchange_overlaps);
  return PlannedExchange{std::move(style), "fitted", std::move(description)};
}

}  // namespace tbdsim
