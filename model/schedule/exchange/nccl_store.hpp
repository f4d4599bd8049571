#pragma once
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/schedule/collective/collective_lane.hpp"
#include "model/schedule/exchange/exchange_style.hpp"

namespace tbdsim {

/// MXNet's `nccl` store: keys in groups, in parameter order. When all gradients of a group exist, one reduce of all its bytes
/// to the first GPU; the host waits for it; the first GPU updates the group's weights beside its compute stream; one
/// broadcast; the host waits again. The next forward pass waits layer by layer for its group.
/// All GPUs compute alike, so one stands for all: the first, whose updates hold up the others.
/// Host time per key as in the `device` store. Ignores that waiting threads cannot serve anything else.
/// Source: src/kvstore/kvstore_nccl.h and python/mxnet/model.py of Apache MXNet 1.1.
class NcclStore final : public ExchangeStyle {
 public:
  struct Settings {
    int keys_per_group = 16;
    Seconds host_per_key;   ///< over all GPUs
    double slowdown = 1.0;  ///< of the updates, as of the step's other kernels
  };
  NcclStore(CollectivePlan reduce, CollectivePlan broadcast, const KernelModel& kernels, Settings settings)
      : reduce_(std::move(reduce)), broadcast_(std::move(broadcast)), kernels_(kernels), settings_(settings) {}

  [[nodiscard]] std::int32_t iterations() const override { return 5; }
  [[nodiscard]] bool carries_over() const override { return true; }
  [[nodiscard]] bool runs(const StepBuilder& builder, std::size_t node, std::int32_t rank) const override;
  void prepare(StepBuilder& builder) override;
  void begin_iteration(StepBuilder& builder) override;
  [[nodiscard]] std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) override;
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override;

 private:
  struct Group {
    Bytes bytes;
    Seconds update;
    std::size_t keys = 0, missing = 0;  // missing: gradients that do not exist yet
    engine::TaskId arrived;             // the broadcast of the iteration before; -1 before the first
    std::vector<engine::TaskId> gradients;
  };
  [[nodiscard]] std::size_t group_of(ParameterId key) const;
  void exchange(StepBuilder& builder, std::int32_t number);

  CollectiveLane reduce_, broadcast_;
  const KernelModel& kernels_;
  Settings settings_;
  std::vector<Group> groups_;
  engine::StreamId calls_, updates_, process_;
  std::vector<engine::TaskId> driven_, waits_;
};

}  // namespace tbdsim
