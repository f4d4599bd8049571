#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// How a data set lies on its storage.
enum class SampleAccess {
  records,  ///< many samples to a file, read in order
  files     ///< a file for every sample, read in random order
};

/// Samples and what one costs until it can be copied to a GPU; an entry of hardware/inputs.toml.
struct InputSource {
  std::string name;
  std::string unit = "image";  ///< what a sample is called; that of the networks it feeds
  SampleAccess access = SampleAccess::records;
  std::optional<std::int64_t> samples;  ///< of the whole set
  Bytes stored;                         ///< of one sample on disk; 0: it is made, not read
  Seconds decode;                       ///< of one sample on one thread, augmentation included
  std::optional<Hertz> clock;           ///< of the processor on which `decode` was measured; absent: holds for any
  double spread = 0.0;                  ///< standard deviation of the decode time over its mean
  std::string like;                     ///< the input that holds the same samples in another form; empty: none
  bool environment = false;             ///< samples are steps of simulated environments, not stored data
  std::string source;
};

/// All inputs of the catalogue.
[[nodiscard]] Result<std::vector<InputSource>> load_inputs(const Catalogue& catalogue);
/// The one called `name`. Errors: an unknown one, with a suggestion.
[[nodiscard]] Result<InputSource> load_input(const Catalogue& catalogue, const std::string& name);

}  // namespace tbdsim
