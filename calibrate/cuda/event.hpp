#pragma once
#include <cuda_runtime_api.h>

#include "calibrate/cuda/device_memory.hpp"
#include "calibrate/cuda/kernels.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim::calibrate {

/// A moment of a stream.
struct Event {
  Event() { check(cudaEventCreate(&handle)); }
  ~Event() { cudaEventDestroy(handle); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t handle = nullptr;
};

/// Time from one to the other, both reached. Throws GpuFailure.
[[nodiscard]] inline Seconds between(const Event& start, const Event& stop) {
  float milliseconds = 0.0f;
  check(cudaEventElapsedTime(&milliseconds, start.handle, stop.handle));
  return Seconds(1e-3 * static_cast<double>(milliseconds));
}

/// Device time of `work`, which enqueues on `stream`. The device is kept busy until all of it is enqueued, so that launches go
/// back to back; work that takes the host longer than that holds what the device waits for. Returns when it is done. Throws
/// GpuFailure.
template <class Work>
[[nodiscard]] Seconds time_on(cudaStream_t stream, long long busy_cycles, Work work) {
  const Event start, stop;
  launch_busy(busy_cycles, stream);
  check(cudaEventRecord(start.handle, stream));
  work();
  check(cudaGetLastError());
  check(cudaEventRecord(stop.handle, stream));
  check(cudaEventSynchronize(stop.handle));
  return between(start, stop);
}

}  // namespace tbdsim::calibrate
