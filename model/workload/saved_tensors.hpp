#pragma once
#include <vector>

#include "model/workload/saved_by_op.hpp"

namespace tbdsim {

/// For every operator, in graph order. Operators without backward pass keep nothing. `element` is the size of one
/// element of a tensor; statistics stay fp32 (4 B), indices int64 (8 B). Without `fused_attention` an attention keeps the
/// weights of all scores.
///
/// Ignores workspaces and gradients. Recurrent layers are counted as the CPU kernels run them, step by step; cuDNN
/// keeps a reserve space of its own size.
/// Source: pytorch/pytorch v1.13 tools/autograd/derivatives.yaml; apache/mxnet 1.1.0 src/operator (backward
/// dependencies of each operator with cuDNN).
[[nodiscard]] std::vector<SavedByOp> saved_by_ops(const OpGraph& graph, SavingRules rules, Bytes element = Bytes(4.0),
                                                  bool fused_attention = false);

/// The tensor that owns each tensor's memory: itself, or the input of the views (reshape, identity; in PyTorch also
/// slice) and in-place operators that lead to it.
[[nodiscard]] std::vector<TensorId> storage_of(const OpGraph& graph, SavingRules rules);

struct SavedBytes {
  Bytes per_sample, fixed;
};

/// Bytes of distinct storages that the network keeps for its backward pass, without parameters and without what
/// the loss keeps (the convention of `autograd_saved_bytes`, measured on the network alone).
[[nodiscard]] SavedBytes saved_bytes(const OpGraph& graph, SavingRules rules, Bytes element = Bytes(4.0),
                                     bool fused_attention = false);

}  // namespace tbdsim
