#pragma once
#include "model/engine/timeline.hpp"
#include "model/prediction/prediction.hpp"
#include "model/schedule/lower.hpp"

namespace tbdsim {

/// What the last (steady) iteration of a simulated step shows.
struct StepTimes {
  Seconds step;
  std::int32_t rank = 0;  ///< whose stages these are: the one that ends last
  PhaseTimes phases;
  Seconds busy;       ///< compute stream of that rank
  Seconds mean_busy;  ///< of all ranks
  Seconds host_busy;
  Seconds decoding;                     ///< thread time of one node's input
  Seconds network;                      ///< that the busiest way between nodes needs for a step's bytes
  Seconds serving;                      ///< thread time of one node's parameter server
  Seconds slowest;                      ///< for which all wait for the GPU that computes longest; of `step`
  std::optional<Resource> slowest_of;   ///< the limit that this wait counts to
  Flop flop, tensor_flop;               ///< mean over ranks, with what is computed again
  Flop useful_flop;                     ///< without it
  Seconds executing, tensor_executing;  ///< time of fp32 lanes, of tensor cores for the multiply-adds that run; mean over ranks
  std::vector<Limit> limits;            ///< shares of the critical path, largest first
  std::vector<double> launch_shares;    ///< of each limit: the part of its time in which kernels start and drain
};
[[nodiscard]] StepTimes step_times(const LoweredStep& step, const engine::Timeline& timeline);

/// Layers and kernels of the last iteration.
void describe_step(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline, const Device& device,
                   FlopPerSecond tensor_peak, Prediction& prediction);

}  // namespace tbdsim
