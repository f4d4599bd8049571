#pragma once
#include <functional>
#include <mutex>
#include <vector>

#include "calibrate/cuda/activity_records.hpp"
#include "calibrate/cuda/device_memory.hpp"
#include "calibrate/decode/back_to_back.hpp"

namespace tbdsim::calibrate {

/// Device time of repeated work on one stream.
///
/// From CUPTI activity records where profiling is permitted: what a repetition takes of a device on which launches go back to
/// back (`back_to_back`), with the gap between two kernels that this device shows. Otherwise from events around each repetition,
/// gaps and launch included. One per process: CUPTI's callbacks have no context of their own.
class DeviceTimer {
 public:
  /// Falls back to events when CUPTI is missing, refuses, or delivers no records of two kernels (`reason` says why).
  explicit DeviceTimer(cudaStream_t stream, std::size_t l2_bytes);
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  [[nodiscard]] bool activity_records() const { return recording_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// From the end of a kernel to the start of the next on the same stream, both enqueued long before; 0 without records.
  [[nodiscard]] Seconds gap() const { return gap_; }

  /// Times of `count` runs of `work`; cold: the L2 cache is overwritten before each, outside the measured time. `meanwhile` is
  /// called once while the device works on them. Throws GpuFailure.
  [[nodiscard]] std::vector<DeviceTime> time(int count, bool cold, const std::function<void()>& work,
                                             const std::function<void()>& meanwhile);
  /// Runs `work` while nothing is recorded: recording lengthens each launch, which a time taken on the host would hold.
  void unrecorded(const std::function<void()>& work);

 private:
  static void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records);
  static void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                        std::size_t valid);
  [[nodiscard]] CUptiResult record(bool on) const;
  void start();
  void forget();
  [[nodiscard]] bool complete(int count);
  /// None where a record has no times.
  [[nodiscard]] std::vector<DeviceTime> time_by_records();
  [[nodiscard]] std::vector<DeviceTime> time_by_events(int count, bool cold, const std::function<void()>& work,
                                                       const std::function<void()>& meanwhile);
  [[nodiscard]] Seconds measure_gap();
  void separate(bool cold);

  static DeviceTimer* active_;
  cudaStream_t stream_;
  DeviceMemory scratch_;
  Cupti cupti_;
  bool recording_ = false;
  Seconds gap_;
  std::string reason_;
  std::mutex mutex_;
  std::vector<Activity> records_;
  std::size_t dropped_ = 0;
};

}  // namespace tbdsim::calibrate
