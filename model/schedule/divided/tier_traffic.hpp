#pragma once
#include <string>
#include <vector>

#include "model/schedule/divided/group_plans.hpp"

namespace tbdsim {

/// One tier of the wiring under the traffic of an axis.
struct TierShare {
  std::string tier;         ///< "node", or the fabric's name for it: "leaf"
  double share = 0;         ///< of the bytes that a GPU sends along the axis, on the mean over its group
  BytesPerSecond capacity;  ///< of a GPU, one direction: its links inside the node, its share of the node's way into a tier
  bool network = false;     ///< beyond the node
  std::size_t depth = 0;    ///< 0: the node; tiers of the network from 1, innermost first
};

/// Which tiers a group's bytes pass, innermost first; tiers that nothing passes are left out.
///
/// A ring leaves each unit of a tier once, so of `size` ranks' bytes as many parts pass as there are units. All-to-all sends as
/// much to every other rank. Stages are a row, each sends to the next one. What is inside a node is its GPUs' links: NVLink or
/// its like, else PCIe. `once_per_node`: how tokens choose experts that they are sent to once for each node; nullptr: they are
/// not. Neglects: that calls which add in the switch, or trees, send less.
[[nodiscard]] std::vector<TierShare> tier_shares(const RankPlaces& places, const Layout& layout, Axis axis,
                                                 const ExpertChoice* once_per_node = nullptr);

/// The same of what travels between the copies of each expert, part of the data axis.
[[nodiscard]] std::vector<TierShare> expert_array_shares(const RankPlaces& places, const Layout& layout);

/// What the links of one GPU to others of its node carry in one direction.
[[nodiscard]] BytesPerSecond gpu_links(const Topology& topology);

}  // namespace tbdsim
