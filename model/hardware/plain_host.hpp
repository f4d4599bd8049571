#pragma once
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// How GPUs are attached to CPUs where nothing describes it: link types "pcie" and one of kind cpu_link.
struct PlainWiring {
  Host host;
  std::vector<LinkBundle> types;
};

/// Host and link types of hardware/hosts/plain-pcie-<generation>.toml (generations 3 to 5; others take the nearest).
[[nodiscard]] Result<PlainWiring> load_plain_wiring(const Catalogue& catalogue, const Device& device);

/// Vertices "gpu0..", "cpu0..", "pcie_switch0..", "nvswitch0..", "nic0.." of a node.
[[nodiscard]] std::vector<Vertex> node_vertices(int gpus, int cpus, int pcie_switches, int nvswitches, int nics);

/// Puts every GPU and NIC on the PCIe of a CPU: four GPUs to a CPU, evenly where that is too few CPUs; joins the CPUs
/// in a chain where no link joins them yet.
void add_plain_pcie(Topology& topology, const std::vector<LinkBundle>& types);

/// `gpus` of a device in a plain PCIe host. A board without a slot is issued to as fast as in the machine that it is
/// `mounted_in`.
[[nodiscard]] Result<System> plain_system(const Catalogue& catalogue, Device device, int gpus);

/// What to say of several GPUs of a bare device: of which system their wiring is; where they are put and that links of their own
/// are left out; or that those of several CPUs exchange more slowly than those of one. Names the catalogue's system with the same
/// boards, whose wiring may be another. Empty for systems that were named, and where nothing gets slower and there is no such
/// system.
[[nodiscard]] std::string wiring_notice(const System& system, const std::vector<int>& devices);

/// The system of the catalogue with at least `gpus` of a device that has fewest of them, of several the first by name; empty:
/// none. Broken files are passed over: whoever names them is told.
[[nodiscard]] std::string system_alike(const Catalogue& catalogue, const std::string& device, int gpus);

}  // namespace tbdsim
