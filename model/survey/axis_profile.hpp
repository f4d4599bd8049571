#pragma once
#include <optional>
#include <string>

#include "model/survey/network_profile.hpp"

namespace tbdsim {

/// What the wiring does to a job whose step is simulated layer by layer.
struct AxisProfile {
  Prediction predicted;      ///< with the traffic along each axis, and the tiers that it passes
  std::string network;       ///< between nodes; empty: there is one node
  BytesPerSecond line_rate;  ///< of its ports
  Seconds without_network;   ///< the step on a network of any rate
  double target = 0;         ///< efficiency: the step on such a network over the step
  double efficiency = 0;
  bool reaches = false;
  std::optional<BytesPerSecond> least_to_reach;  ///< line rate of the network, to 1 %; absent: no rate will do
};

/// What travels along each axis of a divided job and through which tiers, how long the step waits for it, and how fast a network
/// the job needs. Tiers with a bandwidth of their own (NVLink between nodes) keep it. Nothing: the step is not simulated layer by
/// layer; `profile_network` answers then. Errors: as `predict`; those of `network_problem`; one GPU.
[[nodiscard]] Result<std::optional<AxisProfile>> profile_axes(Session& session, const NetworkOptions& options);

}  // namespace tbdsim
