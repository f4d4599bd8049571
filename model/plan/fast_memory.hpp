#pragma once
#include <array>
#include <map>
#include <optional>

#include "model/plan/stage_places.hpp"
#include "model/prediction/memory_estimator.hpp"

namespace tbdsim::plan {

/// Memory of many layouts of one job, from a few small stages.
///
/// `predict` replays the allocator for every stage. Beside arrays, which are counted, what a stage holds grows by equal steps
/// with its layers, with the samples of a micro-batch and with the micro-batches in flight. So stages of few layers are replayed
/// by the same function (`part_memory`), and larger ones follow from these. Neglects that layers of one network differ, and what
/// the allocator keeps of larger stages.
class FastMemory {
 public:
  /// Expects arguments that outlive it.
  FastMemory(const Configuration& base, const KernelModel& kernels) : base_(base), kernels_(kernels) {}

  /// What arrays of the fullest rank hold at once, without what the allocator keeps besides: seldom above `RankMemory::peak`.
  /// Expects the share of the layout and the places of its layers.
  [[nodiscard]] Bytes held(const Configuration& configuration, const RankShare& share, const StagePlaces& stages);
  /// The part of it that weights, gradients, states and their exchange take.
  [[nodiscard]] Bytes arrays(const Configuration& configuration, const RankShare& share, const StagePlaces& stages);
  /// Drops what was replayed of a share.
  void forget() {
    parts_.clear();
    stages_.clear();
    states_.clear();
  }

 private:
  /// Beside arrays: corners of a box of layers, samples and micro-batches in flight, once they are asked for.
  using StageMap = std::array<std::optional<Bytes>, 8>;
  /// What an element of the arrays takes, one of experts' arrays more than that, and what there is besides.
  struct Line {
    Bytes of_element, more_of_experts, beside;
    [[nodiscard]] Bytes of(const Elements& elements) const {
      return beside + elements.all() * of_element + elements.experts * more_of_experts;
    }
  };
  /// Arrays, with what is gathered of them; and what is held beside them during the update, which no micro-batch outlives.
  struct State {
    Line arrays, update;
  };
  /// What of a step is replayed.
  enum class Moment { all, passes, update };
  struct StageKey {
    Ends ends;
    Recompute recompute;
    bool accumulates;
    auto operator<=>(const StageKey&) const = default;
  };
  struct StateKey {
    int zero, ranks, expert_ranks;
    bool accumulates;
    auto operator<=>(const StateKey&) const = default;
  };

  struct PartKey {
    Ends ends;
    int layers;
    Recompute recompute;
    auto operator<=>(const PartKey&) const = default;
  };

  [[nodiscard]] const NetworkPart& part(const RankShare& share, const PartKey& key);
  [[nodiscard]] RankMemory replay(const Configuration& configuration, const RankShare& share, Ends ends, int layers,
                                  double in_flight, Moment moment);
  [[nodiscard]] Bytes corner(const Configuration& configuration, const RankShare& share, Ends ends, std::size_t which);
  [[nodiscard]] State state(const Configuration& configuration, const RankShare& share);
  [[nodiscard]] Bytes beside_arrays(const Configuration& configuration, const RankShare& share, Ends ends, double layers,
                                    double in_flight);

  const Configuration& base_;
  const KernelModel& kernels_;
  std::map<PartKey, NetworkPart> parts_;
  std::map<StageKey, StageMap> stages_;
  std::map<StateKey, State> states_;
};

/// Micro-batches in flight on a rank, as shares of all it holds: the counts of closed_form.hpp.
[[nodiscard]] double in_flight(const Configuration& configuration, int rank);

}  // namespace tbdsim::plan
