#include "calibrate/cuda/device_timer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "calibrate/collect/stopping_rule.hpp"
#include "calibrate/cuda/event.hpp"
#include "calibrate/cuda/kernels.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

bool separates(const Activity& a) {
  return a.name.find("tbdsim_mark") != std::string::npos || a.name.find("tbdsim_flush") != std::string::npos;
}

}  // namespace

DeviceTimer* DeviceTimer::active_ = nullptr;

DeviceTimer::DeviceTimer(cudaStream_t stream, std::size_t l2_bytes)
    : stream_(stream), scratch_(std::max<std::size_t>(4 * l2_bytes, std::size_t{64} << 20)) {
  active_ = this;
  start();
}

CUptiResult DeviceTimer::record(bool on) const {
  CUptiResult status = CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : kRecorded) {
    const CUptiResult one = on ? cupti_.cuptiActivityEnable(kind) : cupti_.cuptiActivityDisable(kind);
    if (status == CUPTI_SUCCESS) status = one;
  }
  return status;
}

/// Some drivers and sandboxes accept everything and deliver nothing: two kernels of our own show it.
void DeviceTimer::start() {
  const auto cupti = start_recording(&buffer_requested, &buffer_completed);
  if (!cupti) {
    reason_ = cupti.error();
    return;
  }
  cupti_ = *cupti;
  launch_mark(stream_);
  launch_empty(stream_);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  recording_ = complete(1);
  reason_ = "CUPTI delivers no records";
  try {
    if (recording_) {
      gap_ = measure_gap();
      return;
    }
  } catch (const GpuFailure& failure) {
    recording_ = false;
    reason_ = failure.what();
  }
  (void)record(false);
}

DeviceTimer::~DeviceTimer() {
  if (recording_) {
    (void)record(false);
    cupti_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  }
  active_ = nullptr;
}

void CUPTIAPI DeviceTimer::buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *records = 0;
}

void CUPTIAPI DeviceTimer::buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                                            std::size_t valid) {
  if (active_ != nullptr) {
    const std::lock_guard lock(active_->mutex_);
    decode_buffer(active_->cupti_, buffer, valid, [](const Activity& a) { active_->records_.push_back(a); });
    std::size_t dropped = 0;
    if (active_->cupti_.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
      active_->dropped_ += dropped;
  }
  std::free(buffer);
}

void DeviceTimer::separate(bool cold) {
  if (cold)
    launch_flush(scratch_.get(), scratch_.bytes(), stream_);
  else
    launch_mark(stream_);
}

void DeviceTimer::forget() {
  cupti_.cuptiActivityFlushAll(0);
  const std::lock_guard lock(mutex_);
  records_.clear();
  dropped_ = 0;
}

/// Whether the records hold `count` repetitions, each with work in it; the device must be idle.
bool DeviceTimer::complete(int count) {
  // A flush that is not forced keeps a buffer back as long as one of its records is unfinished.
  for (const std::uint32_t force : {std::uint32_t{0}, std::uint32_t{CUPTI_ACTIVITY_FLAG_FLUSH_FORCED}}) {
    cupti_.cuptiActivityFlushAll(force);
    const std::vector<DeviceTime> times = time_by_records();
    const auto worked = [](const DeviceTime& t) { return t.kernels > Seconds(0.0); };
    if (static_cast<int>(times.size()) == count && std::all_of(times.begin(), times.end(), worked)) return true;
  }
  return false;
}

std::vector<DeviceTime> DeviceTimer::time(int count, bool cold, const std::function<void()>& work,
                                          const std::function<void()>& meanwhile) {
  if (!recording_) return time_by_events(count, cold, work, meanwhile);
  for (int attempt = 0; attempt < 2; ++attempt) {  // records that were dropped once need not be so again
    check(cudaDeviceSynchronize());
    forget();
    for (int i = 0; i < count; ++i) {
      separate(cold);
      work();
      check(cudaGetLastError());
    }
    meanwhile();
    check(cudaDeviceSynchronize());
    if (complete(count)) return time_by_records();
  }
  const std::lock_guard lock(mutex_);
  throw GpuFailure("the activity records are incomplete" +
                   (dropped_ > 0 ? " (" + std::to_string(dropped_) + " dropped)" : std::string()));
}

void DeviceTimer::unrecorded(const std::function<void()>& work) {
  if (!recording_) return work();
  struct Paused {
    const DeviceTimer& timer;
    explicit Paused(const DeviceTimer& t) : timer(t) { (void)timer.record(false); }
    ~Paused() { (void)timer.record(true); }
    Paused(const Paused&) = delete;
    Paused& operator=(const Paused&) = delete;
  } const paused(*this);
  work();
}

/// Empty kernels in a row, less what one of them lasts. The row is timed unrecorded, as programs run it.
Seconds DeviceTimer::measure_gap() {
  constexpr int kRow = 200, kRounds = 5;
  constexpr long long kBusyCycles = 4'000'000;  // 2 ms: longer than the host takes to enqueue the row
  const auto row = [this] {
    for (int i = 0; i < kRow; ++i) launch_empty(stream_);
  };
  Seconds shortest(INFINITY);
  unrecorded([&] {
    for (int round = 0; round < kRounds; ++round) shortest = std::min(shortest, time_on(stream_, kBusyCycles, row));
  });
  std::vector<Seconds> alone;
  for (const DeviceTime& t : time(
           kRow, false, [this] { launch_empty(stream_); }, [] {}))
    alone.push_back(t.kernels);
  return std::max(Seconds(0.0), shortest / kRow - summarize(alone).median);
}

std::vector<DeviceTime> DeviceTimer::time_by_records() {
  const std::lock_guard lock(mutex_);
  // In order of issue: the times of a record may be zeros where CUPTI ran out of room for them.
  std::stable_sort(records_.begin(), records_.end(),
                   [](const Activity& a, const Activity& b) { return a.correlation < b.correlation; });
  std::vector<std::vector<Activity>> repetitions;
  for (const Activity& a : records_) {
    if (separates(a))
      repetitions.emplace_back();
    else if (a.start_ns <= 0 || a.end_ns <= a.start_ns)
      return {};
    else if (!repetitions.empty())
      repetitions.back().push_back(a);
  }
  std::vector<DeviceTime> times;
  times.reserve(repetitions.size());
  for (std::vector<Activity>& activities : repetitions) times.push_back(back_to_back(std::move(activities), gap_));
  return times;
}

std::vector<DeviceTime> DeviceTimer::time_by_events(int count, bool cold, const std::function<void()>& work,
                                                    const std::function<void()>& meanwhile) {
  std::vector<DeviceTime> times;
  const Event start, stop;
  for (int i = 0; i < count; ++i) {
    separate(cold);
    check(cudaEventRecord(start.handle, stream_));
    work();
    check(cudaGetLastError());
    check(cudaEventRecord(stop.handle, stream_));
    if (i + 1 == count) meanwhile();
    check(cudaEventSynchronize(stop.handle));
    const Seconds time = between(start, stop);
    times.push_back({time, time});
  }
  return times;
}

}  // namespace tbdsim::calibrate
