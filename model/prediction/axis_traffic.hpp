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
};

}  // namespace tbdsim
