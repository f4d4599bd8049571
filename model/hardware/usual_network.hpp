#pragma once
#include <string_view>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// What a network reaches of its line rate, and the time of a message, where nothing states them.
struct UsualNetwork {
  double share;
  Seconds latency;
  std::string_view source;
};
inline constexpr UsualNetwork kUsualSockets{0.8, Seconds(60e-6),
                                            "transferred: TCP sockets of published all-reduce sweeps over 10 Gb/s"};
/// What TCP reaches of a line of 100 Gb/s (hardware/networks/ethernet-100g.toml), and the same share of faster ones; of slower
/// ones the share of `kUsualSockets`, at most as much.
inline constexpr BytesPerSecond kFastLine{12.5e9}, kTcpOnFastLine{8.8e9};
inline constexpr UsualNetwork kUsualRdma{0.976, Seconds(0.5e-6), "transferred: as InfiniBand EDR"};

}  // namespace tbdsim
