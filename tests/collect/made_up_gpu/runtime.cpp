// The CUDA runtime of the made-up machine, and the collector's own kernels: who they are and what they touch.
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/collect/made_up_gpu/machine.hpp"

using namespace made_up;

namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};
Configuration pushed;

std::map<const void*, std::string>& functions() {
  static auto* const all = new std::map<const void*, std::string>;
  return *all;
}

template <class T>
T argument(void** arguments, int at) {
  T value;
  std::memcpy(&value, arguments[at], sizeof value);
  return value;
}

/// Bytes of the template's first type, which stands behind the kernel's name.
std::size_t element_of(const std::string& name, std::string_view kernel) {
  const std::size_t at = name.find(std::string(kernel) + "I");
  return at != std::string::npos && name[at + kernel.size() + 1] != 'f' ? 2 : 4;
}

/// Checks the operands of a kernel; bytes that it moves.
double touched(const std::string& name, void** a, std::size_t blocks, cudaStream_t stream) {
  using P = void*;
  const auto is = [&](std::string_view kernel) { return name.find(kernel) != std::string::npos; };
  const auto pointer = [&](int i) { return argument<P>(a, i); };
  const auto number = [&](int i) { return argument<std::size_t>(a, i); };
  const auto whole = [&](int i) { return static_cast<std::size_t>(argument<int>(a, i)); };
  if (is("tbdsim_mark") || is("tbdsim_empty")) return 0.0;
  if (is("12tbdsim_flush")) {
    writes(pointer(0), 16 * number(1), stream, "flush");
    return 16.0 * static_cast<double>(number(1));
  }
  if (is("14random_numbers") || is("12random_bytes") || is("12random_index")) {
    const std::size_t width = is("random_bytes") ? 1 : is("random_index") ? 4 : element_of(name, "14random_numbers");
    if (is("random_index") && argument<unsigned>(a, 2) == 0) refuse("random_index: an empty range");
    writes(pointer(0), width * number(1), stream, "random");
    return static_cast<double>(width * number(1));
  }
  if (is("11elementwise")) {
    const std::size_t bytes = element_of(name, "11elementwise") * number(3);
    const bool two = is("Lb1E");
    reads(pointer(0), bytes, stream, "elementwise");
    if (two) reads(pointer(1), bytes, stream, "elementwise");
    writes(pointer(2), bytes, stream, "elementwise");
    return static_cast<double>(bytes) * (two ? 3 : 2);
  }
  if (is("19layer_norm_backward") || is("10layer_norm")) {
    const bool back = is("19layer_norm_backward");
    const std::size_t element = element_of(name, back ? "19layer_norm_backward" : "10layer_norm");
    const std::size_t cols = whole(back ? 4 : 3), bytes = element * cols * blocks;
    reads(pointer(0), bytes, stream, "layer_norm");
    if (back) reads(pointer(1), bytes, stream, "layer_norm gradient");
    reads(pointer(back ? 2 : 1), element * cols, stream, "layer_norm gamma");
    writes(pointer(back ? 3 : 2), bytes, stream, "layer_norm output");
    return static_cast<double>(bytes) * (back ? 3 : 2);
  }
  if (is("18embedding_backward")) {
    reads(pointer(1), 4 * blocks, stream, "embedding index");
    reads(pointer(2), 4 * blocks * whole(3), stream, "embedding gradient");
    writes(pointer(0), 4, stream, "embedding table");
    return 12.0 * static_cast<double>(blocks * whole(3));
  }
  if (is("9embedding")) {
    const std::size_t bytes = element_of(name, "9embedding") * blocks * whole(3);
    reads(pointer(1), 4 * blocks, stream, "embedding index");
    writes(pointer(2), bytes, stream, "embedding");
    return 2.0 * static_cast<double>(bytes);
  }
  if (is("7sum_all")) {
    const std::size_t bytes = element_of(name, "7sum_all") * number(2);
    reads(pointer(0), bytes, stream, "sum");
    writes(pointer(1), 4, stream, "sum");
    return static_cast<double>(bytes);
  }
  if (is("9optimizer")) {
    for (const int i : {0, 2, 3}) writes(pointer(i), 4 * number(4), stream, "optimizer");
    reads(pointer(1), 4 * number(4), stream, "optimizer");
    return 4.0 * static_cast<double>(number(4)) * (is("ILi0E") ? 3 : is("ILi1E") ? 5 : 7);
  }
  refuse("unknown kernel " + name);
}

