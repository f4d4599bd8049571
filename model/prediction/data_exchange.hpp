#pragma once
#include <span>

#include "model/configuration/configuration.hpp"
#include "model/cost/kernel_model.hpp"
#include "model/schedule/divided/host_copies.hpp"
#include "model/schedule/divided/layer_times.hpp"

namespace tbdsim {

/// Elements of arrays: those that every rank along the data axis has, and those of experts.
struct Elements {
  double dense = 0, experts = 0;
  [[nodiscard]] double all() const { return dense + experts; }
  Elements& operator+=(const Elements& more) {
    dense += more.dense;
    experts += more.experts;
    return *this;
  }
  bool operator==(const Elements&) const = default;
};

/// Calls of one kind, one after the other: together, and the last one.
struct CallSeries {
  Seconds time, last;
  Taken taken;  ///< from kernels beside them
};

/// A pass of one micro-batch beside which calls run.
struct PassBeside {
  Seconds time;
  double memory_share = 0;  ///< of its kernels' time, that memory bounds
};

/// What follows a rank's last micro-batch, whatever its passes take.
struct UpdateCalls {
  CallSeries gradients, weights;  ///< gradients leave; updated weights are gathered
  double turns = 1;               ///< in which gradients leave
  Seconds copies;                 ///< of gradients into buckets and back
  Seconds update;                 ///< of what the GPU updates
  HostUpdate host;                ///< of what the host updates
  Bytes exchanged, sent;
  Bytes of_experts;  ///< of `sent`, for experts' arrays over ranks of their own
  /// Counts a call that is made so often.
  void send(double times, const GroupCall& call) {
    sent += times * call.sent;
    of_experts += times * call.of_experts;
  }
  /// All of it, with the copies, which are waited for as well.
  [[nodiscard]] Seconds exchange() const { return turns * gradients.time + copies + weights.time; }
};

/// Ranks over which states are divided, where they are: of arrays that every rank along the data axis has, and of experts'.
struct ShardRanks {
  int dense = 1, experts = 1;
};
/// All copies, or as many neighbours as the stack says. Of experts there are fewer copies: d t c / (e t_e).
[[nodiscard]] ShardRanks shard_ranks(const Configuration& configuration);

/// Elements of a table that the first stage of a pipeline reads words from and the last one scores them with, so that each holds
/// a copy; 0: there is none.
[[nodiscard]] double copied_table(const OpGraph& graph);
/// Of feature maps, as they travel.
[[nodiscard]] Bytes map_element(const Configuration& configuration);
/// As the stack says where it keeps buffers of sums. Else the first gradient of an update stays, and each other one is added by a
/// kernel that reads both and writes the sum.
[[nodiscard]] GradientSum gradient_sum(const Configuration& configuration);
/// What the layers of a configuration are simulated with. Expects arguments that outlive it.
[[nodiscard]] LayerSetting layer_setting(const Configuration& configuration, const KernelModel& kernels, const Stack& stack);

/// Gradients, weights and state of a divided network along its data axis, and their update.
class DataExchange {
 public:
  /// Expects arguments that outlive it, and a configuration that is simulated layer by layer.
  DataExchange(const Configuration& configuration, const KernelModel& kernels, GroupPlans& plans);

  [[nodiscard]] Bytes gradient() const { return gradient_; }  ///< as ranks add it up
  /// Weights are gathered for each pass of a layer, and their gradients divided after it.
  [[nodiscard]] bool sharded() const { return sharded_; }
  /// A pass over such layers; backward in the opposite order. Expects `sharded`.
  [[nodiscard]] PassTime pass(std::span<const LayerCost* const> layers, bool backward);
  /// What a rank does for an update that has so many arrays, of such sizes without experts'.
  [[nodiscard]] UpdateCalls update(Elements elements, int arrays, const ArraySizes& sizes);
  /// Sum of the gradients of a table that both ends of a pipeline hold.
  [[nodiscard]] GroupCall between_ends(double table) { return plans_.between_ends(table * gradient_); }
  /// What a rank waits for these calls.
  [[nodiscard]] Seconds exposed(const UpdateCalls& calls, PassBeside forward, PassBeside backward) const;
  /// What it waits for its host then: copies that nothing hides, and the host's update beyond the GPU's own.
  [[nodiscard]] Seconds offload_wait(const UpdateCalls& calls, PassBeside backward) const;

 private:
  [[nodiscard]] bool divides() const;
  [[nodiscard]] GroupCall call(CollectiveKind kind, Elements arrays, Bytes element);
  [[nodiscard]] CallSeries in_buckets(CollectiveKind kind, Elements arrays, Bytes element, UpdateCalls& calls);
  [[nodiscard]] CallSeries updated_weights(Elements arrays, std::span<const double> owners, UpdateCalls& calls);
  [[nodiscard]] Seconds update_time(Elements arrays, int count) const;

  const Configuration& configuration_;
  const Stack& stack_;
  const Layout& layout_;
  const KernelModel& kernels_;
  GroupPlans& plans_;
  Bytes element_, gathered_, gradient_;
  ShardRanks shards_;
  int copies_ = 1, copies_of_experts_ = 1;
  bool own_experts_ = false;  ///< experts have groups of their own
  bool sharded_ = false;
};

}  // namespace tbdsim
