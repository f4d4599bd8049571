#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/units/quantity.hpp"

namespace tbdsim {

struct Network;
struct System;

/// One tier of the network beyond a node, as a system file describes it: switches that join several nodes, or several units of
/// the tier below. "nvlink-domain", "rail", "leaf", "pod", "spine".
struct FabricTier {
  std::string name;
  std::optional<int> nodes;                 ///< that one unit joins; absent: any number, in the outermost tier
  int ports = 0;                            ///< of a node, where the tier has ports of its own; else 0: those of the network
  std::optional<BytesPerSecond> bandwidth;  ///< of such a port, one direction, as it arrives; absent with `ports`
  double oversubscription = 1.0;            ///< what the unit below may send over what its links into this tier carry
  Seconds latency;                          ///< that its switches add to a message
  bool rails = false;                       ///< one switch for each port of a node: only ports of the same index meet here
  std::string source;
};

/// A tier in figures for one machine and one network. The unit below the first tier is a node.
struct FabricLevel {
  std::string name;
  std::optional<int> nodes;   ///< of one unit; absent: any number
  int ports = 1;              ///< of a node into this tier
  BytesPerSecond port;        ///< of such a port, one direction
  BytesPerSecond node_share;  ///< what a node gets into this tier when all nodes of its unit send: ports over the taper
  Seconds latency;            ///< of one message through this tier
  bool rails = false;
};

/// The network of a machine from the node outwards.
struct Fabric {
  int node_ranks = 1;               ///< GPUs of a node; ranks are counted node by node
  std::vector<FabricLevel> levels;  ///< innermost first; at least one
};

/// The tiers of the system on `network`. A system that describes none has one: the ports of its nodes on that network
/// (`node_ports`), as many nodes as wanted, nothing shared beyond them.
[[nodiscard]] Fabric fabric_of(const System& system, const Network& network);

/// Ranks `c * n + r * stride` of each copy: a group has `size` members, `stride` apart; copy c starts at rank
/// (c / stride) * stride * size + c % stride, as the axes of a mesh of ranks do. All copies communicate at once.
struct RankGroup {
  int stride = 1, size = 1, copies = 1;
};

/// One boundary that a group crosses: the links from the units of one tier into the next.
struct FabricCrossing {
  std::size_t level = 0;          ///< index of the tier into which they lead
  int members = 1;                ///< of the group inside one unit, at most
  int sharing = 1;                ///< copies that cross the links of one unit
  BytesPerSecond unit_bandwidth;  ///< of one unit's links, one direction
  BytesPerSecond rate;            ///< of these, one copy's share: at most what its members' ports carry
};

/// What a group gets from the fabric while its copies run.
struct GroupReach {
  std::size_t tier = 0;                   ///< 0: inside a node, where its topology answers; n: through level n - 1 of the fabric
  std::vector<FabricCrossing> crossings;  ///< innermost first; empty inside a node
  Seconds latency;                        ///< of one message through the outermost tier that is crossed

  /// Bus bandwidth of rings that pass each unit once: the narrowest crossing. Expects crossings.
  [[nodiscard]] BytesPerSecond ring() const;
  /// What each member may send while all members send to all others. Expects crossings and `size` of the group.
  [[nodiscard]] BytesPerSecond exchange(int size) const;
  /// What one member may send to one of another unit, one message of each copy at once. Expects crossings.
  [[nodiscard]] BytesPerSecond pair(const Fabric& fabric) const;
};

/// Which tiers a group crosses, and its shares of their links.
///
/// A group lies inside a unit if its blocks of stride x size ranks divide the unit. Blocks that straddle units are counted with
/// the copies of both neighbours, so their share is a lower bound. On a tier of rails a group needs the next tier where its
/// members have other indices in one node than in the next. A unit's links are divided evenly among copies. Expects positive
/// values.
[[nodiscard]] GroupReach reach(const Fabric& fabric, const RankGroup& group);

/// Nodes that the system's tiers join; absent: any number.
[[nodiscard]] std::optional<int> most_nodes(const System& system);

}  // namespace tbdsim
