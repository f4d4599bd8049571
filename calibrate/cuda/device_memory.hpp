#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace tbdsim::calibrate {

/// What the driver or a library refuses inside a measurement. Caught where a measurement is prepared or repeated and
/// turned into its reason; never leaves this folder.
struct GpuFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw GpuFailure(cudaGetErrorString(status));
}

/// Device memory, filled with random numbers: zeros draw less power and run faster than data.
class DeviceMemory {
 public:
  enum class Content { random_fp32, random_16, random_8, zero, index };

  explicit DeviceMemory(std::size_t bytes);
  [[nodiscard]] void* get() const { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(memory_.get());
  }

 private:
  struct Release {
    void operator()(void* pointer) const { cudaFree(pointer); }
  };
  std::unique_ptr<void, Release> memory_;
  std::size_t bytes_;
};
using Buffer = std::shared_ptr<DeviceMemory>;

/// `bf16` tells which 16-bit format `random_16` holds. Index: whole numbers below `range`, 32 bits each.
[[nodiscard]] Buffer make_buffer(std::size_t bytes, DeviceMemory::Content content, cudaStream_t stream, bool bf16 = false,
                                 unsigned range = 1);

/// Host memory, page-locked or plain, filled with numbers. Throws GpuFailure.
[[nodiscard]] std::shared_ptr<void> host_memory(std::size_t bytes, bool pinned);

/// Makes the device that is current now current again at its end, whatever failed between.
class CurrentDevice {
 public:
  CurrentDevice();
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int device_ = 0;
};

}  // namespace tbdsim::calibrate
