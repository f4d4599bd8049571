#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/workload/pass.hpp"

namespace tbdsim {

/// One layer norm of `rows` x `cols` elements of `element` bytes.
struct LayerNormShape {
  double rows = 0, cols = 0;
  Bytes element{4.0};
};

/// What PyTorch's layer norm takes where threads limit it and not bytes: `moving` is the time of its bytes, which it adds to.
///
/// Forward, and backward for the input's gradient, a block of 128 threads serves each row, however short the row is:
///
///   R = rows / SMs x (block clocks + sweep clocks x ceil(cols / 512)) / clock
///
/// The gradients of scale and shift are sums over all rows. A block serves 32 columns (16 where rows or columns are no multiple
/// of 32) from the first row to the last, so a norm of few columns keeps few multiprocessors busy:
///
///   rate of a block = min(64 B a clock, columns x loads of a column x element / 700 clocks)
///   C = 2 rows x columns of a block x element / rate x ceil(blocks / SMs)
///
/// Forward: max(moving, launch + R). Backward: launch + max(3/5 moving, R) + launch + max(2/5 moving, C).
/// Sources: PyTorch aten/src/ATen/native/cuda/layer_norm_kernel.cu (versions 1.2 to 2.7); block and sweep: short rows of
/// neusight_layer_norm.csv (calibrate/samples; V100, T4, A100); assumed: backward clocks, half of the forward ones, as its sums
/// need no divisions; 700 clocks of a load under traffic; 64 B a clock between cache and multiprocessor (CUDA tuning guides).
/// Worked example: tests/cost/layer_norm_test.cpp.
[[nodiscard]] KernelTimeModel layer_norm_time(const KernelTimeModel& moving, const LayerNormShape& shape, Pass pass,
                                              int column_loads, const KernelRates& rates);

}  // namespace tbdsim
