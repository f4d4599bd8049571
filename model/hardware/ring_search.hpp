#pragma once
#include <vector>

namespace tbdsim {

/// Free links from rank i to rank j.
using LinkMatrix = std::vector<std::vector<int>>;

/// A directed Hamiltonian cycle over the ranks of a group.
struct RankCycle {
  std::vector<int> order;
  std::vector<int> via;  ///< rank that relays step i, or the rank itself where no relay is needed
};

/// The largest set of directed Hamiltonian cycles from rank 0 that uses each link at most once, searched depth first
/// with neighbours in rank order; of equal sets the first found, cycles ascending. With `relay`, one step of a cycle may
/// pass through another rank where no link is free, and uses both of its links. Empty: there is no cycle.
/// Source: the search of NCCL 2.3.5; relays as NCCL 2.8 and newer.
[[nodiscard]] std::vector<RankCycle> largest_cycle_set(const LinkMatrix& links, bool relay);

}  // namespace tbdsim
