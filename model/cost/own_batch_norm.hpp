#pragma once
#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/workload/shape.hpp"

namespace tbdsim {

/// What one pass of a batch norm reads: the elements of a channel, in `samples` pieces of `positions`.
struct BatchNormShape {
  double samples = 1, channels = 1, positions = 1;
};

/// Of `x`, one sample: images are C,H,W, sequences T,C, vectors C.
[[nodiscard]] BatchNormShape batch_norm_shape(const Shape& x, double batch);

/// Batch norm by PyTorch's own kernels, which run where its weights have 16 bits: cuDNN's are called with fp32 weights only.
///
/// One block of 512 threads takes a channel. Statistics, and both parts of the gradient, are loops in which a thread waits for
/// the load of every element:
///
///   L = ceil(channels / (SMs x resident blocks)) ceil(samples / (512 / w)) ceil(positions / w) x 400 cycles / clock
///   forward  = 2 launches + max(M / 3, L) + 2 M / 3
///   backward = launch + max(2 M / 5, L) + max(3 M / 5, L)
///
/// M is what moving the bytes takes, `moved` without its launch; w is the least of 32, 64, ... 512 that holds the positions. The
/// 400 cycles are those of a load from memory (assumed, as in depthwise weight gradients). Neglects channels last.
/// Source: pytorch/pytorch v1.0 to v1.13, aten/src/ATen/native/Normalization.cpp (_batch_norm_impl_index) and
/// cuda/Normalization.cuh (batch_norm_collect_statistics_kernel, batch_norm_backward_kernel); later versions are taken to do
/// alike.
[[nodiscard]] KernelTimeModel own_batch_norm_time(KernelTimeModel moved, const BatchNormShape& shape, bool forward,
                                                  const KernelRates& rates);

}  // namespace tbdsim
