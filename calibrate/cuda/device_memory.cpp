#include "calibrate/cuda/device_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

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

namespace {

/// Numbers that do not repeat: a page that nobody wrote is the kernel's one page of zeros, which any cache holds.
void fill(void* memory, std::size_t bytes) {
  std::uint64_t state = 1;
  for (std::size_t at = 0; at < bytes; at += sizeof state) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's generator, MMIX
    std::memcpy(static_cast<char*>(memory) + at, &state, std::min(sizeof state, bytes - at));
  }
}

}  // namespace

std::shared_ptr<void> host_memory(std::size_t bytes, bool pinned) {
  void* memory = nullptr;
  if (pinned)
    check(cudaMallocHost(&memory, bytes));
  else
    memory = std::malloc(bytes);
  if (memory == nullptr) throw GpuFailure("out of host memory");
  std::shared_ptr<void> owner(
      memory, pinned ? [](void* p) { cudaFreeHost(p); } : [](void* p) { std::free(p); });
  fill(memory, bytes);
  return owner;
}

CurrentDevice::CurrentDevice() { check(cudaGetDevice(&device_)); }
CurrentDevice::~CurrentDevice() { cudaSetDevice(device_); }

}  // namespace tbdsim::calibrate
