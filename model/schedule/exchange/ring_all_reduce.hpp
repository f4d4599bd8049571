#pragma once
#include <vector>

#include "model/engine/task_graph.hpp"
#include "model/hardware/cluster.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// A ring all-reduce among the ranks of a job, as one flow per call over the links that its rings cross.
struct RingExchange {
  int ranks = 1;
  Seconds latency;  ///< of one call: launch and 2(p-1) steps
  struct Use {
    std::string link;
    BytesPerSecond capacity;
    double weight = 0;  ///< bytes over this link per byte of message
    bool between_nodes = false;
  };
  std::vector<Use> uses;    ///< every directed link that a ring crosses
  std::string description;  ///< "6 NVLink rings at 22.8 GB/s"
};

/// Finds the rings of `devices` on every node (each node uses the same ones) and, with several nodes, joins them over
/// the network: per byte of message, 2(p-1)/p bytes cross each hop, split over the rings.
/// Errors: GPUs that cannot reach each other; several nodes without a network.
[[nodiscard]] Result<RingExchange> ring_exchange(const System& system, const std::vector<int>& devices, int nodes,
                                                 const std::optional<Network>& network);

/// Time of one call alone on its links: latency + bytes x max over links of weight / capacity.
[[nodiscard]] Seconds alone(const RingExchange& exchange, Bytes message);

}  // namespace tbdsim
