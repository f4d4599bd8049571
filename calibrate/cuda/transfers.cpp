// Copies, kernel launches and collectives: what moves data or time between host, devices and kernels.
#include <chrono>
#include <cstdlib>

#include "calibrate/cuda/setup.hpp"

namespace tbdsim::calibrate {
namespace {

/// Host memory, page-locked or plain.
std::shared_ptr<void> host_memory(std::size_t bytes, bool pinned) {
  void* memory = nullptr;
  if (pinned) {
    check(cudaMallocHost(&memory, bytes));
    return {memory, [](void* p) { cudaFreeHost(p); }};
  }
  memory = std::calloc(bytes, 1);
  if (memory == nullptr) throw GpuFailure("out of host memory");
  return {memory, [](void* p) { std::free(p); }};
}

/// Wall time of `work` until the stream is empty.
Seconds wall_time(cudaStream_t stream, const std::function<void()>& work) {
  check(cudaStreamSynchronize(stream));
  const auto start = std::chrono::steady_clock::now();
  work();
  check(cudaStreamSynchronize(stream));
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

Setup peer_copy(const GpuContext& gpu, std::size_t bytes) {
  if (gpu.device_count < 2) throw GpuFailure("a peer copy needs two GPUs");
  const int other = gpu.device == 0 ? 1 : 0;
  int allowed = 0;
  check(cudaDeviceCanAccessPeer(&allowed, gpu.device, other));
  if (allowed != 0 && cudaDeviceEnablePeerAccess(other, 0) == cudaErrorPeerAccessAlreadyEnabled) (void)cudaGetLastError();
  const auto here = std::make_shared<DeviceMemory>(bytes);
  check(cudaSetDevice(other));
  const auto there = std::make_shared<DeviceMemory>(bytes);
  check(cudaSetDevice(gpu.device));
  Setup setup;
  setup.algorithm = allowed != 0 ? "peer" : "through host";
  setup.run = [=, stream = gpu.stream, device = gpu.device] {
    check(cudaMemcpyPeerAsync(there->get(), other, here->get(), device, bytes, stream));
  };
  return setup;
}

}  // namespace

Setup set_up_copy(const GpuContext& gpu, const Measurement& m) {
  const auto bytes = std::max<std::size_t>(1, static_cast<std::size_t>(m.sample.at("bytes")));
  const std::string& kind = m.sample.kind;
  if (kind == "p2p") return peer_copy(gpu, bytes);
  const auto device = std::make_shared<DeviceMemory>(bytes);
  Setup setup;
  if (kind == "d2d") {
    const auto other = std::make_shared<DeviceMemory>(bytes);
    setup.run = [=, stream = gpu.stream] {
      check(cudaMemcpyAsync(other->get(), device->get(), bytes, cudaMemcpyDeviceToDevice, stream));
    };
    return setup;
  }
  const bool up = kind.rfind("h2d", 0) == 0, pinned = kind.find("pinned") != std::string::npos;
  const auto host = host_memory(bytes, pinned);
  setup.run = [=, stream = gpu.stream] {
    if (up)
      check(cudaMemcpyAsync(device->get(), host.get(), bytes, cudaMemcpyHostToDevice, stream));
    else
      check(cudaMemcpyAsync(host.get(), device->get(), bytes, cudaMemcpyDeviceToHost, stream));
  };
  if (!pinned) {
    // The host stages a pageable copy in pieces: its own time counts, not the pieces on the device.
    setup.call_timing = true;
    setup.host_time = [run = setup.run, stream = gpu.stream] { return wall_time(stream, run); };
  }
  return setup;
}

Setup set_up_launch(const GpuContext& gpu, const Measurement& m) {
  const int kernels = whole(m, "kernels");
  const auto launch_all = [=, stream = gpu.stream] {
    for (int i = 0; i < kernels; ++i) launch_empty(stream);
  };
  Setup setup;
  setup.call_timing = true;
  if (whole(m, "graph") == 0) {
    setup.algorithm = "stream";
    setup.host_time = [=, stream = gpu.stream] { return wall_time(stream, launch_all); };
    return setup;
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal));
  launch_all();
  check(cudaStreamEndCapture(gpu.stream, &graph));
#if CUDART_VERSION >= 12000
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
#else
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0);
#endif
  cudaGraphDestroy(graph);
  check(status);
  const std::shared_ptr<std::remove_pointer_t<cudaGraphExec_t>> ready(executable,
                                                                      [](cudaGraphExec_t g) { cudaGraphExecDestroy(g); });
  setup.algorithm = "graph";
  setup.host_time = [=, stream = gpu.stream] { return wall_time(stream, [&] { check(cudaGraphLaunch(ready.get(), stream)); }); };
  return setup;
}

