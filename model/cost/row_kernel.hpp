#pragma once
#include <string_view>

#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/hardware/row_constants.hpp"

namespace tbdsim {

/// How a kernel's threads walk rows.
enum class RowWalk {
  plain,    ///< as well as bytes allow, however short a row a few clocks each
  block,    ///< one block a row
  barrier,  ///< one block a row, whose threads wait for each other between two sweeps
};

/// A kernel along rows, as a library wrote it.
struct RowKernelInfo {
  std::string_view name;  ///< family, library and, backward, the pass: "rms_norm-cudnn-backward"
  double passes;          ///< over rows x columns: operands read once, results written once
  RowWalk walk;
  int vector;                 ///< numbers that a thread loads at once
  int sweeps;                 ///< of a block along its row
  int threads;                ///< of a block at most
  bool sums_columns = false;  ///< a second kernel sums the gradient of the scale over rows (`column_sum_clocks`)
};

/// A kernel that samples or stacks may name; null: there is none of this name. Sources of the walks: vllm-project/vllm csrc
/// (activation_kernels.cu, pos_encoding_kernels.cu, layernorm_kernels.cu); kernels that only move bytes are taken to.
[[nodiscard]] const RowKernelInfo* find_row_kernel(std::string_view name);

/// One kernel over `rows` x `cols` numbers of `element` bytes:
///
///   M = passes x bytes / (share x rate), by what of them the last-level cache holds
///   L = (sweeps steps step_clocks + row_clocks) / clock + (rows of a multiprocessor - 1) row bytes / (flight clock)
///       plain: rows of a multiprocessor x row_clocks / clock
///       with a barrier: waves of blocks x (the same + blocks together x 1.5 row bytes / flight) / clock
///   t = start + (M^p + L^p)^(1/p),   p = 3, with a barrier 1.5: blocks that wait move no bytes
///
/// A kernel that is followed by a sum C over rows takes 3/5 of M beside L, and 2/5 of M or C, whichever is longer, after it.
///
/// L is Little's law: so many loads in flight, each of so long a latency. Worked example: model/cost/README.md.
[[nodiscard]] KernelTimeModel row_kernel_time(double rows, double cols, Bytes element, const RowKernelInfo& kernel,
                                              const RowConstants& constants, const KernelRates& rates);

/// Rate of memory and cache together for a working set that is used again and again.
[[nodiscard]] BytesPerSecond resident_rate(Bytes working_set, BytesPerSecond memory, BytesPerSecond cache, double sharpness,
                                           const KernelRates& rates);

}  // namespace tbdsim
