#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/cost/kernel_model.hpp"
#include "model/prediction/prediction.hpp"
#include "model/prediction/rank_step.hpp"
#include "model/prediction/step_times.hpp"

namespace tbdsim {

/// A step that is simulated layer by layer.
struct DividedStep {
  explicit DividedStep(KernelModel model) : kernels(std::move(model)) {}
  KernelModel kernels;
  StepTimes times;
  std::vector<NodeCost> costs;  ///< of the slowest rank's kernels in a step: one for all equal ones, with the time of all
  std::vector<AxisTraffic> communication;
  Bytes exchanged;                ///< gradients that a rank hands over
  Flop again_flop;                ///< of what is computed again, per GPU
  std::vector<LayerTime> layers;  ///< of operators of the rank's share of the network, for all micro-batches; where asked for
  std::vector<KernelTime> kernel_times;  ///< of the slowest rank, equal ones together; where asked for
  std::vector<HostTime> host;            ///< of the same
  std::string exchange_text;             ///< how gradients travel
  std::vector<ChunkPass> chunks;         ///< of the network, in order
  std::vector<RankStep> ranks;           ///< of a pipeline; one without
  Seconds hop;                           ///< between stages
  std::vector<std::string> notices;
};

/// The step of a network that is divided as the configuration's layout says, or trained by a loop made for divided networks.
///
/// A layer of each class is simulated once, forward and backward, with its kernels, its host time and the collectives between its
/// operators; a micro-batch's passes over a part of the network are sums of those; the schedule's table of passes gives the time
/// of all micro-batches. Gradients are exchanged beside the last backward pass or after it, as the stack says; state that is
/// sharded over the copies is updated in shares and gathered again. Weights that are sharded (ZeRO 3, FSDP) are gathered layer by
/// layer beside the layer before, and gradients leave beside the layer after. Sources: arXiv:1909.08053, 2104.04473, 2205.05198,
/// 1910.02054, 2304.11277. Errors: as `predict`.
[[nodiscard]] Result<DividedStep> divided_step(const Configuration& configuration, bool detail);

/// Share of the power of products that a step draws whose GPU is busy for a part of it: one that waits draws less, and the limit
/// is one of the mean over some 100 ms.
[[nodiscard]] double power_share(Seconds busy, Seconds step);

}  // namespace tbdsim
