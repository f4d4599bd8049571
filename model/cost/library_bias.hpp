#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"

namespace tbdsim {

/// Gradient of a convolution's bias by cuDNN (cudnnConvolutionBackwardBias, kernel calc_bias_diff): sums of all numbers of a
/// channel, over `samples` pieces of `positions`. `moved` is the time of reading them.
///
/// One block of 128 threads takes a channel, and a thread waits for every load:
///
///   L = ceil(channels / (SMs x resident blocks)) samples ceil(positions / 128) x 400 cycles / clock
///   t = launch + max(M, L),   M = moved without its launch
///
/// Source: the kernel's name (NVIDIA/apex, pyprof/prof/conv.py); that it is slower than a sum of the framework's (pytorch/pytorch
/// pull request 31524). Assumed: one block of 128 threads for each channel; 400 cycles of a load, as in `own_batch_norm_time`.
[[nodiscard]] KernelTimeModel library_bias_gradient_time(KernelTimeModel moved, double samples, double channels, double positions,
                                                         const KernelRates& rates);

}  // namespace tbdsim
