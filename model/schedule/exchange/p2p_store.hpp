#pragma once
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/schedule/exchange/exchange_style.hpp"
#include "model/schedule/exchange/peer_copies.hpp"

namespace tbdsim {

/// The GPU on which each key is merged and updated: keys by size, largest first, each to the GPU with the fewest
/// elements so far, of several the first. Keys of equal size keep their order.
[[nodiscard]] std::vector<std::int32_t> key_homes(const std::vector<std::int64_t>& elements, std::int32_t gpus);

/// MXNet's `device` store: per key, the gradients of all other GPUs are copied to the key's home, summed there, the
/// weights updated there and copied to every other GPU. Copies start as soon as their source exists, front layers first;
/// the threads that serve one source GPU each wait for their copy; the next forward pass waits layer by layer.
/// A copy over a relay is two: the whole array to the relay, which fetches nothing before it has all, and on from there by
/// the relay's own threads.
/// Merges and updates run beside the compute stream, on the home's second stream.
/// The process that drives all GPUs spends host time on every key, which follows the backward pass and hides behind
/// nothing.
/// Source: src/kvstore/comm.h (CommDevice) and python/mxnet/model.py of Apache MXNet 1.1.
class P2pStore final : public ExchangeStyle {
 public:
  P2pStore(std::int32_t gpus, std::vector<CopyRoute> routes, int copy_workers, const KernelModel& kernels, Seconds host_per_key)
      : gpus_(gpus), copies_(std::move(routes)), copy_workers_(copy_workers), kernels_(kernels), host_per_key_(host_per_key) {}

  [[nodiscard]] std::int32_t ranks() const override { return gpus_; }
  [[nodiscard]] std::int32_t iterations() const override { return 5; }
  [[nodiscard]] bool carries_over() const override { return true; }
  [[nodiscard]] bool runs(const StepBuilder& builder, std::size_t node, std::int32_t rank) const override;
  void prepare(StepBuilder& builder) override;
  [[nodiscard]] std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) override;
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override;

 private:
  void exchange(StepBuilder& builder, ParameterId key, std::span<const engine::TaskId> gradients);
  /// Returns the task with which the bytes of `key` have arrived.
  engine::TaskId copy(StepBuilder& builder, ParameterId key, std::int32_t from, std::int32_t to, engine::TaskId after);
  [[nodiscard]] std::size_t pair(std::int32_t from, std::int32_t to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(gpus_) + static_cast<std::size_t>(to);
  }

  std::int32_t gpus_;
  PeerCopies copies_;
  std::int32_t copy_workers_;
  const KernelModel& kernels_;
  Seconds host_per_key_;
  std::vector<std::int32_t> home_;                   // per key
  std::vector<engine::StreamId> workers_, updates_;  // per GPU
  engine::StreamId process_;
  std::vector<engine::TaskId> arrived_;  // per key and GPU: the task that brought the weights; -1 before the first
  std::vector<engine::TaskId> driven_;   // at most one: the driving process has handled all keys
  std::vector<engine::TaskId> waits_;
};

}  // namespace tbdsim
