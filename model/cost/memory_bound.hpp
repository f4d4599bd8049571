#pragma once
#include <optional>

#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/stack/stack.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Kernels that reduce along rows have sustained rates of their own.
enum class RowKernel { none, softmax, layer_norm };

/// How often an operator's kernel passes over its inputs and its output. A pass reads or writes every element once.
struct Passes {
  double forward_inputs = 0, forward_output = 0;
  double backward_inputs = 0, backward_output = 0;
  double backward_parameters = 0;  ///< over the operator's own arrays, whatever the batch
  double bandwidth_share = 1.0;    ///< of the sustained bandwidth of its family
  RowKernel rows = RowKernel::none;
};

/// Passes of a memory-bound operator; nullopt for operators of other families and those that launch nothing.
/// Batch norm's depend on the stack (a fused library kernel or a chain of framework kernels).
[[nodiscard]] std::optional<Passes> memory_passes(const Op& op, const Stack& stack);

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
/// batch norm unless channels lie last, plain elementwise ones where the stack says so.
[[nodiscard]] bool moves_single_numbers(OpKind kind, const Stack& stack);

/// One kernel whose threads move numbers of `element` bytes one at a time, each waiting for the memory: a multiprocessor starts
/// as many accesses as it has resident threads in every latency of 600 clocks, too few 16-bit ones to fill the bandwidth of
/// boards that have much of it for each multiprocessor:
///
///   A = 600 numbers moved / (resident threads x SMs x clock),   t = launch + ((bytes / (share x B))^3 + A^3)^(1/3)
///
/// Numbers of 32 bits pay nothing: the shares come from kernels that move these.
/// Source of the 600: the middle of the 400 to 800 clocks that NVIDIA's CUDA programming guide (4.2, 5.2.3) gives for the
/// memory of a device. That such kernels are slow at all was seen in the mixed-precision rows of scenarios/published.
[[nodiscard]] KernelTimeModel single_access_time(Bytes bytes, Bytes element, double bandwidth_share, const KernelRates& rates);

}  // namespace tbdsim
