#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/stack/operators/kernel_loads.hpp"
#include "model/workload/pass.hpp"

namespace tbdsim {

/// One layer norm of `rows` x `cols` elements of `element` bytes.
struct LayerNormShape {
  double rows = 0, cols = 0;
  Bytes element{4.0};
};

/// Clocks of the multiprocessor that sums the most columns over all rows, for the gradients of a norm's scale and shift. A block
/// serves 32 columns from the first row to the last, so a norm of few columns keeps few multiprocessors busy. It loads so many
/// elements of a column, waits for them, and adds them:
///
///   1/rate of a block = 1/(64 B a clock) + 700 clocks/(columns x loads of a column x element)
///   C = 2 rows x columns of a block x element / rate x ceil(blocks / SMs)
///
/// Versions that never share rows among blocks serve 16 columns where rows or columns are no multiple of 32.
/// Sources: PyTorch aten/src/ATen/native/cuda/layer_norm_kernel.cu (LaunchGammaBetaBackwardCUDAKernel from 2.8 on; 1.2 to 2.7);
/// assumed: 700 clocks of a load under traffic; 64 B a clock between cache and multiprocessor (CUDA tuning guides). That loading
/// and waiting add up was chosen with two backward passes of RMS norm on an H200 in view (8,192 and 16,384 rows of 128).
[[nodiscard]] double column_sum_clocks(const LayerNormShape& shape, const NormColumns& sums, int multiprocessors);

/// What PyTorch's layer norm takes where threads limit it and not bytes: `moving` is the time of its bytes, which it adds to.
///
/// Forward, and backward for the input's gradient, a block of 128 threads serves each row, however short the row is:
///
///   R = rows / SMs x (block clocks + sweep clocks x ceil(cols / 512)) / clock
///
/// Forward: max(moving, launch + R). Backward: launch + max(3/5 moving, R) + launch + max(2/5 moving, C).
/// Sources: PyTorch aten/src/ATen/native/cuda/layer_norm_kernel.cu (versions 1.2 to 2.7); block and sweep: short rows of
/// neusight_layer_norm.csv (calibrate/samples; V100, T4, A100); assumed: backward clocks, half of the forward ones, as its sums
/// need no divisions. Worked example: tests/cost/layer_norm_test.cpp.
[[nodiscard]] KernelTimeModel layer_norm_time(const KernelTimeModel& moving, const LayerNormShape& shape, Pass pass,
                                              const NormColumns& sums, const KernelRates& rates);

}  // namespace tbdsim
