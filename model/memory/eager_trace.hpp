#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/cost/kernel_model.hpp"
#include "model/memory/lifetime.hpp"
#include "model/workload/saved_tensors.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// One request to an allocator or the end of one, in the order in which they happen.
struct AllocationEvent {
  std::int32_t array = 0;  ///< index into AllocationTrace::arrays
  std::int32_t node = 0;   ///< of the step, while which it happens
  bool frees = false;
};

/// What a framework that allocates as it runs (PyTorch, TensorFlow) asks its allocator for over one training step.
/// Arrays that outlive the step come first and are never freed.
struct AllocationTrace {
  std::vector<Lifetime> arrays;
  std::vector<AllocationEvent> events;
};

/// What decides a trace besides network, order and kernels.
struct EagerOptions {
  SavingRules rules = SavingRules::autograd_cuda;
  double batch = 1;
  Bytes element{4.0};                  ///< of feature maps
  bool fused_attention = false;        ///< no scores leave the kernel
  Bytes gradient_element{4.0};         ///< of parameter gradients
  Bytes expert_gradient_element{4.0};  ///< of those of experts
  std::optional<Bytes> loss_element;   ///< where losses widen what they read: kept so wide, and a copy of it while they run
  double loss_arrays = 1;              ///< of all scores, that a loss makes beside their gradient
  bool narrow_norms = false;           ///< under autocast, as `AutocastHabits` has it
  bool autocast = false;               ///< fp32 weights; each operator casts what it reads to the width it runs in
  bool gathers_weights = false;        ///< whose copies an operator makes anew for each pass (ZeRO 3)
  double update_arrays = 0;            ///< per parameter, that an update makes
  double expert_update_arrays = 0;     ///< per parameter of experts
  Bytes update_element{4.0};           ///< of them
  bool updates_together = false;       ///< and keeps until all parameters are updated
  std::optional<int> loss_gathered;    ///< of so many ranks the loss runs here, on what is gathered; 0: it runs elsewhere
  bool flattens_updates = false;       ///< and the same once more in one array for all
  bool keeps_gradients = false;        ///< gradients of the last step stay and new ones are added to them
};

/// Lifetimes from the order of the step's nodes.
///
/// A forward node makes its output (unless it is a view or in place) and what it keeps for backward; an array goes when
/// its last reader has run, forward or backward. A backward node makes the gradients of its inputs, where a first
/// gradient is the tensor's and others are added to it in place; additions and views pass theirs on; the gradient of
/// its output goes when it has run. Convolution workspaces live while their node runs. Gradients of parameters are made
/// by the node that computes them and stay until the last node. A forward node that stands behind a backward node
/// recomputes: what the first pass of these operators made is not kept beyond its forward readers.
///
/// Under PyTorch's autocast products run in `element` bytes and normalisations, softmax and losses in fp32; others as wide as the
/// widest of what they read. Weights are cast once and their copies stay until the last backward use or, without one, the
/// end of the forward pass, unless they are gathered for each pass; everything else is cast by each operator that reads it, for
/// itself. Source: pytorch/pytorch v1.13 aten/src/ATen/autocast_mode.cpp (lists of operators; the cache holds leaves alone).
///
/// Ignores the order in which an autograd engine with several threads might run, and Python references beyond the last
/// reader. Weights, optimiser state and batch are not part of the trace.
[[nodiscard]] AllocationTrace eager_trace(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                                          const EagerOptions& options);

}  // namespace tbdsim
