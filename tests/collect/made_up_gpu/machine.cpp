#include "tests/collect/made_up_gpu/machine.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace made_up {
namespace {

constexpr std::size_t kCapacity = std::size_t{80} << 30;
constexpr std::size_t kAddresses = std::size_t{1} << 42;

std::string_view words() {
  static const char* const text = std::getenv("TBDSIM_MADE_UP_GPU");
  return text != nullptr ? text : "";
}

/// Up to 0.4 % more or less, or what `scatter` tells in percent; the same in every run.
double scatter() {
  static const double most = told("scatter") >= 0 ? 0.01 * static_cast<double>(told("scatter")) : 0.004;
  static std::uint32_t state = 12345;
  state = state * 1664525u + 1013904223u;
  return 1.0 + 2.0 * most * (static_cast<double>(state >> 8) / 16777216.0 - 0.5);
}

const Allocation& span(const void* pointer, std::size_t bytes, const char* what) {
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  auto found = machine().memory.upper_bound(at);
  if (found == machine().memory.begin()) refuse(std::string(what) + ": no device memory");
  --found;
  if (at + bytes > found->first + found->second.bytes)
    refuse(std::string(what) + ": " + std::to_string(at + bytes - found->first) + " bytes of " +
           std::to_string(found->second.bytes));
  return found->second;
}

}  // namespace

Machine& machine() {
  static Machine* const one = [] {
    auto* m = new Machine;
    m->next = reinterpret_cast<std::uintptr_t>(
        mmap(nullptr, kAddresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (const auto n = told("gpus"); n >= 0) m->gpus = static_cast<int>(n);
    if (const auto c = told("capability"); c >= 0) m->capability = static_cast<int>(c);
    return m;
  }();
  return *one;
}

bool Machine::busy() const {
  return legacy.ready_ns > now_ns ||
         std::any_of(streams.begin(), streams.end(), [&](const Stream* s) { return s->ready_ns > now_ns; });
}

double Machine::clock_share() const {
  static const double hot = told("falls") >= 0 ? 0.01 * static_cast<double>(told("falls")) : 1.0;
  return heat > 0.1 ? hot : 1.0;
}

/// It cools nearly as fast as arithmetic without a pause heats, so that only seconds of that matter.
void Machine::warm(std::int64_t now, double seconds) {
  constexpr double kCooling = 0.75, kHottest = 0.15;
  heat = std::max(0.0, heat - kCooling * 1e-9 * static_cast<double>(now - heated_ns));
  heat = std::min(kHottest, heat + seconds);
  heated_ns = now;
}

std::int64_t told(std::string_view word) {
  for (std::string_view rest = words(); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one == word) return 1;
    if (one.substr(0, word.size()) == word && one.size() > word.size() && one[word.size()] == '=')
      return std::atoll(std::string(one.substr(word.size() + 1)).c_str());
  }
  return -1;
}

bool told(std::string_view word, std::string_view value) {
  const std::string wanted = std::string(word) + "=" + std::string(value);
  for (std::string_view rest = words(); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one == wanted) return true;
  }
  return false;
}

void refuse(const std::string& what) {
  std::fprintf(stderr, "made-up GPU: %s\n", what.c_str());
  std::_Exit(99);
}

Stream& stream_of(cudaStream_t handle) {
  auto* stream = reinterpret_cast<Stream*>(handle);
  if (stream == nullptr) return machine().legacy;
  if (machine().streams.count(stream) == 0) refuse("a stream that does not live");
  return *stream;
}

void reads(const void* pointer, std::size_t bytes, cudaStream_t stream, const char* what) {
  const Allocation& a = span(pointer, bytes, what);
  const Stream& s = stream_of(stream);
  if (a.device != s.device && std::string_view(what) != "peer") refuse(std::string(what) + ": memory of another device");
  if (a.unsettled != nullptr && a.unsettled != &s) refuse(std::string(what) + ": read while another stream may still write it");
}

void writes(void* pointer, std::size_t bytes, cudaStream_t stream, const char* what) {
  reads(pointer, bytes, stream, what);
  auto found = --machine().memory.upper_bound(reinterpret_cast<std::uintptr_t>(pointer));
  found->second.unsettled = &stream_of(stream);
}

