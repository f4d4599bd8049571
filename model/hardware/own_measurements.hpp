#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// How many times as long as predicted the parts of one's own steps take: `calibrate anchor` fits them, 1 where it did not.
struct Anchors {
  double products = 1;   ///< matrix products, convolutions, recurrent layers
  double attention = 1;  ///< fused attention
  double memory = 1;     ///< kernels bound by memory, softmax, norms, updates
  double exchange = 1;   ///< collectives
  double host = 1;       ///< dispatch of operators
};

/// One anchor: its name, its key in a device file and its place.
struct AnchorKind {
  std::string_view name;  ///< "products"
  std::string_view key;   ///< "anchor_products"
  double Anchors::*value;
};
inline constexpr std::array<AnchorKind, 5> kAnchors{{{"products", "anchor_products", &Anchors::products},
                                                     {"attention", "anchor_attention", &Anchors::attention},
                                                     {"memory", "anchor_memory", &Anchors::memory},
                                                     {"exchange", "anchor_exchange", &Anchors::exchange},
                                                     {"host", "anchor_host", &Anchors::host}}};

/// What measurements of one's own machine say beyond the times of kernels; nothing where none was made.
struct OwnMeasurements {
  Anchors anchors;
  double collective_pace = 1;  ///< latencies of collectives behind a switch, over those of the architecture
  std::optional<BytesPerSecond> copy_to_device, copy_to_host;  ///< large copies of pinned memory over PCIe
  std::optional<Seconds> launch_interval;                      ///< between empty kernels, issued one by one
  std::optional<double> overlap_cost;                          ///< time that a second of all-reduce adds to the kernels beside it
  std::string source;
};

}  // namespace tbdsim
