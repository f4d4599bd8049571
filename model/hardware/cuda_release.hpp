#pragma once
#include <string>

namespace tbdsim {

/// Whether the compiler and libraries of a CUDA release know a compute capability, both such as "11.1"; true where one of them
/// is empty or no version.
[[nodiscard]] bool knows_capability(const std::string& cuda, const std::string& capability);

/// Whether a CUDA release is the first that knows the capability, the next, or an earlier one, which
/// has kernels of older capabilities only; false for Turing, whose samples are of its first releases, without tensor cores, and
/// where one of them is empty or no version.
[[nodiscard]] bool is_young_for(const std::string& cuda, const std::string& capability);

}  // namespace tbdsim
