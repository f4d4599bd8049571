#include "model/cost/row_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/cost/layer_norm.hpp"

namespace tbdsim {
namespace {

constexpr std::array<RowKernelInfo, 9> kKernels{{{"gated_activation-vllm", 3, RowWalk::block, 1, 1, 1024},
                                                 {"rope-vllm", 2, RowWalk::block, 2, 1, 512},
                                                 {"rms_norm-vllm", 2, RowWalk::barrier, 1, 2, 1024},
                                                 {"rms_norm-cudnn", 2, RowWalk::plain, 1, 1, 1024},
                                                 {"rms_norm-cudnn-backward", 3, RowWalk::plain, 1, 1, 1024},
                                                 {"rms_norm-compiled", 2, RowWalk::plain, 1, 1, 1024},
                                                 {"rms_norm-compiled-backward", 3, RowWalk::plain, 1, 1, 1024},
                                                 {"rms_norm-pytorch", 2, RowWalk::plain, 1, 1, 1024},
                                                 {"rms_norm-pytorch-backward", 3, RowWalk::plain, 1, 1, 1024, true}}};

/// Clocks of all rows by their latencies.
double waiting_clocks(double rows, double cols, double row_bytes, const RowKernelInfo& kernel, const RowConstants& c,
                      const KernelRates& rates) {
  const double rows_each = std::ceil(rows / rates.multiprocessors);
  if (kernel.walk == RowWalk::plain) return rows_each * c.row_clocks;
  const double threads = std::clamp(cols / kernel.vector, 1.0, static_cast<double>(kernel.threads));
  const double own = kernel.sweeps * std::ceil(cols / (kernel.vector * threads)) * c.step_clocks + c.row_clocks;
  if (kernel.walk == RowWalk::block) return own + (rows_each - 1.0) * row_bytes / c.flight;
  const double places = std::max(1.0, std::floor(rates.resident_threads / threads));
  const double together = std::min(places, rows_each), waves = std::ceil(rows / (rates.multiprocessors * places));
  constexpr double kPassesOfBlock = 1.5;  // a row is read twice and written once, two of these from the cache
  return waves * (own + together * kPassesOfBlock * row_bytes / c.flight);
}

}  // namespace

const RowKernelInfo* find_row_kernel(std::string_view name) {
  const auto* const found =
      std::find_if(kKernels.begin(), kKernels.end(), [&](const RowKernelInfo& row) { return row.name == name; });
  return found == kKernels.end() ? nullptr : found;
}

BytesPerSecond resident_rate(Bytes working_set, BytesPerSecond memory, BytesPerSecond cache, double sharpness,
                             const KernelRates& rates) {
  if (rates.cache <= Bytes(0.0)) return memory;
  const double held = 1.0 / (1.0 + std::pow(working_set / (rates.cache_reach * rates.cache), sharpness));
  return BytesPerSecond(1.0 / ((1.0 - held) / memory.base() + held / std::max(cache.base(), memory.base())));
}

KernelTimeModel row_kernel_time(double rows, double cols, Bytes element, const RowKernelInfo& kernel,
                                const RowConstants& constants, const KernelRates& rates) {
  // Fitted: casts of 16 to 8 bits on H100 and L40S; held or not changes within a tenth of the cache.
  constexpr double kCacheBytes = 19.0, kSharpness = 16.0;
  KernelTimeModel result;
  result.bytes = kernel.passes * rows * cols * element;
  const BytesPerSecond cache(kCacheBytes * rates.multiprocessors * rates.clock.base());
  // Kernels that only move bytes were timed with a cache that holds nothing of them, as it is between the layers of a step.
  const BytesPerSecond memory = rates.bandwidth * constants.share;
  const BytesPerSecond rate =
      kernel.walk == RowWalk::plain ? memory : resident_rate(result.bytes, memory, cache, kSharpness, rates);
  const double moving = (result.bytes / rate).base();
  result.launch = rates.launch + constants.start;
  const double row_bytes = kernel.passes * cols * element.base();
  const double waiting = waiting_clocks(rows, cols, row_bytes, kernel, constants, rates) / rates.clock.base();
  const double p = kernel.walk == RowWalk::barrier ? 1.5 : 3.0;
  // Of five passes over the rows, three are the input's gradient's and two those of the sum over rows.
  const double of_rows = kernel.sums_columns ? 0.6 : 1.0;
  Seconds busy(std::pow(std::pow(of_rows * moving, p) + std::pow(waiting, p), 1.0 / p));
  if (kernel.sums_columns) {
    constexpr NormColumns kSums{512, true};  // PyTorch from 2.9 on, the first with a kernel of RMS norm
    const double columns = column_sum_clocks({rows, cols, element}, kSums, rates.multiprocessors) / rates.clock.base();
    busy = busy + Seconds(std::max((1.0 - of_rows) * moving, columns));
  }
  result.time = result.launch + busy;
  result.issue.memory = busy;
  result.bound = result.launch > busy ? Bound::launch : Bound::memory;
  return result;
}

}  // namespace tbdsim
