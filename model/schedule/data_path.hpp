#pragma once
#include <vector>

#include "model/hardware/input_source.hpp"
#include "model/hardware/storage.hpp"

namespace tbdsim {

/// What reading one sample costs the storage and the thread that asks for it.
struct ReadCost {
  Seconds storage;  ///< for which it is busy
  Seconds thread;   ///< that a worker waits
};

/// Reading a sample of `stored` bytes. Records are read ahead in order, so the rate of large reads is all that counts and no
/// worker waits. Files each cost an access before their bytes; a worker waits for both, and the device serves `at_once` of
/// them side by side, never beyond its rate.
/// Ignores: caches of the drive, directories, other users, nodes that share it.
[[nodiscard]] ReadCost read_cost(const Storage& storage, Bytes stored, SampleAccess access);

/// One thread's copy within host memory. Assumed: half of what a core reads and writes alone on server processors of
/// 2015 to 2020 (10 to 12 GB/s).
inline constexpr BytesPerSecond kMemoryCopy{10e9};

/// Time in which every GPU of `devices` gets `bytes` from the memory of its socket at the same time; GPUs that share a PCIe
/// link share its rate. Page-locked memory is read by the copy engines; from other memory a thread first copies each piece
/// into a page-locked buffer, so the two rates add up in series. 0 where no link is described.
[[nodiscard]] Seconds input_copy_time(const Topology& topology, const std::vector<int>& devices, Bytes bytes, bool pinned);

}  // namespace tbdsim
