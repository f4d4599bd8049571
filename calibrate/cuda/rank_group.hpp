#pragma once
// GPUs of one process that exchange data through NCCL. Included only where its header was found.
#include <vector>

#include "calibrate/cuda/setup.hpp"

namespace tbdsim::calibrate {

inline void check_nccl(const Nccl& nccl, ncclResult_t status) {
  if (status != ncclSuccess) throw GpuFailure(std::string("NCCL: ") + nccl.ncclGetErrorString(status));
}

/// NCCL, if it is there and this machine has that many GPUs. Throws GpuFailure with the reason otherwise.
[[nodiscard]] const Nccl& need_nccl(const GpuContext& gpu, int ranks);

/// A communicator over the first `ranks` devices, one process.
struct RankGroup {
  RankGroup(const Nccl& table, int ranks, std::size_t bytes);
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;
  void synchronize() const;

  const Nccl& nccl;
  std::vector<ncclComm_t> communicators;
  std::vector<cudaStream_t> streams;
  std::vector<Buffer> send, receive;

 private:
  RankGroup(const Nccl& table, int ranks);  ///< nothing made yet: what follows may throw, and its parts are destroyed
};

/// Leaves the current device as it is. Starts `op` on every rank, on `bytes` in total as nccl-tests counts them. Throws
/// GpuFailure.
void start_collective(const RankGroup& group, const std::string& op, std::size_t bytes);

}  // namespace tbdsim::calibrate
