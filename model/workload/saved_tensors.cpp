#include "model/workload/saved_tensors.hpp"

#include <algorithm>

#include "model/workload/operators/saving.hpp"

namespace tbdsim {
namespace {

double count(const Shape& shape) { return static_cast<double>(elements(shape)); }

bool is_view(OpKind kind, SavingRules rules) {
  const bool pytorch = rules == SavingRules::autograd || rules == SavingRules::autograd_cuda;
  const ViewRule view = info(kind).view;
  return view == ViewRule::always || (view == ViewRule::pytorch && pytorch);
}

/// What backward gathers again is not kept by its readers: the gathering keeps this rank's share.
void keep_shares(const OpGraph& graph, std::vector<SavedByOp>& saved) {
  const auto gathered_again = [&](TensorId tensor) {
    const auto* moved = std::get_if<CollectiveAttributes>(&graph.op(graph.tensor(tensor).producer).attributes);
    return moved != nullptr && moved->again;
  };
  for (SavedByOp& of : saved) {
    const auto shared =
        std::stable_partition(of.tensors.begin(), of.tensors.end(), [&](TensorId t) { return !gathered_again(t); });
    for (auto tensor = shared; tensor != of.tensors.end(); ++tensor) {
      const OpId gathering = graph.tensor(*tensor).producer;
      saved[static_cast<std::size_t>(gathering.value)].tensors = {graph.op(gathering).inputs.front()};
    }
    of.tensors.erase(shared, of.tensors.end());
  }
}

}  // namespace

std::vector<SavedByOp> saved_by_ops(const OpGraph& graph, SavingRules rules, Bytes element, bool fused_attention) {
  std::vector<SavedByOp> saved(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    const OperatorRow& row = info(op.kind);
    if (row.saved == nullptr || !graph.tensor(op.output).needs_gradient) continue;
    saved[i] = row.saved({graph, op, rules, element, fused_attention});
  }
  keep_shares(graph, saved);
  return saved;
}

std::vector<TensorId> storage_of(const OpGraph& graph, SavingRules rules) {
  std::vector<TensorId> storage(graph.tensors.size());
  for (const Op& op : graph.ops) {
    const bool shares =
        is_view(op.kind, rules) || (op.inplace && rules != SavingRules::mxnet && rules != SavingRules::mxnet_later);
    storage[static_cast<std::size_t>(op.output.value)] =
        shares ? storage[static_cast<std::size_t>(op.inputs.front().value)] : op.output;
  }
  return storage;
}

SavedBytes saved_bytes(const OpGraph& graph, SavingRules rules, Bytes element, bool fused_attention) {
  const std::vector<SavedByOp> saved = saved_by_ops(graph, rules, element, fused_attention);
  const std::vector<TensorId> storage = storage_of(graph, rules);
  std::vector<bool> counted(graph.tensors.size(), false);
  SavedBytes total;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (is_loss(graph.ops[i].kind)) continue;
    total.per_sample += saved[i].extra_per_sample;
    total.fixed += saved[i].extra_fixed;
    for (const TensorId tensor : saved[i].tensors) {
      const TensorId owner = storage[static_cast<std::size_t>(tensor.value)];
      if (counted[static_cast<std::size_t>(owner.value)]) continue;
      counted[static_cast<std::size_t>(owner.value)] = true;
      total.per_sample += count(graph.tensor(owner).shape) * element;
    }
  }
  return total;
}

}  // namespace tbdsim
