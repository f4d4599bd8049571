#pragma once
#include <string>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// Makes one node of `count` equal ones whose NVSwitches are joined, so that each GPU reaches those of all of them at the rate
/// that it reaches the others of its own: as many times the GPUs, processors, adapters, memory, price and power. Tiers of the
/// fabric join as many fewer nodes. Neglects what a second stage of switches adds to the latency.
/// Returns why it cannot be: the GPUs meet in no NVSwitch, or in more ways than that; empty: it is done.
[[nodiscard]] std::string join_nodes(System& system, int count);

}  // namespace tbdsim
