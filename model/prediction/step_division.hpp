#pragma once
#include <string>
#include <vector>

#include "model/units/quantity.hpp"
#include "model/workload/layout.hpp"

namespace tbdsim {

/// What of an axis's bytes passes one tier of the wiring: inside the node, or a tier of the network.
struct TierTraffic {
  std::string tier;         ///< "node", "leaf"
  Bytes bytes;              ///< that a GPU sends through it in a step, on the mean
  BytesPerSecond capacity;  ///< of a GPU's share of its links, one direction
  bool network = false;     ///< beyond the node
};

/// What travels along one axis of a layout in a step.
struct AxisTraffic {
  Axis axis = Axis::data;
  std::string kind;  ///< collectives: "all-gather, reduce-scatter"
  int ranks = 1;     ///< of a group
  Bytes bytes;       ///< that a rank sends
  Seconds time;      ///< of all calls, as if nothing ran beside them
  Seconds exposed;   ///< for which the rank waits
  bool leaves_node = false;
  std::vector<TierTraffic> tiers{};  ///< innermost first
  Bytes of_experts{0.0};             ///< of `bytes` along the data axis, for experts' arrays: between the copies of each expert
};

/// How a step that was simulated layer by layer is divided, and what the division costs.
struct StepDivision {
  bool by_layers = false;  ///< the step was simulated layer by layer, divided as `layout` says
  Layout layout;
  int zero = 0;
  int micro_batches = 1;
  double offload_states = 0;  ///< share of them on the host
  int offload_layers = 0;     ///< whose activations lie there
  std::string schedule;       ///< of a pipeline; empty: there is none
  std::string recompute;
  std::vector<AxisTraffic> communication;  ///< by axis
  Seconds wait;                            ///< for the GPU that computes longest: exposed exchange that is on no axis
  Seconds recomputed;                      ///< part of the backward time that computes again
  Seconds mean_kernels;                    ///< forward and backward kernels of the mean stage
};

}  // namespace tbdsim
