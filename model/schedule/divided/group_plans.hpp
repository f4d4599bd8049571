#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/schedule/collective/collective.hpp"
#include "model/schedule/divided/pass_time.hpp"
#include "model/stack/nccl.hpp"
#include "model/workload/expert_choice.hpp"
#include "model/workload/layout.hpp"

namespace tbdsim {

/// Where the ranks of a divided network lie: GPUs in the order of nodes, so many on each.
struct RankPlaces {
  const System& system;
  std::vector<int> devices;        ///< of a node
  std::optional<Network> network;  ///< between nodes
  const NcclLibrary& library;
};

/// The part of a group of ranks that one node has, and how many groups share the ways out of it.
struct GroupSpan {
  int local = 1, nodes = 1;  ///< ranks of the group in a node; nodes
  int sharing = 1;           ///< groups of the same axis that leave a node at once
};
/// Expects strides that fit the node: both powers of two, or one a multiple of the other.
[[nodiscard]] GroupSpan span_of(const AxisGroup& group, int per_node);

/// The copies of one expert, over which the gradients of its arrays are added.
[[nodiscard]] AxisGroup expert_copies(const Layout& layout);

/// One collective of a group alone on its share of the links.
struct GroupCall {
  Seconds time;
  Bytes sent;        ///< by each rank
  Taken taken = {};  ///< by its channels, and by what they read and write
  bool leaves_node = false;
  Bytes of_experts{0.0};  ///< of `sent`, for experts' arrays over ranks of their own
};

/// Rows from a stage of a pipeline to the next one.
struct StageHop {
  GroupCall sent, gathered;  ///< between the stages; over the tensor axis behind it
  [[nodiscard]] Seconds time() const { return sent.time + gathered.time; }
};

/// Plans of the collectives along each axis of a layout, found when they are first asked for. All groups of an axis run alike and
/// at once, so each has its share of the node's network.
class GroupPlans {
 public:
  GroupPlans(RankPlaces places, const Layout& layout) : places_(std::move(places)), layout_(layout) {}

  /// The groups of another layout of as many GPUs; plans of equal groups stay.
  void regroup(const Layout& layout) { layout_ = layout; }

  /// Time of a collective along an axis for a message as nccl-tests counts it. Nothing moves along an axis of one rank. A plan
  /// that cannot be made costs nothing and is told by `errors`.
  [[nodiscard]] GroupCall call(Axis axis, CollectiveKind kind, Bytes message);
  /// Rows of a rank go to their experts, or come back: a token once to each node, over the network from the ranks with the same
  /// place in their nodes, and within nodes a row for each expert. Both go on at once, so the longer one counts. Within one node
  /// as `call` has it. `rows`: all rows of a rank.
  /// Source: DeepSeek-AI, arXiv:2412.19437, section 3.2.2.
  [[nodiscard]] GroupCall once_per_node(Bytes rows, const ExpertChoice& choice);
  /// From a stage to the next one, while all ranks of the stage send. `scatters`: where each rank along the tensor axis has all
  /// rows, it sends a share of them, and the next stage's ranks gather them.
  /// Source: Narayanan et al., arXiv:2104.04473, section 4.1.
  [[nodiscard]] StageHop hop(Bytes rows, bool scatters);
  /// Sums what the first and the last stage both hold, while all ranks of both do.
  [[nodiscard]] GroupCall between_ends(Bytes message);
  /// A collective of `ranks` neighbours on the data axis, or of those that lie so many apart.
  [[nodiscard]] GroupCall within_data(int ranks, CollectiveKind kind, Bytes message);
  [[nodiscard]] GroupCall across_data(int ranks, CollectiveKind kind, Bytes message);
  /// Gradients of expert arrays are added over fewer ranks.
  [[nodiscard]] GroupCall expert_data(CollectiveKind kind, Bytes message);
  [[nodiscard]] const Errors& errors() const { return errors_; }

 private:
  struct Key {
    AxisGroup group;
    CollectiveKind kind;
    bool operator<(const Key& other) const {
      return std::tie(group.size, group.stride, kind) < std::tie(other.group.size, other.group.stride, other.kind);
    }
  };
  struct Planned {
    CollectivePlan plan;
    bool leaves_node = false;
  };
  [[nodiscard]] GroupCall call(const AxisGroup& group, CollectiveKind kind, Bytes message);
  /// What a node gets of its network for one group, over its ports, while all groups alike run.
  [[nodiscard]] BytesPerSecond node_share(const AxisGroup& group, CollectiveKind kind) const;
  /// Once, however many collectives it keeps from running.
  void tell(const Error& error);
  [[nodiscard]] const Planned& planned(const AxisGroup& group, CollectiveKind kind);

  RankPlaces places_;
  Layout layout_;
  std::map<Key, Planned> plans_;
  Errors errors_;
};

}  // namespace tbdsim
