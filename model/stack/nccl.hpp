#pragma once
#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/stack/nccl_switched.hpp"
#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// A release of NCCL.
struct NcclVersion {
  int major = 2, minor = 0, patch = 0;
  auto operator<=>(const NcclVersion&) const = default;
};
[[nodiscard]] std::string to_text(const NcclVersion& version);
/// "2.18" or "2.1.15". Errors: anything else.
[[nodiscard]] Result<NcclVersion> parse_nccl_version(std::string_view text);

/// How bytes are handed over: flag beside data (LL), 120 of 128 bytes (LL128), flag after a slice (Simple).
enum class Protocol { ll, ll128, simple };
inline constexpr std::size_t kProtocols = 3;
[[nodiscard]] std::string_view name(Protocol protocol);

/// What a release can do and how it plans: its own times for a ring all-reduce inside a node, from which it chooses a
/// protocol. They are not the times it takes.
struct NcclRelease {
  NcclVersion from;                        ///< first release like this
  bool ll128 = false, relay = false;       ///< 120-of-128-byte protocol; a step may pass through a GPU of the group
  bool tree = false, nvls = false;         ///< trees between nodes; reduction inside the switch
  std::array<Seconds, kProtocols> base{};  ///< planned start
  std::array<Seconds, kProtocols> hop{};   ///< planned step over NVLink
  BytesPerSecond volta_link, ampere_port;  ///< planned rates of an NVLink2 link and of all links of an A100; 0: not known
  BytesPerSecond ll128_channel;            ///< planned most of one LL128 channel
  double ll_share = 0.25, ll128_share = 0.92;
  Bytes ll_limit;             ///< LL is not used from here on; 0: no limit
  std::string between_nodes;  ///< release that comes along where calls cross machines; empty: the same
};

/// Over what the steps of a ring go.
enum class NcclFabric { mesh, nvswitch, peer, host };

/// Measured costs of calls over one fabric.
struct NcclFabricCosts {
  NcclFabric fabric = NcclFabric::mesh;
  Seconds base;                                          ///< start of a call, where the way of launching is not stated
  std::array<Seconds, kProtocols> hop{};                 ///< one step of one slice
  double ll_efficiency = 0.45, ll128_efficiency = 0.92;  ///< of the links' rate
  Seconds ll128_floor;                                   ///< least time of a step's bytes
  BytesPerSecond ll128_serial;              ///< rate of what LL128 does besides the links' work, per step; 0: nothing
  double drain_last = 0, drain_before = 0;  ///< extra steps' worth of bytes in the last and in earlier loops of Simple
  int channels = 0;                         ///< thread blocks per GPU; 0: two for each ring
  double relay_efficiency = 1;              ///< of Simple over a relay
  double beside = 0;  ///< of a second of a call inside one machine, what kernels beside it lose besides multiprocessors
};

/// Costs of steps between nodes.
struct NcclTransport {
  std::string name;       ///< "rdma", "efa", ...
  Seconds hop_ll, hop;    ///< one step of LL and of Simple
  bool pipelined = true;  ///< chunks are sized so that steps and bytes cost least together; false: bytes hide every step
  Seconds latency;        ///< of a message on the networks whose steps these are
};

/// Reduction and multicast in the switch.
struct NcclSwitchReduction {
  std::string architecture;
  double efficiency = 1;  ///< of the port's line rate
  int fewest = 2;         ///< GPUs below which rings are preferred
  Seconds start;
};

/// How a program starts a collective on the GPUs of a node.
struct NcclLaunch {
  std::string name;  ///< "one-process", "process-per-gpu", "framework"
  Seconds base, per_gpu;
  bool ahead = false;  ///< calls wait in the GPUs' queues: behind a switch, where kernels' own starts are known, those count
};

/// How far published sweeps lie from what is predicted: standard deviation of ln(measured / predicted).
struct NcclSpread {
  Bytes up_to;
  double one_node = 0, nodes = 0;
};

/// The collective library as one release has it, with the costs of its calls. Read from hardware/nccl.toml.
struct NcclLibrary {
  NcclVersion version;
  std::string newest;  ///< release that is known
  NcclRelease release;
  std::vector<NcclFabricCosts> fabrics;
  std::vector<NcclTransport> transports;
  std::vector<NcclSwitchReduction> reductions;
  std::vector<NcclSwitched> switched;  ///< by architecture; empty before 2.18
  std::vector<NcclLaunch> launches;
  std::vector<NcclSpread> spreads;           ///< by size; the last holds for all larger messages
  double tree_share = 1, ll_tree_share = 1;  ///< of the rings' rate inside a node
  Seconds tree_hop, ll_tree_hop;             ///< of a tree inside a node
  Bytes ll_limit;                            ///< the same where NCCL's own plan chooses
  Bytes loop;                                ///< of one channel and rank: what Simple moves before it starts over
  Seconds pairwise_hop;                      ///< all-to-all: start of one peer's transfer
  std::string source;
};

/// What the catalogue says of a release. An empty version is the file's `default`, or for architectures that it does not
/// know the one that the file names for them.
/// Errors: not a version, or none that there is; all problems of the file.
[[nodiscard]] Result<NcclLibrary> load_nccl(const std::string& catalogue_root, const std::string& version,
                                            const std::string& architecture = {});
[[nodiscard]] Result<NcclLibrary> read_nccl(TomlFile file, const std::string& version, const std::string& architecture = {});

/// Costs of a fabric; nothing but the bytes on the links for a library that was not read from a file.
[[nodiscard]] const NcclFabricCosts& costs(const NcclLibrary& library, NcclFabric fabric);
[[nodiscard]] double spread(const NcclLibrary& library, int nodes, Bytes message);
/// Costs behind a switch on an architecture; null where the release or the architecture has none of its own.
[[nodiscard]] const NcclSwitched* switched_costs(const NcclLibrary& library, const std::string& architecture);

}  // namespace tbdsim