cudaError_t launch(const std::string& name, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream) {
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024 || grid.x == 0 || grid.x > 2147483647u || grid.y > 65535u || grid.z > 65535u ||
      shared > 48 * 1024)
    return machine().last = cudaErrorInvalidConfiguration;
  if (stream_of(stream).device != machine().device) return machine().last = cudaErrorInvalidResourceHandle;
  Work work;
  work.name = name;
  if (name.find("tbdsim_busy") != std::string::npos) {
    work.flop = static_cast<double>(argument<long long>(arguments, 0));
    work.rate = kClock;
  } else {
    work.bytes = touched(name, arguments, grid.x, stream);
  }
  work.grid[0] = grid.x;
  work.block[0] = block.x;
  return enqueue(stream, work);
}

/// Pages that were never written are one page of zeros: a rate of copying them is the cache's.
void needs_data(const void* from, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  const char* const data = static_cast<const char*>(from);
  if (bytes >= 2 * kPage && std::memcmp(data, data + (bytes / kPage - 1) * kPage, kPage) == 0)
    refuse("a copy from the host of one page again and again");
}

cudaError_t told_error(cudaError_t status) {
  if (status != cudaSuccess) machine().last = status;
  return machine().lost ? cudaErrorIllegalAddress : status;
}

}  // namespace

extern "C" {
void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host_function, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  functions()[host_function] = name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  pushed = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared = pushed.shared;
  *static_cast<cudaStream_t*>(stream) = pushed.stream;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  const auto found = functions().find(function);
  if (found == functions().end()) return machine().last = cudaErrorInvalidDeviceFunction;
  return launch(found->second, grid, block, arguments, shared, stream);
}
#if CUDART_VERSION >= 12000
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return functions().count(function) != 0 ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
#endif

