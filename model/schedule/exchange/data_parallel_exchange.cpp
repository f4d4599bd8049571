#include "model/schedule/exchange/data_parallel_exchange.hpp"

#include <fmt/format.h>

#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {

using engine::TaskId;

void DataParallelExchange::prepare(StepBuilder& builder) {
  stream_ = builder.add_stream("communication");
  replicate_.prepare(builder);
  reduce_.prepare(builder);
  for (std::size_t i = 0; i < builder.graph().parameters.size(); ++i)
    all_ += builder.gradient_bytes(ParameterId{static_cast<std::int32_t>(i)});
}

void DataParallelExchange::begin_iteration(StepBuilder& builder) {
  sent_.clear();
  if (ranks() > 1) sent_ = {replicate_.call(builder, {Work::exchange, -1, 0, 0, 0}, stream_, all_, updated_)};
}

std::span<const TaskId> DataParallelExchange::before(StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) {
  const Pass pass = builder.node(node).pass;
  if (pass == Pass::forward) return sent_;
  return pass == Pass::update ? std::span<const TaskId>(reduced_) : std::span<const TaskId>();
}

void DataParallelExchange::after(StepBuilder& builder, std::size_t node, std::span<const TaskId> kernels) {
  if (builder.node(node).pass == Pass::update) updated_ = {kernels.front()};
  if (ranks() <= 1 || !builder.ends_backward(node)) return;
  reduced_ = {reduce_.call(builder, {Work::exchange, -1, 0, 0, 1}, stream_, all_, kernels)};
  builder.count_exchanged(2.0 * all_);
}

Result<PlannedExchange> plan_data_parallel(const ExchangeSetting& setting) {
  if (setting.nodes > 1) return fail(fmt::format("exchange dataparallel is one process on one node, not {}", setting.nodes));
  const CollectiveGroup group{setting.devices, 1, std::nullopt};
  auto replicate = plan_collective(setting.system, group, CollectiveKind::broadcast, setting.nccl);
  if (!replicate) return tl::make_unexpected(replicate.error());
  auto reduce = plan_collective(setting.system, group, CollectiveKind::reduce, setting.nccl);
  if (!reduce) return tl::make_unexpected(reduce.error());
  std::string text = fmt::format("weights from and gradients to GPU 0 over {}", replicate->description);
  return PlannedExchange{std::make_unique<DataParallelExchange>(std::move(*replicate), std::move(*reduce)), "fitted",
                         std::move(text)};
}

}  // namespace tbdsim
