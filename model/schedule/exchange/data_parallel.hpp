#pragma once
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/schedule/collective/collective_lane.hpp"
#include "model/schedule/exchange/exchange_style.hpp"
#include "model/schedule/exchange/peer_copies.hpp"

namespace tbdsim {

/// PyTorch's nn.DataParallel: one process drives all GPUs, and everything passes the first one. Every step scatters the
/// batch from there, broadcasts the weights in buffers of 10 MiB, runs one thread per GPU through the forward pass,
/// gathers the outputs, computes the loss of the whole batch there, scatters its gradient, and, when every replica's
/// backward pass has ended, adds up the gradients there, buffer by buffer; only the first GPU updates. Nothing hides.
///
/// Threads share Python's interpreter lock, so the forward pass of n GPUs takes a little over n times the host's time for one;
/// backward passes run on threads without it. Making a replica costs the host a time for every array (`IssueSettings::replica`).
/// All GPUs compute alike; the first, which has the loss, stands for all.
/// Source: torch/nn/parallel/{data_parallel,replicate,_functions}.py and torch/nn/parallel/comm.py of PyTorch 1.4.
/// Neglects: the driver's checks between replicas.
class DataParallelExchange final : public ExchangeStyle {
 public:
  struct Plan {
    CollectivePlan broadcast, reduce;
    std::vector<CopyRoute> routes;  ///< of every ordered pair
    int gpus = 1;
    Seconds replica;   ///< host time of an array of a replica
    double batch = 1;  ///< of one GPU
  };
  DataParallelExchange(Plan plan, const KernelModel& kernels)
      : broadcast_(std::move(plan.broadcast)),
        reduce_(std::move(plan.reduce)),
        copies_(std::move(plan.routes)),
        gpus_(plan.gpus),
        replica_(plan.replica),
        batch_(plan.batch),
        kernels_(kernels) {}

  [[nodiscard]] std::int32_t iterations() const override { return 2; }
  [[nodiscard]] bool in_passes() const override { return true; }
  void prepare(StepBuilder& builder) override;
  void begin_iteration(StepBuilder& builder) override;
  [[nodiscard]] std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) override;
  [[nodiscard]] double stretch(const StepBuilder& builder, std::size_t node, std::int32_t rank) const override;
  [[nodiscard]] Seconds issue(const StepBuilder& builder, std::size_t node, Seconds dispatch) const override;
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override;

 private:
  enum class Direction { scatter, gather };
  void move(StepBuilder& builder, Direction direction, Bytes bytes, engine::TaskId after);
  void weights(StepBuilder& builder, CollectiveLane& lane);

  CollectiveLane broadcast_, reduce_;
  PeerCopies copies_;
  int gpus_;
  Seconds replica_;
  double batch_;
  const KernelModel& kernels_;
  engine::StreamId stream_;
  std::int32_t calls_ = 0;
  engine::TaskId last_;                  // kernel that ended the iteration before; -1 before the first
  std::vector<engine::TaskId> waiting_;  // what the next kernel waits for
  std::vector<engine::TaskId> wait_;
};

}  // namespace tbdsim
