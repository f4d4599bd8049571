// CUPTI's activity interface, NVML and NCCL of the made-up machine.
#include <cupti.h>
#if TBDSIM_HAVE_NCCL
#include <nccl.h>
#endif

#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>

#include "tests/collect/made_up_gpu/machine.hpp"

namespace made_up {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
using PeerRecord = CUpti_ActivityMemcpyPtoP4;
using FillRecord = CUpti_ActivityMemset4;
#elif CUPTI_API_VERSION >= 18
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using PeerRecord = CUpti_ActivityMemcpyPtoP4;
using FillRecord = CUpti_ActivityMemset4;
#else
using KernelRecord = CUpti_ActivityKernel5;
using CopyRecord = CUpti_ActivityMemcpy4;
using PeerRecord = CUpti_ActivityMemcpyPtoP3;
using FillRecord = CUpti_ActivityMemset3;
#endif

/// Read while the program launches, changed by whoever stops a recording.
class Kinds {
 public:
  void insert(int kind) {
    change([&] { kinds_.insert(kind); });
  }
  void erase(int kind) {
    change([&] { kinds_.erase(kind); });
  }
  std::size_t count(int kind) {
    const std::lock_guard lock(mutex_);
    return kinds_.count(kind);
  }

 private:
  template <class F>
  void change(const F& what) {
    const std::lock_guard lock(mutex_);
    what();
  }
  std::mutex mutex_;
  std::set<int> kinds_;
};

struct Tracer {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  Kinds kinds;
  std::int64_t flush_ns = 0, flushed_ns = 0;  ///< period, 0: none; the last time
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, valid = 0, dropped = 0;
  std::int64_t last_end_ns = 0;
};
Tracer& tracer() {
  static auto* const one = new Tracer;
  return *one;
}

void hand_over() {
  Tracer& t = tracer();
  if (t.buffer == nullptr) return;
  std::uint8_t* const full = t.buffer;
  t.buffer = nullptr;
  t.complete(nullptr, 0, full, t.size, t.valid);
  t.valid = t.size = 0;
}

template <class Record>
void put(const Record& record) {
  Tracer& t = tracer();
  if (t.buffer != nullptr && t.valid + sizeof record > t.size) hand_over();
  if (t.buffer == nullptr) {
    std::size_t most = 0;
    t.request(&t.buffer, &t.size, &most);
    if (t.buffer == nullptr || t.size < 1024) {
      ++t.dropped;
      t.buffer = nullptr;
      return;
    }
    if (reinterpret_cast<std::uintptr_t>(t.buffer) % ACTIVITY_RECORD_ALIGNMENT != 0) refuse("a CUPTI buffer that is not aligned");
    if (most != 0) refuse("CUPTI buffers with a limit of records are not made up");
  }
  std::memcpy(t.buffer + t.valid, &record, sizeof record);
  t.valid += sizeof record;
}

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(PeerRecord);
    default:
      return sizeof(FillRecord);
  }
}

template <class Record>
void transfer(CUpti_ActivityKind kind, const Work& work, std::int64_t start, std::int64_t end, std::uint32_t correlation) {
  Record r{};
  r.kind = kind;
  r.start = static_cast<std::uint64_t>(start);
  r.end = static_cast<std::uint64_t>(end);
  r.correlationId = correlation;
  r.bytes = static_cast<std::uint64_t>(work.bytes);
  if constexpr (!std::is_same_v<Record, FillRecord>) r.copyKind = work.direction;
  put(r);
}

}  // namespace

bool tracing() { return tracer().kinds.count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != 0; }

void record_activity(const Work& work, const Stream&, std::int64_t start, std::int64_t end, std::uint32_t correlation) {
  using K = Work::Kind;
  const CUpti_ActivityKind kind = work.kind == K::kernel ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                  : work.kind == K::copy ? CUPTI_ACTIVITY_KIND_MEMCPY
                                  : work.kind == K::peer ? CUPTI_ACTIVITY_KIND_MEMCPY2
                                                         : CUPTI_ACTIVITY_KIND_MEMSET;
  if (tracer().kinds.count(kind) == 0 || told("cupti", "silent")) return;
  static std::int64_t records = 0;
  if (Tracer& t = tracer(); t.flush_ns > 0 && machine().now_ns - t.flushed_ns >= t.flush_ns) {
    t.flushed_ns = machine().now_ns;
    hand_over();
  }
  if (++records == told("drop")) {
    ++tracer().dropped;
    return;
  }
  if (records == told("zero")) start = end = 0;
  tracer().last_end_ns = std::max(tracer().last_end_ns, end);
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) return transfer<CopyRecord>(kind, work, start, end, correlation);
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY2) return transfer<PeerRecord>(kind, work, start, end, correlation);
  if (kind == CUPTI_ACTIVITY_KIND_MEMSET) return transfer<FillRecord>(kind, work, start, end, correlation);
  static auto* const names = new std::set<std::string, std::less<>>;
  KernelRecord r{};
  r.kind = kind;
  r.start = static_cast<std::uint64_t>(start);
  r.end = static_cast<std::uint64_t>(end);
  r.correlationId = correlation;
  r.gridX = static_cast<std::int32_t>(work.grid[0]);
  r.gridY = r.gridZ = r.blockY = r.blockZ = 1;
  r.blockX = static_cast<std::int32_t>(work.block[0]);
  r.registersPerThread = 32;
  r.name = names->insert(std::string(work.name)).first->c_str();
  put(r);
}

}  // namespace made_up

using namespace made_up;

