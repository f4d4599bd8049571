#pragma once
#include "model/stack/stack.hpp"
#include "model/units/quantity.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// Kernels beside an operator's own that only change the width of numbers: 2 B read and 4 written, or the reverse.
struct Casts {
  double numbers = 0;
  int kernels = 0;
  static constexpr Bytes kMoved{6.0};  ///< for each number
};

/// How a memory-bound operator handles its numbers under mixed precision.
struct MixedNumbers {
  Bytes element{2.0};  ///< of those that its kernels read and write
  Casts casts{};       ///< of one sample, beside its kernels
};

/// Casts of an operator's arrays, held in fp32 while its kernels compute in 16 bits: of the weights forward and of their
/// gradients backward, a kernel for each array. Autocast (and apex O1) casts what products, convolutions and recurrent layers
/// read, once in a forward pass, but no embedding table by itself and no norm's arrays; a table that scores words, too, is cast
/// for the scores. None where weights are 16-bit copies (apex O2). Source: `AutocastRule`; cached_cast of the same file.
[[nodiscard]] Casts array_casts(const OpGraph& graph, const Op& op, Pass pass, const Stack& stack);

/// Where PyTorch's autocast does not choose widths (autocast.hpp). Sums over many terms run in fp32: softmax, norms of rows, the
/// loss, with casts before and after; of 16-bit networks the loss alone. Rows of embeddings are as wide as their table.
[[nodiscard]] MixedNumbers mixed_numbers(const OpGraph& graph, const Op& op, const Stack& stack);

}  // namespace tbdsim
