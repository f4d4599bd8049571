// Copies and kernel launches: what moves data or time between host, devices and kernels.
#include <chrono>

#include "calibrate/cuda/setup.hpp"

namespace tbdsim::calibrate {
namespace {

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
  const auto there = [&] {
    const CurrentDevice restored;
    check(cudaSetDevice(other));
    return std::make_shared<DeviceMemory>(bytes);
  }();
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
    setup.run = launch_all;
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
  setup.run = [=, stream = gpu.stream] { check(cudaGraphLaunch(ready.get(), stream)); };
  setup.host_time = [run = setup.run, stream = gpu.stream] { return wall_time(stream, run); };
  return setup;
}

}  // namespace tbdsim::calibrate
