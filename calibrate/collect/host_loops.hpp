#pragma once
#include <string>
#include <vector>

#include "calibrate/decode/host_samples.hpp"

namespace tbdsim::calibrate {

/// Loops on one thread of this machine, each the least time of an iteration over `rounds` rounds, with how far even and odd
/// rounds differ: `cpu_dependent_add`, `cpu_virtual_call`, `cpu_malloc_free`, `cpu_pointer_chase_512KB`, `..._8192KB`,
/// `..._65536KB` (latency of the caches and of memory), `cpu_copy_64MB` (one copy of 64 MB).
/// Expects rounds >= 2.
[[nodiscard]] std::vector<HostSample> host_loops(int rounds);

/// The processor as /proc/cpuinfo names it, with family and model; "unknown" where it does not.
[[nodiscard]] std::string cpu_name();

}  // namespace tbdsim::calibrate
