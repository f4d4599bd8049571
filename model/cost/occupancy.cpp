#include "model/cost/occupancy.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tbdsim {
namespace {

/// A thread block of a class: its threads, what each holds, and the outputs it computes. Tiles of products come in smaller
/// sizes with as many outputs a thread.
struct Block {
  KernelClass kind;
  int threads;
  int registers;  ///< of a thread
  Bytes shared;
  double outputs;
  double smallest;  ///< part of the tile to which it may shrink
};
constexpr std::array<Block, 7> kBlocks{{{KernelClass::tiled, 256, 122, Bytes(16384.0), 16384.0, 1.0 / 16.0},
                                        {KernelClass::tensor_tiled, 256, 230, Bytes(49152.0), 32768.0, 1.0 / 8.0},
                                        {KernelClass::transform, 256, 64, Bytes(16384.0), 4096.0, 1.0},
                                        {KernelClass::recurrent, 128, 96, Bytes(12288.0), 4096.0, 1.0 / 4.0},
                                        {KernelClass::attention, 128, 168, Bytes(49152.0), 4096.0, 1.0},
                                        {KernelClass::streaming, 256, 32, Bytes(0.0), 1024.0, 1.0},
                                        {KernelClass::reducing, 256, 40, Bytes(2048.0), 1024.0, 1.0}}};

constexpr double kRegisters = 65536.0, kThreads = 2048.0, kShared = 98304.0, kWarp = 32.0, kMostBlocks = 32.0;
constexpr Bytes kRegister{4.0};

/// What a multiprocessor has; the defaults where a device file lacks them.
struct Limits {
  double threads, registers, shared;
};
Limits limits_of(const Device& device) {
  return {static_cast<double>(device.max_threads_per_multiprocessor.value_or(static_cast<int>(kThreads))),
          device.registers_per_multiprocessor ? *device.registers_per_multiprocessor / kRegister : kRegisters,
          device.shared_memory_per_multiprocessor.value_or(Bytes(kShared)).base()};
}

}  // namespace

std::string_view name(Stall stall) {
  constexpr std::array<std::string_view, kStallCount> kNames{"execution dependency", "memory dependency", "synchronisation",
                                                             "pipe busy", "instruction fetch"};
  return kNames[static_cast<std::size_t>(stall)];
}

double launch_occupancy(const LaunchShape& launch, const Device& device) {
  const Limits limits = limits_of(device);
  const double threads = std::max(kWarp, kWarp * std::ceil(launch.threads / kWarp));
  double resident = std::min(kMostBlocks, std::floor(limits.threads / threads));
  if (launch.registers > 0.0) resident = std::min(resident, std::floor(limits.registers / (threads * launch.registers)));
  if (launch.shared > Bytes(0.0)) resident = std::min(resident, std::floor(limits.shared / launch.shared.base()));
  const double each = std::max(1.0, std::ceil(launch.blocks) / device.multiprocessors);
  return std::min(1.0, std::min(each, std::max(1.0, resident)) * threads / limits.threads);
}

double achieved_occupancy(KernelClass kind, double outputs, const Device& device) {
  const Block& block = *std::find_if(kBlocks.begin(), kBlocks.end(), [&](const Block& b) { return b.kind == kind; });
  // The largest tile of which every multiprocessor gets one.
  double shrink = 1.0;
  while (shrink > block.smallest && outputs / (block.outputs * shrink) < device.multiprocessors) shrink *= 0.5;
  return launch_occupancy({std::ceil(outputs / (block.outputs * shrink)), block.threads * shrink,
                           static_cast<double>(block.registers), block.shared * shrink},
                          device);
}

StallShares stall_shares(const KernelTimeModel& kernel) {
  const IssueTime& issue = kernel.issue;
  const Seconds start = std::max(Seconds(0.0), kernel.time - issue.pipe - issue.dependency - issue.memory - issue.barrier);
  StallShares shares{};
  const auto set = [&](Stall stall, Seconds part) { shares[static_cast<std::size_t>(stall)] = part / kernel.time; };
  if (kernel.time <= Seconds(0.0)) return shares;
  set(Stall::execution_dependency, issue.dependency);
  set(Stall::memory_dependency, issue.memory);
  set(Stall::synchronization, issue.barrier);
  set(Stall::pipe_busy, issue.pipe);
  set(Stall::instruction_fetch, start);
  return shares;
}

Stall largest_stall(const StallShares& shares) {
  return static_cast<Stall>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

}  // namespace tbdsim
