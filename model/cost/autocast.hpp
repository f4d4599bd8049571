#pragma once
#include <span>
#include <vector>

#include "model/units/quantity.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// What a framework's extensions do otherwise under autocast.
struct AutocastHabits {
  bool copies_promoted = false;  ///< narrow summands of a wide sum are cast forward, too, in place of as they are read
  bool narrow_norms = false;     ///< layer norms cast what they read to 16 bits and write 16 bits
};

/// How autocast runs an operator. Beyond its kind: powers run in fp32 (list of the same file); the mask or bias that is added to
/// scores before a softmax is fp32 as the parameters are, and so is the sum; what overwrites a tensor keeps its width.
[[nodiscard]] AutocastRule autocast_rule(const OpGraph& graph, const Op& op, const AutocastHabits& habits = {});

/// Whether its kernels read 16 bits and write fp32, and backward the other way round: nothing is cast for them. PyTorch's
/// `softmax` and `log_softmax` (fp32_set_opt_dtype of autocast_mode.cpp; half_to_float of aten/src/ATen/native/SoftMax.cpp).
[[nodiscard]] bool converts_as_it_reads(const Op& op);

/// Bytes of an element of each tensor, in graph order: 4 or, where 16 bits, `narrow`. What a network reads is fp32.
[[nodiscard]] std::vector<Bytes> autocast_widths(const OpGraph& graph, Bytes narrow, const AutocastHabits& habits = {});

/// Numbers of one sample that a pass of an operator casts beside its kernels, and in how many: forward what it reads in another
/// width than it runs in, a copy for each operator that reads it (the cache holds parameters alone); backward the gradients of
/// these, and those of narrow summands of a wide sum. Softmax and losses read 16 bits themselves.
struct TensorCasts {
  double numbers = 0;
  int kernels = 0;
};
[[nodiscard]] TensorCasts tensor_casts(const OpGraph& graph, const Op& op, Pass pass, std::span<const Bytes> widths,
                                       const AutocastHabits& habits = {});

}  // namespace tbdsim
