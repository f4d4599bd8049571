#pragma once
#include <memory>

#include "calibrate/collect/session.hpp"

namespace tbdsim::calibrate {

/// Opens a CUDA device and the libraries it can be measured with. `notes` gets what is missing and why, for the user.
/// Error: one sentence, "no usable GPU: ..."; also when the program was built without CUDA.
[[nodiscard]] tl::expected<std::unique_ptr<GpuBench>, std::string> open_gpu(int device, std::vector<std::string>& notes);

/// Path of the library that records a program's kernels (`profile`), beside the program. Error: as above.
[[nodiscard]] tl::expected<std::string, std::string> recorder_library(const std::string& program_folder);

}  // namespace tbdsim::calibrate