/// The first call starts the driver, which loads what CUDA_INJECTION64_PATH names.
cudaError_t cudaGetDeviceCount(int* count) {
  static bool started = false;
  if (const char* injected = std::getenv("CUDA_INJECTION64_PATH"); injected != nullptr && !started) {
    started = true;
    void* const library = dlopen(injected, RTLD_NOW);
    auto* const begin = library != nullptr ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
    if (begin == nullptr || begin() != 1) refuse(std::string("cannot inject ") + injected);
  }
  *count = machine().gpus;
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= machine().gpus) return told_error(cudaErrorInvalidDevice);
  machine().device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = machine().device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  *p = {};
  std::snprintf(p->name, sizeof p->name, "%s", machine().capability >= 90 ? "NVIDIA H100 80GB HBM3" : "Tesla P4");
  p->major = machine().capability / 10;
  p->minor = machine().capability % 10;
  p->l2CacheSize = 50 << 20;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  if (size < 13) return told_error(cudaErrorInvalidValue);
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", device + 1);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  host(4.0);
  settle(machine().legacy);
  for (Stream* s : machine().streams) {
    if (s->device == machine().device) settle(*s);
  }
  return told_error(cudaSuccess);
}
cudaError_t cudaGetLastError() {
  const cudaError_t status = machine().lost ? cudaErrorIllegalAddress : machine().last;
  machine().last = cudaSuccess;
  return status;
}
const char* cudaGetErrorString(cudaError_t status) {
  if (status == cudaErrorMemoryAllocation) return "out of memory";
  if (status == cudaErrorIllegalAddress) return "an illegal memory access was encountered";
  return status == cudaErrorNoDevice ? "no CUDA-capable device is detected" : "another CUDA error";
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  host(50.0 + 3e-4 * static_cast<double>(bytes));
  *pointer = std::malloc(bytes);
  return *pointer != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void* pointer) {
  host(50.0);
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* pointer, int, std::size_t bytes, cudaStream_t stream) {
  writes(pointer, bytes, stream, "memset");
  Work work;
  work.kind = Work::Kind::fill;
  work.bytes = static_cast<double>(bytes);
  return enqueue(stream, work);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  Work work;
  work.kind = Work::Kind::copy;
  work.bytes = static_cast<double>(bytes);
  if (kind == cudaMemcpyDeviceToDevice) {
    work.bytes *= 2;
    work.direction = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  } else {
    work.bandwidth = kHostLink;
    work.direction = kind == cudaMemcpyHostToDevice ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  }
  if (kind == cudaMemcpyHostToDevice) needs_data(from, bytes);
  if (kind != cudaMemcpyHostToDevice) reads(from, bytes, stream, "copy");
  if (kind != cudaMemcpyDeviceToHost) writes(to, bytes, stream, "copy");
  return enqueue(stream, work);
}
/// From pageable memory the call may return before a short copy has arrived.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t status = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  if (kind != cudaMemcpyHostToDevice || bytes > 65536) settle(machine().legacy);
  return status;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  reads(from, bytes, stream, "peer");
  reads(to, bytes, stream, "peer");
  if (to_device == machine().device) refuse("a peer copy to its own device");
  Work work;
  work.kind = Work::Kind::peer;
  work.bytes = static_cast<double>(bytes);
  work.bandwidth = kPeerLink;
  work.direction = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  return enqueue(stream, work);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  static bool enabled = false;
  if (enabled) return told_error(cudaErrorPeerAccessAlreadyEnabled);
  enabled = true;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  auto* stream = new Stream;
  stream->device = machine().device;
  stream->non_blocking = (flags & cudaStreamNonBlocking) != 0;
  machine().streams.insert(stream);
  *handle = reinterpret_cast<cudaStream_t>(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  settle(stream_of(handle));
  machine().streams.erase(&stream_of(handle));
  return cudaSuccess;  // the object stays: events may still name it
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  if (stream_of(handle).capturing) return told_error(cudaErrorStreamCaptureUnsupported);
  host(4.0);
  settle(stream_of(handle));
  return told_error(cudaSuccess);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  const auto& e = *reinterpret_cast<Event*>(event);
  Stream& stream = stream_of(handle);
  if (e.recorded) stream.ready_ns = std::max(stream.ready_ns, e.at_ns);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  host(1.0);
  auto& e = *reinterpret_cast<Event*>(event);
  e.stream = &stream_of(stream);
  e.at_ns = std::max(e.stream->ready_ns, machine().now_ns);
  e.recorded = true;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto& e = *reinterpret_cast<Event*>(event);
  return e.at_ns <= machine().now_ns ? cudaSuccess : told_error(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  host(4.0);
  machine().now_ns = std::max(machine().now_ns, reinterpret_cast<Event*>(event)->at_ns);
  return told_error(cudaSuccess);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const auto &a = *reinterpret_cast<Event*>(from), &b = *reinterpret_cast<Event*>(to);
  if (!a.recorded || !b.recorded) return told_error(cudaErrorInvalidResourceHandle);
  if (b.at_ns > machine().now_ns) return told_error(cudaErrorNotReady);
  *milliseconds = 1e-6f * static_cast<float>(b.at_ns - a.at_ns);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (stream == nullptr) return told_error(cudaErrorStreamCaptureUnsupported);
  stream_of(stream).capturing = true;
  stream_of(stream).captured = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  stream_of(stream).capturing = false;
  *graph = reinterpret_cast<cudaGraph_t>(new int(stream_of(stream).captured));
  return cudaSuccess;
}
#if CUDART_VERSION >= 12000
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long) {
#else
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, cudaGraphNode_t*, char*, std::size_t) {
#endif
  *ready = reinterpret_cast<cudaGraphExec_t>(new int(*reinterpret_cast<int*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<int*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  delete reinterpret_cast<int*>(ready);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  host(5.0);
  Stream& s = stream_of(stream);
  s.ready_ns = std::max(s.ready_ns, machine().now_ns) + (1500 + kGap) * *reinterpret_cast<int*>(ready);
  return cudaSuccess;
}
}
