#pragma once
#include <optional>

#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/stack/stack.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Passes of a memory-bound operator; nullopt for operators of other families and those that launch nothing.
/// Some depend on the stack, such as batch norm's (a fused library kernel or a chain of framework kernels).
[[nodiscard]] std::optional<Passes> memory_passes(const Op& op, const Stack& stack, Bytes element = Bytes(4.0),
                                                  bool broadcasts = false);

/// Passes over rows of `row_elements` beyond those that the definition needs.
///
/// Softmax keeps rows of up to 1,024 elements in registers. Longer ones are read again for each of two reductions, from the
/// last-level cache as far as it holds the rows in work on the whole device:
///
///   work = SMs x resident threads / threads of a block x row,   threads = min(1024, elements / 4)
///   extra = 2 / (1 + (cache / 2 work)^3.4)
///
/// Source of the structure: PyTorch aten/src/ATen/native/cuda/SoftMax.cu; share and exponent fitted: softmax samples of five
/// boards, calibrate/samples.
[[nodiscard]] double reread_passes(RowKernel rows, double row_elements, Bytes element, const KernelRates& rates);

/// One kernel that moves `bytes`: t = launch + bytes / (share x B).
[[nodiscard]] KernelTimeModel memory_bound_time(Bytes bytes, double bandwidth_share, const KernelRates& rates);

/// Whether the kernels of this operator load and store numbers one at a time: those that broadcast, reorder or reduce always,
/// batch norm unless channels lie last, plain elementwise ones and those along rows where the stack says so (PyTorch's load
/// vectors: vectorized_layer_norm_kernel, cunn_SoftMaxForward of several numbers a thread), none of a compiler's.
[[nodiscard]] bool moves_single_numbers(OpKind kind, const Stack& stack);

/// One kernel whose threads move numbers of `element` bytes one at a time: whatever the width, each takes some 20 integer
/// instructions (its index in every operand's shape, addresses, a check of the end, conversion to fp32 and back), which 64 lanes
/// of a multiprocessor take. With 16-bit numbers that lasts as long as moving the bytes on boards that have much bandwidth for
/// each multiprocessor:
///
///   A = 20 numbers moved / (64 SMs x clock),   t = launch + ((bytes / (share x B))^3 + A^3)^(1/3)
///
/// Numbers of 32 bits take what their bytes do, since the shares come from kernels that move these, and 16 bits never longer.
/// Kepler lent none of the shares, and takes products, shifts and conversions of integers at 32 a clock and multiprocessor: there
/// it is the longer of the two. To issue belongs to moving: what bounds such a kernel is memory. The 20 are assumed where a board
/// has no samples of 16-bit batch norm (`issue_share` of the rates); that such kernels are slow at all was seen in the
/// mixed-precision rows of scenarios/published. Source of the 64: CUDA C++ Programming Guide, throughput of arithmetic
/// instructions, Volta to Hopper; Maxwell's and Pascal's 128 take a multiplication in several instructions.
[[nodiscard]] KernelTimeModel single_access_time(Bytes bytes, Bytes element, double bandwidth_share, const KernelRates& rates);

}  // namespace tbdsim