cudaError_t enqueue(cudaStream_t handle, const Work& work) {
  Machine& m = machine();
  Stream& stream = stream_of(handle);
  ++m.launches;
  if (m.launches == told("lost")) m.lost = true;
  if (m.launches == told("interrupt")) std::raise(SIGINT);
  if (m.lost) return m.last = cudaErrorIllegalAddress;
  if (stream.capturing) {
    ++stream.captured;
    return cudaSuccess;
  }
  host(tracing() ? 4.5 : 2.2);
  const std::int64_t start = std::max(stream.ready_ns + kGap, m.now_ns + 1000);
  m.warm(start, work.flop / work.rate / m.clock_share());
  const double bandwidth = work.bandwidth > 0.0 ? work.bandwidth : kBandwidth;
  const double seconds = (1.5e-6 + std::max(work.flop / work.rate / m.clock_share(), work.bytes / bandwidth)) * scatter();
  stream.ready_ns = start + static_cast<std::int64_t>(1e9 * seconds);
  m.kernels_ns += stream.ready_ns - start;
  record_activity(work, stream, start, stream.ready_ns, ++m.correlation);
  return cudaSuccess;
}

void settle(Stream& stream) {
  machine().now_ns = std::max(machine().now_ns, stream.ready_ns);
  for (auto& [at, allocation] : machine().memory) {
    if (allocation.unsettled == &stream) allocation.unsettled = nullptr;
  }
}

double rate_of(std::string_view precision) {
  if (precision == "fp8") return 1.2e15;
  if (precision == "half") return 6.5e14;
  return precision == "tf32" ? 3.6e14 : 4.2e13;
}

}  // namespace made_up

using namespace made_up;

/// The host's monotonic clock is the simulated one; every other clock stays real.
extern "C" int clock_gettime(clockid_t id, timespec* time) noexcept {
  if (id != CLOCK_MONOTONIC) return static_cast<int>(syscall(SYS_clock_gettime, id, time));
  time->tv_sec = machine().now_ns / 1'000'000'000;
  time->tv_nsec = machine().now_ns % 1'000'000'000;
  return 0;
}

extern "C" cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  Machine& m = machine();
  host(80.0 + 0.4e-6 * static_cast<double>(bytes));
  if (bytes >= (std::size_t{1} << 20) && ++m.allocations == told("fail_alloc")) return m.last = cudaErrorMemoryAllocation;
  if (m.device == told("full")) return m.last = cudaErrorMemoryAllocation;
  if (m.used + bytes > kCapacity) return m.last = cudaErrorMemoryAllocation;
  *pointer = reinterpret_cast<void*>(m.next);
  m.memory[m.next] = {bytes, m.device, nullptr};
  m.next += (bytes + 511) / 256 * 256;
  m.used += bytes;
  return cudaSuccess;
}

extern "C" cudaError_t cudaFree(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  Machine& m = machine();
  const auto found = m.memory.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == m.memory.end()) refuse("cudaFree of what is no allocation");
  host(60.0);
  for (Stream* s : m.streams) settle(*s);
  m.used -= found->second.bytes;
  m.memory.erase(found);
  return cudaSuccess;
}

namespace {
/// At the end nothing may be left on the device, and the times are told to who asks.
struct AtEnd {
  ~AtEnd() {
    const Machine& m = machine();
    if (!m.memory.empty()) refuse(std::to_string(m.memory.size()) + " allocations are left at exit");
    if (m.descriptors != 0) refuse(std::to_string(m.descriptors) + " descriptors of cublasLt are left at exit");
    if (m.open_groups != 0) refuse("an NCCL group is open at exit");
    if (told("tell") >= 0)
      std::fprintf(stderr, "made-up GPU: %.1f s, kernels %.1f s, %lld launches\n", 1e-9 * static_cast<double>(m.now_ns) - 1.0,
                   1e-9 * static_cast<double>(m.kernels_ns), static_cast<long long>(m.launches));
  }
};
const AtEnd at_end;
}  // namespace