#if TBDSIM_HAVE_NCCL
namespace {

void check_nccl(const Nccl& nccl, ncclResult_t status) {
  if (status != ncclSuccess) throw GpuFailure(std::string("NCCL: ") + nccl.ncclGetErrorString(status));
}

/// A communicator over the first `ranks` devices, one process.
struct Group {
  Group(const Nccl& table, int ranks, std::size_t bytes);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void synchronize() const;

  const Nccl& nccl;
  std::vector<ncclComm_t> communicators;
  std::vector<cudaStream_t> streams;
  std::vector<Buffer> send, receive;
};

Group::Group(const Nccl& table, int ranks, std::size_t bytes)
    : nccl(table), communicators(static_cast<std::size_t>(ranks)), streams(static_cast<std::size_t>(ranks)) {
  check_nccl(nccl, nccl.ncclCommInitAll(communicators.data(), ranks, nullptr));
  for (int r = 0; r < ranks; ++r) {
    check(cudaSetDevice(r));
    check(cudaStreamCreateWithFlags(&streams[static_cast<std::size_t>(r)], cudaStreamNonBlocking));
    send.push_back(std::make_shared<DeviceMemory>(bytes));
    receive.push_back(std::make_shared<DeviceMemory>(bytes));
  }
}

Group::~Group() {
  for (ncclComm_t c : communicators) nccl.ncclCommDestroy(c);
  for (cudaStream_t s : streams) cudaStreamDestroy(s);
}

void Group::synchronize() const {
  for (cudaStream_t s : streams) check(cudaStreamSynchronize(s));
}

/// One rank's part of the call, on `bytes` in total as nccl-tests counts them.
ncclResult_t call(const Group& g, const std::string& op, std::size_t rank, std::size_t bytes) {
  const std::size_t count = bytes / 4, share = std::max<std::size_t>(1, count / g.communicators.size());
  void* const in = g.send[rank]->get();
  void* const out = g.receive[rank]->get();
  ncclComm_t const comm = g.communicators[rank];
  cudaStream_t const stream = g.streams[rank];
  if (op == "all_reduce" || op == "all-reduce") return g.nccl.ncclAllReduce(in, out, count, ncclFloat, ncclSum, comm, stream);
  if (op == "broadcast") return g.nccl.ncclBroadcast(in, out, count, ncclFloat, 0, comm, stream);
  if (op == "reduce") return g.nccl.ncclReduce(in, out, count, ncclFloat, ncclSum, 0, comm, stream);
  if (op == "all-gather") return g.nccl.ncclAllGather(in, out, share, ncclFloat, comm, stream);
  if (op == "reduce-scatter") return g.nccl.ncclReduceScatter(in, out, share, ncclFloat, ncclSum, comm, stream);
  if (op != "all-to-all") throw GpuFailure("collective has no op " + op);
  for (std::size_t peer = 0; peer < g.communicators.size(); ++peer) {
    const auto other = static_cast<int>(peer);
    const std::size_t at = peer * share * 4;
    ncclResult_t status = g.nccl.ncclSend(static_cast<char*>(in) + at, share, ncclFloat, other, comm, stream);
    if (status == ncclSuccess) status = g.nccl.ncclRecv(static_cast<char*>(out) + at, share, ncclFloat, other, comm, stream);
    if (status != ncclSuccess) return status;
  }
  return ncclSuccess;
}

}  // namespace

Setup set_up_collective(const GpuContext& gpu, const Measurement& m) {
  if (!gpu.nccl) throw GpuFailure(gpu.nccl_reason);
  const int ranks = whole(m, "ranks");
  if (whole(m, "nodes") != 1) throw GpuFailure("collectives are measured inside one machine");
  if (ranks > gpu.device_count)
    throw GpuFailure("needs " + std::to_string(ranks) + " GPUs, there are " + std::to_string(gpu.device_count));
  const auto bytes = std::max<std::size_t>(4 * static_cast<std::size_t>(ranks), static_cast<std::size_t>(m.sample.at("bytes")));
  const auto group = std::make_shared<Group>(*gpu.nccl, ranks, bytes + 4 * static_cast<std::size_t>(ranks));
  check(cudaSetDevice(gpu.device));
  Setup setup;
  setup.call_timing = true;  // ranks wait for each other: the slowest one's completion counts
  setup.host_time = [group, op = m.sample.op, bytes, device = gpu.device] {
    group->synchronize();
    const auto start = std::chrono::steady_clock::now();
    check_nccl(group->nccl, group->nccl.ncclGroupStart());
    for (std::size_t r = 0; r < group->communicators.size(); ++r) check_nccl(group->nccl, call(*group, op, r, bytes));
    check_nccl(group->nccl, group->nccl.ncclGroupEnd());
    group->synchronize();
    check(cudaSetDevice(device));
    return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  };
  return setup;
}
#else
Setup set_up_collective(const GpuContext& gpu, const Measurement&) { throw GpuFailure(gpu.nccl_reason); }
#endif

}  // namespace tbdsim::calibrate
