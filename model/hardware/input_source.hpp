#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// Stored samples and what one costs until it can be copied to a GPU; an entry of hardware/inputs.toml.
struct InputSource {
  std::string name;
  Bytes stored;         ///< of one sample on disk
  Seconds decode;       ///< of one sample on one thread, augmentation included
  double spread = 0.0;  ///< standard deviation of the decode time over its mean
  std::string source;
};

/// All inputs of the catalogue.
[[nodiscard]] Result<std::vector<InputSource>> load_inputs(const Catalogue& catalogue);
/// The one called `name`. Errors: an unknown one, with a suggestion.
[[nodiscard]] Result<InputSource> load_input(const Catalogue& catalogue, const std::string& name);

}  // namespace tbdsim
