#include "model/workload/op.hpp"

#include <array>
#include <cassert>

namespace tbdsim {
namespace {

// Upper bound of operators that take any number of inputs; DenseNet's widest concatenation has 49.
constexpr int kMany = 1 << 16;

constexpr std::array kOpKinds = {
    OpKindInfo{OpKind::input, "input", OpFamily::none, false, false, 0, 0},
    OpKindInfo{OpKind::convolution, "convolution", OpFamily::convolution, true, true, 1, 1},
    OpKindInfo{OpKind::linear, "linear", OpFamily::gemm, true, true, 1, 1},
    OpKindInfo{OpKind::batch_norm, "batch_norm", OpFamily::memory_bound, true, true, 1, 1},
    OpKindInfo{OpKind::activation, "activation", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::pool, "pool", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::global_average_pool, "global_average_pool", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::add, "add", OpFamily::memory_bound, false, true, 2, kMany},
    OpKindInfo{OpKind::multiply, "multiply", OpFamily::memory_bound, false, true, 1, 2},
    OpKindInfo{OpKind::concat, "concat", OpFamily::memory_bound, false, true, 2, kMany},
    OpKindInfo{OpKind::slice, "slice", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::reshape, "reshape", OpFamily::none, false, false, 1, 1},
    OpKindInfo{OpKind::dropout, "dropout", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::local_response_norm, "local_response_norm", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::channel_shuffle, "channel_shuffle", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::pad, "pad", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::softmax_loss, "softmax_loss", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::embedding, "embedding", OpFamily::memory_bound, true, true, 1, 1},
    OpKindInfo{OpKind::lstm, "lstm", OpFamily::recurrent, true, true, 1, 1},
    OpKindInfo{OpKind::gru, "gru", OpFamily::recurrent, true, true, 1, 1},
    OpKindInfo{OpKind::vanilla_rnn, "vanilla_rnn", OpFamily::recurrent, true, true, 1, 1},
    OpKindInfo{OpKind::layer_norm, "layer_norm", OpFamily::memory_bound, true, true, 1, 1},
    OpKindInfo{OpKind::softmax, "softmax", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::matmul, "matmul", OpFamily::gemm, false, true, 2, 2},
    OpKindInfo{OpKind::identity, "identity", OpFamily::none, false, false, 1, 1},
    OpKindInfo{OpKind::transpose, "transpose", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::mask, "mask", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::learned_bias, "learned_bias", OpFamily::memory_bound, true, true, 1, 1},
    OpKindInfo{OpKind::prepend_token, "prepend_token", OpFamily::memory_bound, true, true, 1, 1},
    OpKindInfo{OpKind::gather, "gather", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::reduce, "reduce", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::group_norm, "group_norm", OpFamily::memory_bound, true, true, 1, 1},
    OpKindInfo{OpKind::pairwise_add, "pairwise_add", OpFamily::memory_bound, false, true, 2, 2},
    OpKindInfo{OpKind::upsample, "upsample", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::transposed_convolution, "transposed_convolution", OpFamily::convolution, true, true, 1, 1},
    OpKindInfo{OpKind::proposals, "proposals", OpFamily::memory_bound, false, true, 1, 2},
    OpKindInfo{OpKind::roi_pool, "roi_pool", OpFamily::memory_bound, false, true, 1, 2},
    OpKindInfo{OpKind::element_loss, "element_loss", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::ctc_loss, "ctc_loss", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::attention, "attention", OpFamily::attention, false, true, 3, 3},
    OpKindInfo{OpKind::sequence_reverse, "sequence_reverse", OpFamily::memory_bound, false, true, 1, 1},
    OpKindInfo{OpKind::by_bytes, "by_bytes", OpFamily::memory_bound, true, true, 1, kMany},
};
static_assert(kOpKinds.size() == kOpKindCount);

}  // namespace

std::span<const OpKindInfo> op_kinds() { return kOpKinds; }

const OpKindInfo& info(OpKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  assert(index < kOpKinds.size() && kOpKinds[index].kind == kind);
  return kOpKinds[index];
}

bool is_loss(OpKind kind) { return kind == OpKind::softmax_loss || kind == OpKind::element_loss || kind == OpKind::ctc_loss; }

}  // namespace tbdsim
