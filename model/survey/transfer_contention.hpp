#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/hardware/topology.hpp"

namespace tbdsim {

/// Ends of one transfer inside a node.
using TransferEnds = std::pair<VertexId, VertexId>;

/// One of several transfers that start at the same time.
struct TransferShare {
  Route route;               ///< that a copy takes by itself: directly, else over PCIe and host; empty: no way
  BytesPerSecond alone;      ///< 0: no way
  BytesPerSecond contended;  ///< while all of them move, links shared max-min fairly
  Seconds time;              ///< until its last byte arrived; the others' links are its own once they have ended
  bool staged = false;       ///< through host memory, because the GPUs are no peers
};

/// What each of `transfers` gets when all start together with `bytes` each. Both directions of a link are apart. A transfer
/// between GPUs that are no peers goes at most at the staged rate. Ignores copy engines: a GPU starts as many copies at once as
/// are asked of it.
[[nodiscard]] std::vector<TransferShare> share_links(const Topology& topology, std::span<const TransferEnds> transfers,
                                                     Bytes bytes);

}  // namespace tbdsim