extern "C" {
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  tracer().request = request;
  tracer().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushPeriod(std::uint32_t milliseconds) {
  tracer().flush_ns = std::int64_t{1'000'000} * milliseconds;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (tracer().request == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (told("cupti", "denied")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  static int calls = 0;
  if (told("cupti", "newer") && ++calls == 1) return CUPTI_ERROR_NOT_INITIALIZED;
  tracer().kinds.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  tracer().kinds.erase(kind);
  return CUPTI_SUCCESS;
}
/// An unforced flush keeps a buffer with an unfinished record.
CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  if (tracer().request == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  host(150.0);
  if (flag != 0 || tracer().last_end_ns <= machine().now_ns) hand_over();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  auto* at = buffer;
  if (*record != nullptr) at = reinterpret_cast<std::uint8_t*>(*record) + size_of((*record)->kind);
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = tracer().dropped;
  tracer().dropped = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult status, const char** text) {
  *text = status == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR";
  return CUPTI_SUCCESS;
}

// NVML: every query takes a while. A board that is idle when the first of a few, of the clock, is made has lowered it and its
// power.
namespace {
bool working = false;
}
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  int number = 0;
  if (std::sscanf(bus, "0000:%x:00.0", reinterpret_cast<unsigned*>(&number)) != 1) return 2;
  *device = &machine();
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(machine().gpus);
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) {
  *device = &machine();
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "NVIDIA H100 80GB HBM3");
  return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned domain, unsigned* mhz) {
  if (domain == 1) working = machine().busy();
  host(100.0);
  *mhz = !working ? 345 : domain == 1 ? static_cast<unsigned>(1980.0 * machine().clock_share() + 0.5) : 2619;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  host(800.0);
  *milliwatts = working ? 412345 : 69000;
  return 0;
}
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int status;
  unsigned long long value;
};
static_assert(sizeof(FieldValue) == 40);
/// Power now; `old`: a driver that does not tell it.
int nvmlDeviceGetFieldValues(void*, int count, FieldValue* values) {
  host(100.0);
  for (int i = 0; i < count; ++i) {
    values[i].status = values[i].field == 186 && told("old") < 0 ? 0 : 3;
    values[i].type = 1;
    values[i].value = working ? 612345 : 69000;
  }
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  host(100.0);
  *reasons = !working ? 0x1 : told("throttled") >= 0 ? 0x4 : told("operator") >= 0 ? 0x2 : told("slowed") >= 0 ? 0x8 : 0x0;
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.159.04");
  return 0;
}

#if TBDSIM_HAVE_NCCL
struct ncclComm {
  int rank = 0, ranks = 0;
};
ncclResult_t ncclGetVersion(int* version) {
  *version = 22705;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "an NCCL error"; }
ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int ranks, const int*) {
  if (ranks > machine().gpus) return ncclInvalidArgument;
  for (int r = 0; r < ranks; ++r) communicators[r] = new ncclComm{r, ranks};
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}
/// The last call of a group leaves another device current, should a library do so.
ncclResult_t ncclGroupStart() {
  if (++machine().open_groups != 1) refuse("NCCL: a group within a group that failed");
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  --machine().open_groups;
  machine().device = machine().gpus - 1;
  return ncclSuccess;
}
namespace {
ncclResult_t exchange(const void* in, std::size_t in_count, void* out, std::size_t out_count, ncclComm_t c, cudaStream_t stream) {
  if (stream_of(stream).device != c->rank || (c->rank == 1 && told("nccl", "refuses"))) return ncclInvalidArgument;
  if (in != nullptr) reads(in, 4 * in_count, stream, "NCCL");
  if (out != nullptr) writes(out, 4 * out_count, stream, "NCCL");
  Work work;
  work.name = "ncclDevKernel";
  work.bytes = 4.0 * static_cast<double>(std::max(in_count, out_count));
  work.bandwidth = kPeerLink / 2;
  return enqueue(stream, work) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
}  // namespace
ncclResult_t ncclAllReduce(const void* in, void* out, std::size_t count, ncclDataType_t, ncclRedOp_t, ncclComm_t c,
                           cudaStream_t stream) {
  return exchange(in, count, out, count, c, stream);
}
ncclResult_t ncclBroadcast(const void* in, void* out, std::size_t count, ncclDataType_t, int, ncclComm_t c, cudaStream_t stream) {
  return exchange(in, count, out, count, c, stream);
}
ncclResult_t ncclReduce(const void* in, void* out, std::size_t count, ncclDataType_t, ncclRedOp_t, int, ncclComm_t c,
                        cudaStream_t stream) {
  return exchange(in, count, out, count, c, stream);
}
ncclResult_t ncclAllGather(const void* in, void* out, std::size_t count, ncclDataType_t, ncclComm_t c, cudaStream_t stream) {
  return exchange(in, count, out, count * static_cast<std::size_t>(c->ranks), c, stream);
}
ncclResult_t ncclReduceScatter(const void* in, void* out, std::size_t count, ncclDataType_t, ncclRedOp_t, ncclComm_t c,
                               cudaStream_t stream) {
  return exchange(in, count * static_cast<std::size_t>(c->ranks), out, count, c, stream);
}
ncclResult_t ncclSend(const void* in, std::size_t count, ncclDataType_t, int, ncclComm_t c, cudaStream_t stream) {
  return exchange(in, count, nullptr, 0, c, stream);
}
ncclResult_t ncclRecv(void* out, std::size_t count, ncclDataType_t, int, ncclComm_t c, cudaStream_t stream) {
  return exchange(nullptr, 0, out, count, c, stream);
}
#endif
}
