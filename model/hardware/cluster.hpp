#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/device.hpp"
#include "model/hardware/fabric.hpp"
#include "model/hardware/topology.hpp"
#include "model/input/edits.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// CPU side of a node.
struct Host {
  std::string id, name;
  int sockets = 1, cores = 1;  ///< physical cores over all sockets
  std::optional<Hertz> clock;
  std::optional<Bytes> memory_capacity;
  std::optional<BytesPerSecond> memory_bandwidth;  ///< of all sockets: channels times their line rate
  std::string memory_bandwidth_source;             ///< begins with "assumed:" where nothing names the CPU
  double dispatch_scale = 1.0;  ///< time per dispatched operator against the host on which the stack was measured
  /// Speed of one thread against the reference host, on which classes of operators were measured (`IssueSettings`).
  std::optional<double> single_thread;
  std::string single_thread_source;  ///< begins with "assumed:" where nothing names the CPU
  std::optional<Usd> price;          ///< of everything but the GPUs
  std::optional<Watts> power;        ///< drawn by everything but the GPUs, in use
  std::string price_date, price_source, power_source;
  std::string source;
};

/// Speed of a server's thread where nothing is known of it: a CPU of 2016 at 3.6 GHz; faster ones are up to twice as fast.
inline constexpr double kUsualSingleThread = 0.55;
[[nodiscard]] inline double single_thread(const Host& host) { return host.single_thread.value_or(kUsualSingleThread); }
/// Whether the CPU is known, or its speed measured.
[[nodiscard]] inline bool knows_single_thread(const Host& host) {
  return host.single_thread && host.single_thread_source.rfind("assumed:", 0) != 0;
}

/// A network between nodes.
struct Network {
  std::string id, name;      ///< "ethernet-10g", "infiniband-edr"
  BytesPerSecond bandwidth;  ///< line rate of one port and direction
  BytesPerSecond achieved;
  Seconds latency;  ///< of one message; zero: not known
  bool rdma = false;
  std::string transport;  ///< row of the collective library's costs between nodes: "rdma", "sockets", "efa"
  std::string adapters;   ///< transport for which they were built, where `--set` changed it; empty: `transport`
  BytesPerSecond tcp;     ///< what TCP reaches on it, for programs that know no other transport
  Seconds tcp_latency;    ///< of one message over TCP
  std::string source, achieved_source, latency_source, notes;
};

/// A node type: its GPUs (all of one device), host and wiring. Read from hardware/systems/*.toml.
struct System {
  std::string id, name;
  Device device;
  int gpu_count = 1;
  int hosts = 1;  ///< machines of one node, each with a way to storage of its own: trays of a rack
  Host host;
  Topology topology;  ///< of one node
  int nics = 0;
  std::optional<Network> network;    ///< default between nodes
  std::vector<FabricTier> tiers;     ///< beyond a node, innermost first; empty: one switch for all
  std::optional<Usd> price;          ///< of one node
  std::optional<UsdPerSecond> rent;  ///< of one node
  std::optional<Watts> power;        ///< most that one node draws, as its maker prints it
  std::string rent_kind;             ///< of the catalogue's rents, where these are asked for: "on_demand"; else empty
  std::string price_of;              ///< where `price` and `rent` stand: "the file of dgx2", "--set"
  std::string price_date, price_source, power_source;
  std::string provider;  ///< who lets it: "AWS"; empty: it is owned, or nothing is known
  std::string notice;    ///< what its user must know, such as a driver that is not the maker's
  std::string source, wiring_source, notes;
  std::string chosen_for;     ///< device for whose baseboard the system stands, where only the device was named
  std::string alike;          ///< system of the catalogue with the same GPUs, where only the device was named; empty: none
  std::string storage, date;  ///< as the maker prints them
  std::string file, sha256;   ///< where it was read from, digest of its bytes
};

/// Ports of one node on a network: all that the machine has where its own network is meant or both are of one transport, such as
/// RDMA (adapters of another rate in the same slots), else one, as a machine with several adapters for RDMA has one for Ethernet.
[[nodiscard]] int node_ports(const System& system, const Network& network);
/// Machines of one node that so many of its GPUs lie in.
[[nodiscard]] int node_hosts(const System& system, int gpus);
/// What the ports of one node reach together, each direction.
[[nodiscard]] BytesPerSecond node_bandwidth(const System& system, const Network& network);
/// What NCCL may do by default on this device: relays from Volta on (they need NCCL 2.8, which older GPUs rarely ran).
[[nodiscard]] RingOptions default_ring_options(const Device& device);

/// Where catalogue files live: the folder that holds hardware/.
struct Catalogue {
  std::string root;
  std::shared_ptr<const Edits> edits = {};                  ///< of the documents read from it; null: none
  std::shared_ptr<const Architectures> architectures = {};  ///< where they were read before; null: not yet
  std::string own_prices = {};                              ///< price list of the user's own, before all others; empty: none
};
/// The catalogue's families of chips, read where they were not before. Errors: all problems of their file.
[[nodiscard]] Result<std::shared_ptr<const Architectures>> architectures_of(const Catalogue& catalogue);

/// Finds and reads hardware by user's words, as DESIGN describes `--hw`: a path, a file beside the user, a
/// catalogue system, or a device name (then `gpus` of them in a plain PCIe host). Names are folded; a miss suggests
/// near names; a folded name that fits several is an error listing them.
[[nodiscard]] Result<System> load_system(const Catalogue& catalogue, const std::string& name, int gpus = 1);
[[nodiscard]] Result<Device> load_device(const Catalogue& catalogue, const std::string& name);
[[nodiscard]] Result<Host> load_host(const Catalogue& catalogue, const std::string& name);
[[nodiscard]] Result<Network> load_network(const Catalogue& catalogue, const std::string& name);

/// Ids in one folder of the catalogue ("gpus", "systems", "networks", "hosts", "stacks"), sorted.
[[nodiscard]] std::vector<std::string> catalogue_ids(const Catalogue& catalogue, const std::string& folder);
/// Resolves a user's name among ids; `noun` for the message ("system", "network").
[[nodiscard]] Result<std::string> resolve_name(const std::string& name, const std::vector<std::string>& ids,
                                               const std::string& noun);

}  // namespace tbdsim
