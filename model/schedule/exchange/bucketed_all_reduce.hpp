#pragma once
#include <utility>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/schedule/collective/collective_lane.hpp"
#include "model/schedule/exchange/exchange_style.hpp"
#include "model/stack/stack.hpp"

namespace tbdsim {

/// When a bucket of gradients leaves, and what that costs besides its call.
struct BucketPolicy {
  Bytes bucket;             ///< DDP: 25 MiB; Horovod's fusion buffer: 64 MiB; 0: every array is a call of its own
  Bytes first_bucket;       ///< of an iteration, so that the first call starts early (DDP: 1 MiB); 0: as any other
  bool overlaps = true;     ///< false: they leave when backward has ended
  Seconds cycle;            ///< Horovod looks for gradients so often: a bucket leaves at the next look; 0: at once
  double overlap_cost = 0;  ///< of a second of exchange, what the kernels beside it lose: 1 - alone / beside
  /// Where gradients are copied into their buckets and back (DDP): what the copies take on the device, and the host for each
  /// array in all. Null: they are exchanged where they lie.
  const KernelModel* copies = nullptr;
  Seconds copy_issue;
};

/// Gradients are all-reduced in buckets, in the order in which backward produces them. A bucket starts when its last
/// gradient exists (or, without overlap, when backward has ended), one after the other; updates wait for all buckets.
/// Identical ranks are held together: they start together, and a ring all-reduce loads every link of its rings alike, so
/// one flow over all of them stands for all ranks. `ranks_apart` > 1 holds so many apart all the same, which must change
/// nothing.
/// Kernels beside a call are slower, because its thread blocks hold multiprocessors and, over PCIe, because it loads and
/// stores through the memory of the host; which kernels those are is told from the calls' times alone on their links.
/// DDP copies every gradient into its bucket as backward makes it, by a kernel of its own; where all leave after backward, one
/// copy gathers them. The way back begins when backward has ended, bucket by bucket as calls end. Source: Li et al., VLDB 2020,
/// and torch/csrc/distributed/c10d/reducer.cpp (PyTorch DDP: mark_variable_ready_dense, finalize_bucket_dense); Sergeev & Del
/// Balso, arXiv 1802.05799 (Horovod).
class BucketedAllReduce final : public ExchangeStyle {
 public:
  BucketedAllReduce(CollectivePlan all_reduce, BucketPolicy policy, std::int32_t ranks_apart = 1)
      : lane_(std::move(all_reduce)), policy_(policy), ranks_apart_(ranks_apart) {}

  [[nodiscard]] std::int32_t ranks() const override { return ranks_apart_; }
  void prepare(StepBuilder& builder) override;
  void begin_iteration(StepBuilder& builder) override;
  [[nodiscard]] std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) override;
  [[nodiscard]] double stretch(const StepBuilder& builder, std::size_t node, std::int32_t rank) const override;
  [[nodiscard]] Seconds issue(const StepBuilder& builder, std::size_t node, Seconds dispatch) const override;
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override;

 private:
  struct Bucket {
    engine::TaskId call;
    Bytes bytes;
  };
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool copies() const { return policy_.copies != nullptr && lane_.plan().ranks > 1; }
  void copy_back(StepBuilder& builder, std::span<const engine::TaskId> gradients);
  void send(StepBuilder& builder, std::span<const engine::TaskId> gradients, bool last);

  CollectiveLane lane_;
  BucketPolicy policy_;
  std::int32_t ranks_apart_;
  engine::StreamId stream_, copy_stream_;
  std::vector<engine::TaskId> last_;  // at most one: what updates wait for
  std::vector<Bucket> buckets_;       // sent, where they are copied back
  Bytes gathered_;
  std::vector<Bytes> arrays_;  // gathered
  std::int32_t sent_ = 0;
  // Kernel time since backward began: now, when the open bucket's first gradient came, when the last call ends.
  Seconds clock_, opened_, busy_until_;
};

/// The stack's policy; a call's thread blocks are a share of the device's multiprocessors.
[[nodiscard]] BucketPolicy bucket_policy(const Stack& stack, const CollectivePlan& plan, int multiprocessors);

}  // namespace tbdsim
