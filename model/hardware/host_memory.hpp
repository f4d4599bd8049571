#pragma once
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// What the memory of a host moves, all sockets together.
struct HostMemoryRate {
  BytesPerSecond rate;
  bool assumed = false;  ///< nothing names the CPU
};

/// As the host states it, else as servers of the same generation of PCIe usually have it, by their data sheets: four channels of
/// DDR4-2400 a socket, eight of DDR4-3200, eight of DDR5-4800.
[[nodiscard]] HostMemoryRate host_memory_rate(const System& system);

/// What each of `devices` reaches to the memory of its nearest CPU, one direction, while all of them copy: ranks below one switch
/// share its way up. The slowest one's. Expects GPUs that have a way to a CPU; zero: none has.
[[nodiscard]] BytesPerSecond host_copy_rate(const Topology& topology, const std::vector<int>& devices);

}  // namespace tbdsim
