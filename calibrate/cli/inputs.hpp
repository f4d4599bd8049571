#pragma once
#include <string>
#include <vector>

#include "calibrate/cli/arguments.hpp"
#include "calibrate/fit/kernel_fit.hpp"
#include "model/hardware/cluster.hpp"

namespace tbdsim::calibrate {

/// Sample files as read, each with its name and the start of its digest.
struct SampleFiles {
  std::vector<std::vector<Sample>> sets;
  std::vector<std::string> names;  ///< file name without folder and ending
  std::string digests;             ///< "a.csv 0123456789ab; b.csv ..."
  [[nodiscard]] std::vector<Sample> all() const;
};
/// Errors: every problem of every file.
[[nodiscard]] Result<SampleFiles> read_sample_files(const std::vector<std::string>& paths);

/// The folder that --hardware names, else TBDSIM_CATALOGUE, which `tbdsim calibrate` sets.
[[nodiscard]] Result<Catalogue> catalogue_of(const Arguments& arguments);

/// Descriptions of all devices that the samples name. Errors: every device that the catalogue lacks, with what to do.
[[nodiscard]] Result<DeviceMap> devices_of(const std::vector<Sample>& samples, const Catalogue& catalogue);

/// The constants that ship with the catalogue.
[[nodiscard]] Result<KernelConstants> constants_of(const Catalogue& catalogue);

}  // namespace tbdsim::calibrate
