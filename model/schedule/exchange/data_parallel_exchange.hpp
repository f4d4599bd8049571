#pragma once
#include <vector>

#include "model/schedule/collective/collective_lane.hpp"
#include "model/schedule/exchange/exchange_style.hpp"

namespace tbdsim {

/// PyTorch's DataParallel: one process drives all GPUs of a node, whose operators it issues one GPU after the other. Every
/// step GPU 0 sends all weights to the others, all run forward and backward on their part, all gradients are added on
/// GPU 0 when backward has ended, and GPU 0 alone updates.
/// Source: torch/nn/parallel (replicate: Broadcast; its backward: ReduceAddCoalesced). Neglects: scattering the batch and
/// gathering the outputs, which are small beside weights and gradients; losses and outputs that grow GPU 0's memory.
class DataParallelExchange final : public ExchangeStyle {
 public:
  DataParallelExchange(CollectivePlan replicate, CollectivePlan reduce)
      : replicate_(std::move(replicate)), reduce_(std::move(reduce)) {}

  [[nodiscard]] std::int32_t ranks() const override { return replicate_.plan().ranks; }
  [[nodiscard]] bool shared_host() const override { return true; }
  [[nodiscard]] std::int32_t iterations() const override { return 2; }
  [[nodiscard]] bool runs(const StepBuilder& builder, std::size_t node, std::int32_t rank) const override {
    return rank == 0 || builder.node(node).pass != Pass::update;
  }
  void prepare(StepBuilder& builder) override;
  void begin_iteration(StepBuilder& builder) override;
  [[nodiscard]] std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) override;
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override;

 private:
  CollectiveLane replicate_, reduce_;
  engine::StreamId stream_;
  Bytes all_;                                   // weights, and as many gradients
  std::vector<engine::TaskId> updated_;         // at most one: the last update of GPU 0
  std::vector<engine::TaskId> sent_, reduced_;  // at most one each
};

}  // namespace tbdsim
