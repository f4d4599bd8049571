#pragma once
#include <utility>
#include <vector>

#include "model/schedule/collective/collective_lane.hpp"
#include "model/schedule/exchange/exchange_style.hpp"
#include "model/stack/stack.hpp"

namespace tbdsim {

/// Gradients are all-reduced in buckets of the stack's size, in the order in which backward produces them. A bucket
/// starts when its last gradient exists (or, without overlap, when backward has ended), one after the other; updates
/// wait for all buckets. Identical ranks are held together: they start together, and a ring all-reduce loads every link
/// of its rings alike, so one flow over all of them stands for all ranks. `ranks_apart` > 1 holds so many apart all the same,
/// which must change nothing.
class BucketedAllReduce final : public ExchangeStyle {
 public:
  BucketedAllReduce(CollectivePlan all_reduce, Bytes bucket, bool overlaps, std::int32_t ranks_apart = 1)
      : lane_(std::move(all_reduce)), bucket_(bucket), overlaps_(overlaps), ranks_apart_(ranks_apart) {}

  [[nodiscard]] std::int32_t ranks() const override { return ranks_apart_; }
  void prepare(StepBuilder& builder) override;
  void begin_iteration(StepBuilder& builder) override;
  [[nodiscard]] std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) override;
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override;

 private:
  void send(StepBuilder& builder, std::span<const engine::TaskId> gradients);

  CollectiveLane lane_;
  Bytes bucket_;
  bool overlaps_;
  std::int32_t ranks_apart_;
  engine::StreamId stream_;
  std::vector<engine::TaskId> last_;  // at most one: the bucket sent last
  Bytes gathered_;
  std::int32_t sent_ = 0;
};

}  // namespace tbdsim
