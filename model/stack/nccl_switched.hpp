#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

inline constexpr std::size_t kSwitchedProtocols = 3;  ///< LL, LL128, Simple, in this order

/// Reduction inside the switch, as one architecture of GPU has it.
struct NcclSwitchedReduction {
  int fewest = 2;                ///< GPUs below which rings are preferred
  double planned_share = 0;      ///< of the channels' rate, by the library's own plan
  Seconds planned_start, start;  ///< beyond the start of a call
  double efficiency = 1;         ///< of the port's line rate
  Seconds ramp;                  ///< what a large message takes beyond start and bytes; grows as the root of its size
  Bytes ramp_full;               ///< from here on the ramp is whole
};

/// All-to-all and send-receive: each rank hands parts to peers directly.
struct NcclSwitchedPairs {
  Seconds start, peer, simple_start;  ///< of the call, of each peer beyond the first, of the protocol Simple
  BytesPerSecond ll_rate;             ///< of a part to one peer with LL
  double efficiency = 1;              ///< of the port's line rate, Simple
  double own_part = 0;                ///< further parts' worth of bytes, Simple
  double drain = 0;                   ///< MiB of each channel that nothing overlaps, Simple
  Bytes drain_full;                   ///< of a part, from here on the drain is whole
};

/// Collectives of GPUs of one architecture behind a switch, NCCL 2.18 and newer: how the library plans, and what its calls
/// take. `model/cost/switched_collective.hpp` has the formulas. Latencies are those of the board that was measured; another
/// board of the architecture may state its pace.
struct NcclSwitched {
  std::string architecture;            ///< "Ampere"; others that begin alike count as it
  BytesPerSecond planned_link;         ///< of one NVLink, one direction, in the plan
  std::vector<BytesPerSecond> speeds;  ///< of a channel, that the plan's search tries in this order
  bool keeps_slow_channels = false;    ///< more than 4 channels below 50 GB/s are not split in two
  BytesPerSecond planned_ll;           ///< most of all LL channels
  BytesPerSecond planned_ll128;        ///< most of one LL128 channel; 0: LL128 is not used
  Seconds base;                        ///< start of a call by one process for all GPUs
  std::array<Seconds, kSwitchedProtocols> start{}, step{};
  BytesPerSecond ll_slice;               ///< rate at which each LL step hands over its slice of at most 4 KiB
  double ll_lag = 0;                     ///< further slices' worth of bytes with LL
  double efficiency = 1;                 ///< of the port's line rate, Simple
  double ll_share = 1, ll128_share = 1;  ///< of that
  std::array<double, 3> drain{};         ///< MiB of each channel that nothing overlaps: all-reduce, all-gather, reduce-scatter
  NcclSwitchedPairs pairs;
  std::optional<NcclSwitchedReduction> reduction;
};

/// The tables `[switched.NAME]` of hardware/nccl.toml. Problems are reported to the tables' file.
[[nodiscard]] std::vector<NcclSwitched> read_switched(TomlTable switched);

}  // namespace tbdsim
