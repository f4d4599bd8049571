#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// A disk as a training job reads it; a file of hardware/storage.
struct Storage {
  std::string id, name;
  std::string kind;                                   ///< "hdd", "sata", "nvme"
  std::optional<BytesPerSecond> interface_bandwidth;  ///< of the wire
  std::optional<BytesPerSecond> sequential_read;      ///< of large reads
  std::optional<BytesPerSecond> random_read;          ///< of single records of about 100 kB
  std::string source, notes;
};
[[nodiscard]] Result<Storage> load_storage(const Catalogue& catalogue, const std::string& name);

/// One station on the way of the data, as a published overview states it.
struct DataPathStage {
  std::string name;
  BytesPerSecond bandwidth;
  std::string source, notes;
};

/// The stations of hardware/data_path.toml, from the widest part of the machine to its network. Moving n bytes through
/// one takes n / bandwidth; no latency is stated.
[[nodiscard]] Result<std::vector<DataPathStage>> load_data_path(const Catalogue& catalogue);

}  // namespace tbdsim
