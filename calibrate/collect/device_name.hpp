#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// The catalogue id of a GPU by the name that its driver gives ("NVIDIA H200", "Tesla V100-SXM2-16GB"): the only id of the
/// same model, maker and product line aside, whose form (SXM or PCIe, size of memory) is what the name tells of it.
/// Errors: none or several fit; lists them and asks for --device.
[[nodiscard]] Result<std::string> catalogue_id(const std::string& driver_name, const std::vector<std::string>& ids);

}  // namespace tbdsim::calibrate
