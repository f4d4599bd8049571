#pragma once
#include <optional>
#include <string>

#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// How gradients gather and leave.
struct ExchangeSettings {
  bool copies_all = false;             ///< every gradient has a place of its own in some bucket, all step long (DDP)
  bool overlaps = true;                ///< buckets leave while backward still runs
  bool amp_16_bit = false;             ///< under amp gradients are those of a 16-bit copy of the weights
  Bytes bucket;                        ///< gradients are exchanged when so many bytes have gathered; 0: each array by itself
  Bytes first_bucket;                  ///< of a step, where it differs; 0: it does not
  Seconds cycle;                       ///< how often the library looks for gradients (Horovod); 0: it is told
  std::string launch;                  ///< how calls are started, as hardware/nccl.toml names it; empty: not known
  std::optional<double> overlap_cost;  ///< time that a second of exchange adds to kernels beside it; absent: by SMs
};

/// Reads an [exchange] table.
[[nodiscard]] ExchangeSettings read_exchange_settings(TomlTable table);

}  // namespace tbdsim
