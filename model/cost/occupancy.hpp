#pragma once
#include <array>
#include <string_view>

#include "model/cost/kernel_time.hpp"
#include "model/hardware/device.hpp"

namespace tbdsim {

/// Kinds of kernel that differ in what a thread block takes of a multiprocessor; rows of a table.
enum class KernelClass { tiled, tensor_tiled, transform, recurrent, attention, streaming, reducing };

/// Why a kernel's warps could not issue, as profilers name it.
enum class Stall { execution_dependency, memory_dependency, synchronization, pipe_busy, instruction_fetch };
inline constexpr int kStallCount = 5;
[[nodiscard]] std::string_view name(Stall stall);
using StallShares = std::array<double, kStallCount>;

/// How a kernel was launched, as profilers print it.
struct LaunchShape {
  double blocks = 1, threads = 32;  ///< in the grid; in a block
  double registers = 0;             ///< of a thread; 0: not known
  Bytes shared;                     ///< of a block
};

/// Theoretical occupancy of a launch: warps that are resident on a multiprocessor at a time over the most that it holds. Blocks
/// come as registers, threads and shared memory allow, at most 32 of them, and no more than there are; blocks are shared out
/// evenly. Limits as for `achieved_occupancy`. Source: CUDA C++ Programming Guide, occupancy; ignores the granularity in which
/// registers are given.
[[nodiscard]] double launch_occupancy(const LaunchShape& launch, const Device& device);

/// Achieved occupancy: resident warps over the most that a multiprocessor holds, mean over those that work.
///
/// As many blocks of the class's size are resident as registers, threads and shared memory allow, and as there are:
/// `outputs` numbers, of which a block computes one tile; a grid smaller than the device uses smaller tiles. Limits that a
/// device file lacks are those common to NVIDIA's GPUs since Maxwell (65,536 registers, 2,048 threads, 96 KiB). Sizes of
/// blocks: CUDA occupancy arithmetic on the launch figures that nvprof prints for cuBLAS and cuDNN kernels of 2017 to 2020
/// (assumed for kernels since). Ignores: the last wave, blocks of different length, clusters. Expects outputs >= 0.
[[nodiscard]] double achieved_occupancy(KernelClass kind, double outputs, const Device& device);

/// Shares of a kernel's time by what its warps wait for, in the order of `Stall`; they sum to 1.
///
/// Times come from the terms that the kernel's own time is made of. Pipe busy: multiply-adds executed at the peak of their units.
/// Execution dependency: what is computed beside them, which is the rest of the arithmetic term. Memory dependency: what that
/// term does not cover, and the first loads of a tile or step. Synchronisation: threads or blocks that wait for each other, where
/// rows are reduced and between the steps of persistent layers. Instruction fetch: start and drain of the kernel, in which
/// instructions come from memory. They are of multiprocessors that hold warps; those without a block in the last wave do not
/// count.
[[nodiscard]] StallShares stall_shares(const KernelTimeModel& kernel);
/// The largest share.
[[nodiscard]] Stall largest_stall(const StallShares& shares);

}  // namespace tbdsim
