#pragma once
// A CUDA machine made up for tests: the functions of the runtime, CUPTI, cublasLt, cuDNN, NVML and NCCL that `collect` calls,
// without a device. Device memory is address space that nobody may touch, time is simulated (the host's monotonic clock too),
// kernels last what a plain roofline says. What the libraries refuse returns their error; what would corrupt memory or race
// on a device ends the program with a sentence.
//
// TBDSIM_MADE_UP_GPU, words with blanks between them: gpus=2 capability=61 cupti=denied cupti=silent cupti=newer (the first is)
// throttled operator slowed (by hardware) falls=PERCENT (of the clock, after a second or two of arithmetic) old (NVML tells no
// power of the moment) tell (simulated time on stderr at exit) fail_alloc=N (the Nth allocation of 1 MiB or more) lost=N (the Nth
// launch is an illegal access) interrupt=N (SIGINT at the Nth launch) drop=N (the Nth activity record) scatter=PERCENT
// without=ALGORITHM (cuDNN does not support it) full=N (device N has no memory) nccl=refuses (collectives fail on rank 1) zero=N
// (the Nth record has no times) refuses=N (cuDNN ranks the algorithm of this number and does not run it)
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace made_up {

/// Device memory that is in use.
struct Allocation {
  std::size_t bytes = 0;
  int device = 0;
  const void* unsettled = nullptr;  ///< stream that last wrote it, until the host or an event has waited for that stream
};

struct Stream {
  int device = 0;
  bool non_blocking = false;
  std::int64_t ready_ns = 0;  ///< when its last work ends
  bool capturing = false;
  int captured = 0;
};

struct Event {
  const Stream* stream = nullptr;
  std::int64_t at_ns = 0;
  bool recorded = false;
};

/// What a kernel, copy or fill does.
struct Work {
  std::string_view name;
  double flop = 0.0, bytes = 0.0, rate = 1.0, bandwidth = 0.0;  ///< bandwidth 0: device memory
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  enum class Kind { kernel, copy, fill, peer } kind = Kind::kernel;
  std::uint8_t direction = 0;  ///< CUpti_ActivityMemcpyKind
};

struct Machine {
  std::int64_t now_ns = 1'000'000'000;  ///< host clock
  int device = 0, gpus = 1, capability = 90;
  std::map<std::uintptr_t, Allocation> memory;
  std::size_t used = 0;
  std::uintptr_t next = 0;
  std::set<Stream*> streams;
  Stream legacy;  ///< stream 0 of every device
  std::int64_t launches = 0, allocations = 0;
  std::uint32_t correlation = 0;
  bool lost = false;
  cudaError_t last = cudaSuccess;
  std::int64_t kernels_ns = 0;
  double heat = 0.0;           ///< seconds of arithmetic that have not cooled off
  std::int64_t heated_ns = 0;  ///< when `heat` was last counted
  /// Share of the clock that is left: with `falls=PERCENT` so much once it is hot.
  [[nodiscard]] double clock_share() const;
  void warm(std::int64_t now, double seconds);
  int descriptors = 0, open_groups = 0;  ///< of cublasLt; of NCCL
  [[nodiscard]] bool busy() const;       ///< work is on its way
};
Machine& machine();

/// Number behind `word=` of TBDSIM_MADE_UP_GPU, 1 for a bare word; -1 if it is not there.
std::int64_t told(std::string_view word);
bool told(std::string_view word, std::string_view value);

/// Ends the program: on a device the call would corrupt memory or race.
[[noreturn]] void refuse(const std::string& what);

Stream& stream_of(cudaStream_t handle);
/// The memory [pointer, pointer + bytes) must be in use and settled or written by `stream`.
void reads(const void* pointer, std::size_t bytes, cudaStream_t stream, const char* what);
void writes(void* pointer, std::size_t bytes, cudaStream_t stream, const char* what);
/// Enqueues; simulated start and end. Error: the device is lost.
cudaError_t enqueue(cudaStream_t stream, const Work& work);
/// The host waits for the stream.
void settle(Stream& stream);
/// Host time that a call costs.
inline void host(double microseconds) { machine().now_ns += static_cast<std::int64_t>(1e3 * microseconds); }

/// Peak rate and bandwidth of the made-up board, as its libraries reach them.
double rate_of(std::string_view precision);
inline constexpr std::int64_t kGap = 800;  ///< ns from the end of a kernel to the start of the next on its stream
inline constexpr double kClock = 1.98e9, kBandwidth = 2.9e12, kHostLink = 55e9, kPeerLink = 380e9;

/// CUPTI's side: an activity of the device.
void record_activity(const Work& work, const Stream& stream, std::int64_t start_ns, std::int64_t end_ns,
                     std::uint32_t correlation);
bool tracing();

}  // namespace made_up
