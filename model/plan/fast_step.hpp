#pragma once
#include <map>
#include <memory>
#include <tuple>

#include "model/plan/layer_table.hpp"
#include "model/plan/stage_places.hpp"
#include "model/schedule/pipeline/closed_form.hpp"
#include "model/schedule/pipeline/generate.hpp"
#include "model/schedule/pipeline/simulate_pipeline.hpp"

namespace tbdsim::plan {

/// How a pipeline's passes are put together.
enum class Depth {
  closed_form,  ///< formulas of model/schedule/pipeline/closed_form.hpp
  recurrence,   ///< the schedule's table over few micro-batches, then extrapolated by their pace
};

/// Step times of many layouts of one job, from the parts of `predict` (`layer_costs`, `DataExchange`) and closed forms in place
/// of its simulation. Keeps what layouts share; for one thread.
class FastStep {
 public:
  /// `base`: the job, whatever its layout. Expects arguments that outlive it, and that are simulated layer by layer.
  FastStep(const Configuration& base, const DrawnKernels& kernels);

  /// Step time of `base` divided as `configuration` is. Neglects the loading of samples.
  /// Errors: as `shard`; more stages than layers; groups that no links join.
  [[nodiscard]] Result<Seconds> time(const Configuration& configuration, Depth depth);
  /// What no layout of these axes, samples and recomputation goes below by `time`: the layers of the mean rank, whose products
  /// run at the clock that the waits among them allow. What a layout adds are further waits, which take longer than the higher
  /// clock saves. `pairs`: passes may hide each other's exchange of experts, as dualpipe's do. Expects the share of its layout.
  [[nodiscard]] Seconds least(const Configuration& configuration, const RankShare& share, bool pairs);
  /// The network as one rank of this layout computes it; it stays while layouts of other axes are asked for.
  [[nodiscard]] const Result<RankShare>& share(const Layout& layout);
  /// Where its layers lie in the pipeline of a layout; stays as long. Expects no more stages than layers.
  [[nodiscard]] const StagePlaces& places(const Configuration& configuration, const RankShare& share);
  /// Drops what layouts before had in common.
  void forget();

 private:
  struct Step {
    Seconds time, busy;
    Seconds kernels;  ///< of the passes of the slowest rank
  };
  /// One of the ranks alike.
  struct Rank {
    RunTimes run;  ///< of one micro-batch through all its chunks
    Seconds end;   ///< of the last backward pass of the last one
    UpdateCalls calls;
  };
  using ShareKey = std::tuple<int, int, int, int, bool>;
  using TableKey = std::tuple<ShareKey, int, Recompute, GradientSum>;
  using PlacesKey = std::tuple<ShareKey, int, int, pipeline::Placement>;

  /// What a layout is computed with.
  struct Case {
    const Configuration& configuration;
    const RankShare& share;
    const StagePlaces& stages;
    LayerTable& table;
    DataExchange& data;
    Depth depth;
  };
  [[nodiscard]] static ShareKey key_of(const Layout& layout);
  [[nodiscard]] LayerTable& table(const Configuration& configuration, const RankShare& share);
  void call_updates(const Case& layout);
  [[nodiscard]] Step step(const Case& layout, DrawPlace draw);
  void pass_all(const Case& layout, DrawPlace draw);
  void simulate(const Case& layout, DrawPlace draw, Seconds hop);
  [[nodiscard]] static double table_copy(const Case& layout);

  const Configuration& base_;
  const DrawnKernels& kernels_;
  GroupPlans plans_;
  double slowest_share_;
  std::map<ShareKey, Result<RankShare>> shares_;
  std::map<TableKey, LayerTable> tables_;
  std::map<PlacesKey, StagePlaces> places_;
  // Of the layout at hand.
  std::vector<Rank> ranks_;  ///< of each kind
  std::vector<pipeline::StageTime> times_;
};

}  // namespace tbdsim::plan
