#include "calibrate/cuda/setup.hpp"

#include <limits>

namespace tbdsim::calibrate {

Element element_of(const std::string& precision) {
  if (precision == "fp16") return Element::fp16;
  if (precision == "bf16") return Element::bf16;
  if (precision == "fp32" || precision == "tf32") return Element::fp32;
  throw GpuFailure("precision " + precision + " is measured for gemm alone");
}

std::size_t bytes_of(Element element) { return element == Element::fp32 ? 4 : 2; }

Buffer random_buffer(std::size_t elements, Element element, cudaStream_t stream) {
  using C = DeviceMemory::Content;
  return make_buffer(elements * bytes_of(element), element == Element::fp32 ? C::random_fp32 : C::random_16, stream,
                     element == Element::bf16);
}

int whole(const Measurement& m, std::string_view key) {
  const double value = m.sample.at(key);
  if (value > std::numeric_limits<int>::max())
    throw GpuFailure(std::string(key) + " is too large for the libraries' 32-bit extents");
  return static_cast<int>(value);
}

}  // namespace tbdsim::calibrate
