#pragma once
#include <string>
#include <string_view>

#include "model/cost/kernel_rates.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/stack/stack.hpp"

namespace tbdsim {

/// One recurrent layer in one direction: `gates` x hidden rows of weights (1 vanilla, 3 GRU, 4 LSTM).
struct RecurrentShape {
  double gates = 4, hidden = 1, batch = 1, steps = 1;
};
enum class RecurrentPass { forward, backward_data, backward_weights };

/// The recurrent part of a layer as the vendor's library runs it, without the product with the layer's input.
///
/// Forward and backward data are chains of `steps`, each one unsplit product and what is done element by element:
///
///   C = (k + prologue) max(ceil(blocks / SMs) 2 tm tn SMs/F (1 + a (tm + tn)/(tm tn)), ceil(blocks / (4 SMs)) cycles / clock)
///   M = (A + B + C) / B
///   step = t0 + min over tile of (C^3 + M^3)^(1/3) + passes G H batch / B
///
/// (m, n, k) = (G H, batch, H) and 2 passes forward, (H, batch, G H) and 3 passes backward: k is G times longer, which is why
/// backward is the slower one when latency rules. A block cannot take a k-step faster than its loads return (`cycles`, fitted at
/// 16, 32 and 64 sequences; between them it grows with a power of the batch); four blocks share a multiprocessor and hide each
/// other's loads. The weights' gradient is one product
/// (G H, H, batch x steps) for all steps.
/// Neglects: weights that stay in cache between steps, layers that run beside each other.
/// Worked example: model/cost/README.md, tests/closed_form/recurrent_test.cpp.
[[nodiscard]] KernelTimeModel recurrent_time(const RecurrentShape& shape, RecurrentPass pass, Bytes element,
                                             const RecurrentConstants& constants, const KernelRates& rates);

/// The chain of steps with the weights kept in registers: a step costs its arithmetic and one synchronisation of the whole
/// device. Source of the form: Diamos et al., Persistent RNNs, ICML 2016; the synchronisation is assumed.
[[nodiscard]] KernelTimeModel persistent_recurrent_time(const RecurrentShape& shape, RecurrentPass pass, Bytes element,
                                                        const KernelRates& rates);

/// Row of `KernelConstants::recurrent` that describes a library, by CUDA release: "cuda7", "cuda8" or "cuda10" (9 and later), or
/// "rocm1". Products on tensor cores add "-tensor" to it. Kernels for Volta and later came with CUDA 9: under an older stack
/// those boards are taken to run them.
[[nodiscard]] std::string_view recurrent_generation(Vendor vendor, const std::string& cuda, const Architecture& chip);

/// Whether a library runs some batches below 64 in kernels that wait longer for their loads than those for 64 do, so that more
/// sequences may take less time. DeepBench shows that of CUDA 8 on four Pascal boards, and of no other library.
[[nodiscard]] bool waits_less_at_64(const RecurrentConstants& constants);

}  // namespace tbdsim
