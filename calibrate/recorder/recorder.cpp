// libtbdsim_recorder.so: loaded into a program by the CUDA driver (CUDA_INJECTION64_PATH), it writes what runs on the device to a
// file of its own in the folder that TBDSIM_RECORDING names, up to TBDSIM_RECORDING_LIMIT kernels. A process that runs no kernel,
// as a launcher, makes no file. The program itself is not changed. It never throws into the program and never ends it: what it
// cannot do it leaves undone and says on stderr.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>

#include "calibrate/cuda/activity_records.hpp"
#include "calibrate/cuda/management_library.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;
constexpr std::size_t kMostPending = std::size_t{1} << 20;  // lines kept before the first kernel
constexpr std::uint32_t kFlushMilliseconds = 1000;          // what a program that is killed may lose

/// One per process: CUPTI's callbacks carry no context.
struct Recorder {
  Cupti cupti;
  std::string folder, header, pending;
  std::int64_t kernels = 0, limit = 0;
  bool done = false;
  std::FILE* file = nullptr;
  std::mutex mutex;
};
Recorder& recorder() {
  static Recorder* const one = new Recorder;  // outlives the handlers that run at exit
  return *one;
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *records = 0;
}

void open_file(Recorder& r) {
  std::string path = r.folder + "/kernels.XXXXXX";
  const int handle = mkstemp(path.data());
  r.file = handle >= 0 ? fdopen(handle, "w") : nullptr;
  if (r.file != nullptr) {
    std::fputs(r.header.c_str(), r.file);
    return;
  }
  std::fprintf(stderr, "tbdsim recorder: cannot write %s; nothing is recorded\n", path.c_str());
  r.done = true;
}

/// Ends the recording; CUPTI is told from a thread of its own, for it calls this one while it holds its locks.
void end_recording(Recorder& r) {
  r.done = true;
  std::fprintf(stderr, "tbdsim recorder: %lld kernels are recorded; the program goes on without\n",
               static_cast<long long>(r.kernels));
  std::thread([cupti = r.cupti] { stop_recording(cupti); }).detach();
}

void take(Recorder& r, const Activity& a) {
  if (r.done) return;
  r.kernels += a.kind == ActivityKind::kernel ? 1 : 0;
  if (r.kernels > 0 || r.pending.size() < kMostPending) r.pending += activity_line(a);
  if (r.kernels > 0 && r.file == nullptr) open_file(r);
  if (r.file != nullptr) {
    std::fputs(r.pending.c_str(), r.file);
    r.pending.clear();
  }
  if (!r.done && r.kernels >= r.limit) end_recording(r);
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  decode_buffer(r.cupti, buffer, valid, [&](const Activity& a) { take(r, a); });
  std::size_t dropped = 0;
  if (!r.done && r.file != nullptr && r.cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS &&
      dropped > 0)
    std::fprintf(r.file, "dropped %zu\n", dropped);
  if (r.file != nullptr) std::fflush(r.file);
  std::free(buffer);
}

void finish() {
  if (!recorder().done) (void)recorder().cupti.cuptiActivityFlushAll(1);
}

std::string header_of(const Cupti& cupti) {
  ActivityLog head;
  head.device = ManagementLibrary::all_names();
  head.driver = ManagementLibrary(std::string()).driver();
  std::uint32_t version = 0;
  if (cupti.cuptiGetVersion(&version) == CUPTI_SUCCESS) head.library = "cupti " + std::to_string(version);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char date[32] = {};
  if (gmtime_r(&now, &utc) != nullptr && std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0) head.date = date;
  return activity_header(head);
}

void start() {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  const char *const folder = std::getenv("TBDSIM_RECORDING"), *const limit = std::getenv("TBDSIM_RECORDING_LIMIT");
  if (folder == nullptr || limit == nullptr) {
    std::fprintf(stderr, "tbdsim recorder: no TBDSIM_RECORDING and TBDSIM_RECORDING_LIMIT; nothing is recorded\n");
    return;
  }
  r.folder = folder;
  r.limit = std::atoll(limit);
  const auto cupti = start_recording(&buffer_requested, &buffer_completed);
  if (!cupti) {
    std::fprintf(stderr, "tbdsim recorder: %s; nothing is recorded\n", cupti.error().c_str());
    return;
  }
  r.cupti = *cupti;
  r.header = header_of(r.cupti);
  (void)r.cupti.cuptiActivityFlushPeriod(kFlushMilliseconds);
  std::atexit(&finish);
}

}  // namespace
}  // namespace tbdsim::calibrate

/// Called by the CUDA driver when the program first uses it.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  tbdsim::calibrate::start();
  return 1;
}
