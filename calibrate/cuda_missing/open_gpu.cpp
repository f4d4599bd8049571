// In place of calibrate/cuda where no CUDA toolkit was found.
#include "calibrate/collect/open_gpu.hpp"

namespace tbdsim::calibrate {

tl::expected<std::unique_ptr<GpuBench>, std::string> open_gpu(int, std::vector<std::string>&) {
  return tl::make_unexpected(std::string("no usable GPU: this program was built without CUDA"));
}

tl::expected<std::string, std::string> recorder_library(const std::string&) {
  return tl::make_unexpected(std::string("no usable GPU: this program was built without CUDA"));
}

}  // namespace tbdsim::calibrate
