#include "calibrate/cuda/device_memory.hpp"

#include <algorithm>
#include <cstdlib>

#include "calibrate/cuda/kernels.hpp"

namespace tbdsim::calibrate {

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  void* pointer = nullptr;
  check(cudaMalloc(&pointer, std::max<std::size_t>(bytes, 256)));
  memory_.reset(pointer);
}

Buffer make_buffer(std::size_t bytes, DeviceMemory::Content content, cudaStream_t stream, bool bf16, unsigned range) {
  auto buffer = std::make_shared<DeviceMemory>(bytes);
  using C = DeviceMemory::Content;
  switch (content) {
    case C::random_fp32:
      launch_random_fp32(buffer->as<float>(), bytes / 4, stream);
      break;
    case C::random_16:
      launch_random_16(buffer->get(), bytes / 2, bf16, stream);
      break;
    case C::random_8:
      launch_random_8(buffer->get(), bytes, stream);
      break;
    case C::index:
      launch_random_index(buffer->as<unsigned>(), bytes / 4, range, stream);
      break;
    case C::zero:
      check(cudaMemsetAsync(buffer->get(), 0, bytes, stream));
      break;
  }
  check(cudaGetLastError());
  return buffer;
}

std::shared_ptr<void> host_memory(std::size_t bytes, bool pinned) {
  void* memory = nullptr;
  if (pinned) {
    check(cudaMallocHost(&memory, bytes));
    return {memory, [](void* p) { cudaFreeHost(p); }};
  }
  memory = std::calloc(bytes, 1);
  if (memory == nullptr) throw GpuFailure("out of host memory");
  return {memory, [](void* p) { std::free(p); }};
}

}  // namespace tbdsim::calibrate
