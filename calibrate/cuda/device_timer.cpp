#include "calibrate/cuda/device_timer.hpp"

#include <algorithm>
#include <cstdlib>

#include "calibrate/cuda/kernels.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

struct Event {
  Event() { check(cudaEventCreate(&handle)); }
  ~Event() { cudaEventDestroy(handle); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t handle = nullptr;
};

bool separates(const Activity& a) {
  return a.name.find("tbdsim_mark") != std::string::npos || a.name.find("tbdsim_flush") != std::string::npos;
}

}  // namespace

DeviceTimer* DeviceTimer::active_ = nullptr;

DeviceTimer::DeviceTimer(cudaStream_t stream, std::size_t l2_bytes)
    : stream_(stream), scratch_(std::max<std::size_t>(4 * l2_bytes, std::size_t{64} << 20)) {
  active_ = this;
  auto cupti = Cupti::load();
  if (!cupti) {
    reason_ = cupti.error();
    return;
  }
  cupti_ = *cupti;
  CUptiResult status = cupti_.cuptiActivityRegisterCallbacks(&buffer_requested, &buffer_completed);
  for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    if (status == CUPTI_SUCCESS) status = cupti_.cuptiActivityEnable(kind);
  }
  recording_ = status == CUPTI_SUCCESS;
  if (recording_) return;
  const char* text = nullptr;
  cupti_.cuptiGetResultString(status, &text);
  reason_ = text != nullptr ? text : "CUPTI refuses";
}

DeviceTimer::~DeviceTimer() {
  if (recording_) {
    cupti_.cuptiActivityFlushAll(0);
    for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
      cupti_.cuptiActivityDisable(kind);
  }
  active_ = nullptr;
}

void CUPTIAPI DeviceTimer::buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *records = 0;
}

void CUPTIAPI DeviceTimer::buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  if (active_ != nullptr) {
    const std::lock_guard lock(active_->mutex_);
    decode_buffer(active_->cupti_, buffer, valid, [](const Activity& a) { active_->records_.push_back(a); });
  }
  std::free(buffer);
}

void DeviceTimer::separate(bool cold) {
  if (cold)
    launch_flush(scratch_.get(), scratch_.bytes(), stream_);
  else
    launch_mark(stream_);
}

std::vector<Seconds> DeviceTimer::time(int count, bool cold, const std::function<void()>& work) {
  if (!recording_) return time_by_events(count, cold, work);
  check(cudaDeviceSynchronize());
  cupti_.cuptiActivityFlushAll(0);
  {
    const std::lock_guard lock(mutex_);
    records_.clear();
  }
  for (int i = 0; i < count; ++i) {
    separate(cold);
    work();
    check(cudaGetLastError());
  }
  check(cudaDeviceSynchronize());
  cupti_.cuptiActivityFlushAll(0);
  return time_by_records(count);
}

std::vector<Seconds> DeviceTimer::time_by_records(int count) {
  const std::lock_guard lock(mutex_);
  std::stable_sort(records_.begin(), records_.end(),
                   [](const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; });
  std::vector<Seconds> times;
  for (const Activity& a : records_) {
    if (separates(a))
      times.emplace_back(0.0);
    else if (!times.empty())
      times.back() += a.time();
  }
  if (static_cast<int>(times.size()) != count || std::count(times.begin(), times.end(), Seconds(0.0)) != 0)
    throw GpuFailure("the activity records are incomplete");
  return times;
}

std::vector<Seconds> DeviceTimer::time_by_events(int count, bool cold, const std::function<void()>& work) {
  std::vector<Seconds> times;
  const Event start, stop;
  for (int i = 0; i < count; ++i) {
    separate(cold);
    check(cudaEventRecord(start.handle, stream_));
    work();
    check(cudaGetLastError());
    check(cudaEventRecord(stop.handle, stream_));
    check(cudaEventSynchronize(stop.handle));
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, start.handle, stop.handle));
    times.emplace_back(1e-3 * static_cast<double>(milliseconds));
  }
  return times;
}

}  // namespace tbdsim::calibrate
