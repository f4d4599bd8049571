// Collectives over the GPUs of this machine, through NCCL.
#include "calibrate/cuda/setup.hpp"
#if TBDSIM_HAVE_NCCL
#include <chrono>

#include "calibrate/cuda/rank_group.hpp"
#endif

namespace tbdsim::calibrate {

#if TBDSIM_HAVE_NCCL
RankGroup::RankGroup(const Nccl& table, int ranks)
    : nccl(table), communicators(static_cast<std::size_t>(ranks)), streams(static_cast<std::size_t>(ranks)) {}

RankGroup::RankGroup(const Nccl& table, int ranks, std::size_t bytes) : RankGroup(table, ranks) {
  const CurrentDevice restored;
  check_nccl(nccl, nccl.ncclCommInitAll(communicators.data(), ranks, nullptr));
  for (int r = 0; r < ranks; ++r) {
    check(cudaSetDevice(r));
    check(cudaStreamCreateWithFlags(&streams[static_cast<std::size_t>(r)], cudaStreamNonBlocking));
    send.push_back(std::make_shared<DeviceMemory>(bytes));
    receive.push_back(std::make_shared<DeviceMemory>(bytes));
  }
}

RankGroup::~RankGroup() {
  for (cudaStream_t s : streams) {
    if (s != nullptr) cudaStreamSynchronize(s);
  }
  for (ncclComm_t c : communicators) {
    if (c != nullptr) nccl.ncclCommDestroy(c);
  }
  for (cudaStream_t s : streams) {
    if (s != nullptr) cudaStreamDestroy(s);
  }
}

void RankGroup::synchronize() const {
  for (cudaStream_t s : streams) check(cudaStreamSynchronize(s));
}

namespace {

/// One rank's part of the call, on `bytes` in total as nccl-tests counts them.
ncclResult_t call(const RankGroup& g, const std::string& op, std::size_t rank, std::size_t bytes) {
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

const Nccl& need_nccl(const GpuContext& gpu, int ranks) {
  if (!gpu.nccl) throw GpuFailure(gpu.nccl_reason);
  if (ranks > gpu.device_count)
    throw GpuFailure("needs " + std::to_string(ranks) + " GPUs, there are " + std::to_string(gpu.device_count));
  return *gpu.nccl;
}

void start_collective(const RankGroup& group, const std::string& op, std::size_t bytes) {
  const CurrentDevice restored;
  check_nccl(group.nccl, group.nccl.ncclGroupStart());
  try {
    for (std::size_t r = 0; r < group.communicators.size(); ++r) check_nccl(group.nccl, call(group, op, r, bytes));
  } catch (const GpuFailure&) {
    // An open group would take every later call, of other measurements too, into itself.
    (void)group.nccl.ncclGroupEnd();
    throw;
  }
  check_nccl(group.nccl, group.nccl.ncclGroupEnd());
}

Setup set_up_collective(const GpuContext& gpu, const Measurement& m) {
  const int ranks = whole(m, "ranks");
  const Nccl& nccl = need_nccl(gpu, ranks);
  if (whole(m, "nodes") != 1) throw GpuFailure("collectives are measured inside one machine");
  const auto bytes = std::max<std::size_t>(4 * static_cast<std::size_t>(ranks), static_cast<std::size_t>(m.sample.at("bytes")));
  const auto group = std::make_shared<RankGroup>(nccl, ranks, bytes + 4 * static_cast<std::size_t>(ranks));
  Setup setup;
  setup.call_timing = true;  // ranks wait for each other: the slowest one's completion counts
  setup.run = [group, op = m.sample.op, bytes] { start_collective(*group, op, bytes); };
  setup.host_time = [group, run = setup.run] {
    group->synchronize();
    const auto start = std::chrono::steady_clock::now();
    run();
    group->synchronize();
    return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  };
  return setup;
}
#else
Setup set_up_collective(const GpuContext& gpu, const Measurement&) { throw GpuFailure(gpu.nccl_reason); }
#endif

}  // namespace tbdsim::calibrate
