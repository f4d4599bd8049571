#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// A disk or file server as a training job reads it; a file of hardware/storage.
struct Storage {
  std::string id, name;
  std::string kind;                                   ///< "hdd", "sata", "nvme", "network"
  std::optional<BytesPerSecond> interface_bandwidth;  ///< of the wire
  std::optional<BytesPerSecond> sequential_read;      ///< of large reads
  std::optional<BytesPerSecond> random_read;          ///< of single records of about 100 kB
  std::optional<Seconds> access;                      ///< until the first byte of a read at another place
  int at_once = 1;                                    ///< such reads that are served side by side
  bool shared = false;                                ///< by all nodes of a job
  std::string access_source, source, notes;

  /// Of large reads in order: the achieved rate, else that of the wire; absent where neither is stated.
  [[nodiscard]] std::optional<BytesPerSecond> rate() const { return sequential_read ? sequential_read : interface_bandwidth; }
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
