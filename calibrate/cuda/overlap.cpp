// A matrix product while data moves on other streams: what a copy or a collective takes from the kernels beside it.
#include <functional>

#include "calibrate/collect/session.hpp"
#include "calibrate/cuda/event.hpp"
#include "calibrate/cuda/setup.hpp"
#if TBDSIM_HAVE_NCCL
#include "calibrate/cuda/rank_group.hpp"
#endif

namespace tbdsim::calibrate {
namespace {

/// Transfers that go on beside the product.
struct Traffic {
  cudaStream_t stream = nullptr;  ///< of this device; tells when the transfers begin and end
  std::function<void()> start;    ///< enqueues one transfer
  std::string algorithm;
  std::shared_ptr<void> owner;
};

Traffic host_traffic(std::size_t bytes, bool up) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const std::shared_ptr<std::remove_pointer_t<cudaStream_t>> owner(stream, [](cudaStream_t s) { cudaStreamDestroy(s); });
  const auto device = std::make_shared<DeviceMemory>(bytes);
  const auto host = host_memory(bytes, true);
  Traffic traffic{stream, {}, up ? "beside h2d" : "beside d2h", owner};
  traffic.start = [=] {
    check(cudaMemcpyAsync(up ? device->get() : host.get(), up ? host.get() : device->get(), bytes,
                          up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
  };
  return traffic;
}

#if TBDSIM_HAVE_NCCL
Traffic collective_traffic(const GpuContext& gpu, int ranks, std::size_t bytes) {
  if (ranks < 2) throw GpuFailure("an all-reduce needs two GPUs");
  const auto group = std::make_shared<RankGroup>(need_nccl(gpu, ranks), ranks, bytes + 4 * static_cast<std::size_t>(ranks));
  Traffic traffic{group->streams.at(static_cast<std::size_t>(gpu.device)), {}, "beside all-reduce", group};
  traffic.start = [=] { start_collective(*group, "all-reduce", bytes); };
  return traffic;
}
#else
Traffic collective_traffic(const GpuContext& gpu, int, std::size_t) { throw GpuFailure(gpu.nccl_reason); }
#endif

}  // namespace

Setup set_up_overlap(const GpuContext& gpu, const Measurement& m) {
  const auto bytes = static_cast<std::size_t>(m.sample.at("bytes"));
  const int ranks = whole(m, "ranks");
  const bool collective = m.sample.kind == "all-reduce";
  if (!collective && ranks != 1) throw GpuFailure("a copy to the host has one rank");
  if (collective && gpu.device >= ranks) throw GpuFailure("the product must run on one of the ranks");
  const Traffic traffic = collective ? collective_traffic(gpu, ranks, bytes) : host_traffic(bytes, m.sample.kind == "h2d-pinned");
  Setup setup = set_up_product(gpu, m);
  setup.algorithm = traffic.algorithm;
  // Events around the product: its launch is in the time.
  setup.call_timing = true;
  setup.flags = kEventTiming;
  const auto moving = std::make_shared<Event>(), moved = std::make_shared<Event>(), begin = std::make_shared<Event>(),
             end = std::make_shared<Event>();
  const auto transfers = std::make_shared<int>(4);
  setup.host_time = [=, run = setup.run, stream = gpu.stream] {
    constexpr int kMostTransfers = 4096;
    for (;;) {
      check(cudaDeviceSynchronize());
      check(cudaEventRecord(moving->handle, traffic.stream));
      for (int i = 0; i < *transfers; ++i) traffic.start();
      check(cudaEventRecord(moved->handle, traffic.stream));
      check(cudaStreamWaitEvent(stream, moving->handle, 0));
      check(cudaEventRecord(begin->handle, stream));
      run();
      check(cudaEventRecord(end->handle, stream));
      check(cudaEventSynchronize(end->handle));
      const bool covered = cudaEventQuery(moved->handle) == cudaErrorNotReady;
      (void)cudaGetLastError();
      check(cudaDeviceSynchronize());
      if (covered) break;
      // The transfers ended first: the product ran alone for a part of its time.
      if (*transfers >= kMostTransfers) throw GpuFailure("the transfers end before the product does: more bytes are needed");
      *transfers *= 2;
    }
    return between(*begin, *end);
  };
  return setup;
}

}  // namespace tbdsim::calibrate
