#pragma once
#include <array>
#include <string>
#include <vector>

#include "model/hardware/own_measurements.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// A multiplier with its central 80 % range; `fitted` false: the runs did not show it, and it stays 1.
struct FittedAnchor {
  double value = 1, low = 1, high = 1;
  bool fitted = false;
};

/// Multipliers of one's own machine, as `calibrate anchor` writes them and `--calibration` reads them.
struct AnchorFile {
  std::array<FittedAnchor, kAnchors.size()> anchors;  ///< in the order of kAnchors
  std::string source;                                 ///< "fitted: runs.csv 0123456789ab, 12 steps"
};

[[nodiscard]] std::string to_toml(const AnchorFile& file);
/// Errors: what the reader finds; a multiplier out of 0.1 to 10 or of its own range.
[[nodiscard]] Result<AnchorFile> read_anchor_file(const std::string& path);

/// The file as values of the device, KEY=VALUE for `--set`. Errors: as above; a file that fits nothing.
[[nodiscard]] Result<std::vector<std::string>> anchor_assignments(const std::string& path);

}  // namespace tbdsim
