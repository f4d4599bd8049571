#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Mass of carbon dioxide and its like for each joule from the grid. Files state grams for each kilowatt-hour.
struct CarbonIntensity {
  double grams_per_joule = 0.0;
};

/// Share of the power that machines may draw which they draw on average while they train in one precision.
struct SustainedPower {
  std::vector<std::string> precisions;
  double share = 1.0;
  std::string source;
};

/// What is assumed of a run beyond its step: how often machines fail, how long a restart and a checkpoint take, what energy is
/// lost and how clean it is. hardware/operations.toml states all of it with sources.
struct Operations {
  struct Failures {
    Seconds gpu;   ///< mean time between interruptions of the job that one GPU causes
    Seconds node;  ///< and that the rest of one node causes: host, network, software
    std::string source;
  } failures;
  struct Restart {
    Seconds time;  ///< from the interruption until the job is started again, without reading the checkpoint
    std::string source;
  } restart;
  struct Checkpoint {
    BytesPerSecond node_write, node_read;  ///< of one node, all nodes at once
    double stall = 1.0;                    ///< share of the time to write for which training waits
    std::optional<Bytes> per_parameter;    ///< absent: weights in fp32 where the update keeps them so, and its states
    std::optional<Seconds> interval;       ///< between checkpoints; absent: the best one
    std::string source;
  } checkpoint;
  struct SharedStorage {
    BytesPerSecond bandwidth;  ///< of what all nodes share, written or read
    std::string source;
  } storage;
  struct Repair {
    Seconds time;  ///< until a node that failed is back; spares stand in for it
    std::string source;
  } repair;
  struct Energy {
    double pue = 1.0;  ///< power of the building over that of its machines
    std::string source;
  } energy;
  struct Carbon {
    CarbonIntensity intensity;
    std::string source;
  } carbon;
  std::vector<SustainedPower> sustained;

  /// The row of a precision; nullptr: none.
  [[nodiscard]] const SustainedPower* sustained_at(std::string_view precision) const;
};

/// Reads hardware/operations.toml with the changes of the catalogue. Errors: all problems of the file.
[[nodiscard]] Result<Operations> load_operations(const Catalogue& catalogue);

}  // namespace tbdsim
