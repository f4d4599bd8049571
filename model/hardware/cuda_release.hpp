#pragma once
#include <string>

namespace tbdsim {

/// Whether the compiler and libraries of a CUDA release know a compute capability, both such as "11.1"; true where one of them
/// is empty or no version.
[[nodiscard]] bool knows_capability(const std::string& cuda, const std::string& capability);

/// Whether a CUDA release is the one in which the capability's architecture appeared, or the next; false before Ampere, of which
/// nothing is known, and where one of them is empty or no version.
[[nodiscard]] bool is_young_for(const std::string& cuda, const std::string& capability);

}  // namespace tbdsim
