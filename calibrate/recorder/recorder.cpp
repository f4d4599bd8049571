// libtbdsim_recorder.so: loaded into a program by the CUDA driver (CUDA_INJECTION64_PATH), it writes what runs on the device to
// the file that TBDSIM_RECORDING names. The program itself is not changed. It never throws into the program and never ends it:
// what it cannot do it leaves undone and says on stderr.
#include <cuda_runtime_api.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "calibrate/cuda/activity_records.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;

/// One per process: CUPTI's callbacks carry no context.
struct Recorder {
  Cupti cupti;
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

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  decode_buffer(r.cupti, buffer, valid, [&](const Activity& a) { std::fputs(activity_line(a).c_str(), r.file); });
  std::size_t dropped = 0;
  if (r.cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0)
    std::fprintf(r.file, "dropped %zu\n", dropped);
  std::fflush(r.file);
  std::free(buffer);
}

void finish() {
  const auto flush = recorder().cupti.cuptiActivityFlushAll;
  if (flush != nullptr) (void)flush(1);
}

void start() {
  Recorder& r = recorder();
  const char* const path = std::getenv("TBDSIM_RECORDING");
  // "x": the children of a recorded program inherit its environment, and must not write into its recording.
  r.file = path != nullptr ? std::fopen(path, "wx") : nullptr;
  if (r.file == nullptr && errno == EEXIST) {
    std::fprintf(stderr, "tbdsim recorder: another process is recorded in %s; this one is not\n", path);
    return;
  }
  if (r.file == nullptr) {
    std::fprintf(stderr, "tbdsim recorder: cannot write %s; nothing is recorded\n", path != nullptr ? path : "TBDSIM_RECORDING");
    return;
  }
  const auto cupti = Cupti::load();
  if (!cupti) {
    std::fprintf(stderr, "tbdsim recorder: %s; nothing is recorded\n", cupti.error().c_str());
    return;
  }
  r.cupti = *cupti;
  ActivityLog head;
  head.library = "cupti " + std::to_string(CUPTI_API_VERSION);
  std::fputs(activity_header(head).c_str(), r.file);
  CUptiResult status = r.cupti.cuptiActivityRegisterCallbacks(&buffer_requested, &buffer_completed);
  for (const auto kind : kRecorded) {
    if (status == CUPTI_SUCCESS) status = r.cupti.cuptiActivityEnable(kind);
  }
  if (status != CUPTI_SUCCESS) {
    const char* text = nullptr;
    r.cupti.cuptiGetResultString(status, &text);
    std::fprintf(stderr, "tbdsim recorder: %s; nothing is recorded\n", text != nullptr ? text : "CUPTI refuses");
    return;
  }
  std::atexit(&finish);
}

}  // namespace
}  // namespace tbdsim::calibrate

/// Called by the CUDA driver when the program first uses it.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  tbdsim::calibrate::start();
  return 1;
}
