#pragma once
#include <string>

#include "model/hardware/cluster.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// Folder of this program, links resolved; empty where the system does not tell.
[[nodiscard]] std::string program_folder();

/// The folder that holds hardware/: TBDSIM_CATALOGUE where set; else the first folder above the program that holds
/// hardware/gpus or share/tbdsim/hardware/gpus; else the source tree it was built from.
/// Errors: TBDSIM_CATALOGUE without such a folder; none of these.
[[nodiscard]] Result<Catalogue> find_catalogue();

}  // namespace tbdsim
