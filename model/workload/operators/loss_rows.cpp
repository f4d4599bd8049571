// Losses, the ends of a network.
#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"

namespace tbdsim {
namespace {

/// Log-softmax, whose kernels read long rows again as softmax's do, and a gradient of the picked entries that is dense; where
/// kernels are issued one by one, another one reads it (aten NLLLoss.cu, SoftMax.cu).
Passes softmax_loss_passes(const Op&, const PassFacts& facts) {
  return {1, 1, 1, facts.eager ? 3.0 : 2.0, 0, 1.0, RowKernel::softmax};
}

constexpr std::string_view kSoftmaxNames[]{"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"};

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::softmax_loss,
        .name = "softmax_loss",
        .takes = "any",
        .keys = "end of the network: over classes",
        .framework_passes = softmax_loss_passes,
        .access = ElementAccess::vectors,
        .saved = keep_output,
        .mirrored = false,
        .autocast = AutocastRule::wide,
        .placement = Placement::follows,
        .loss = true,
        .onnx = kSoftmaxNames,
    },
    {
        .kind = OpKind::element_loss,
        .name = "element_loss",
        .takes = "any",
        .keys = "end of the network: per element (squared, smooth, binary)",
        .passes = {2, 0, 2, 0},
        .access = ElementAccess::vectors,
        .reduces = true,
        .saved = keep_input,
        .autocast = AutocastRule::wide,
        .loss = true,
    },
    {
        .kind = OpKind::ctc_loss,
        .name = "ctc_loss",
        .takes = "any",
        .keys = "end of the network: over alignments of speech",
        // Forward and backward variables of the alignment, as long as the input.
        .passes = {2, 1, 2, 1},
        .reduces = true,
        // Probabilities of every alignment state, as large as the input, beside the input.
        .saved = keep_both,
        .autocast = AutocastRule::wide,
        .loss = true,
    },
};

}  // namespace

std::span<const OperatorRow> loss_rows() { return kRows; }

}  // namespace tbdsim
