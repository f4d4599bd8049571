// Operators that treat every element alike, softmax, and arrays added to all positions.
#include <cmath>

#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

/// hardswish, hardsigmoid, SiLU and GELU differentiate at their input; in place, PyTorch keeps a copy of it. TensorFlow composes
/// GELU as x (1 + erf(x / sqrt 2)) / 2: the scaled input and the factor beside x. MXNet's keep input and output.
SavedByOp keep_activation(const SavingContext& c) {
  const ActivationKind kind = std::get<ActivationAttributes>(c.op.attributes).kind;
  if (c.mxnet()) return c.rules == SavingRules::mxnet_later && kind == ActivationKind::relu ? keep_output(c) : keep_both(c);
  if (c.rules == SavingRules::tensorflow && kind == ActivationKind::gelu)
    return {{c.first()}, 2.0 * saved_count(c.input()) * c.element, {}};
  const bool from_output = kind == ActivationKind::relu || kind == ActivationKind::tanh || kind == ActivationKind::sigmoid ||
                           (kind == ActivationKind::relu6 && c.op.inplace);
  if (from_output) return keep_output(c);
  if (c.op.inplace) return {{}, saved_count(c.input()) * c.element, {}};
  return keep_input(c);
}

InferredShape equal_shapes(const OpAttributes&, const ShapeInputs& inputs) {
  for (const Shape* other : inputs)
    if (*other != *inputs[0]) return refuse_shape("shapes {} and {} differ", to_text(*inputs[0]), to_text(*other));
  return *inputs[0];
}

/// Squeeze-and-excitation scales each channel: CxHxW times Cx1x1.
InferredShape multiply_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const Shape& x = *inputs[0];
  if (inputs.size() == 2 && x.size() == 3 && *inputs[1] == Shape{x[0], 1, 1}) return x;
  return equal_shapes(attributes, inputs);
}

/// By a factor for each channel, eagerly: the gradient times the factor, and a product of all elements that a third kernel sums.
/// Source: PyTorch tools/autograd/derivatives.yaml, mul; sum_to_size.
Passes scaled_channels_passes() {
  Passes passes{1, 1, 1, 5};
  passes.backward_kernels = 3;
  return passes;
}

/// By a constant: only the gradient comes back. By another tensor: both operands and both gradients.
Passes multiply_passes(const Op& op, const PassFacts& facts) {
  if (op.inputs.size() == 1) return {1, 1, 0, 2};
  return facts.eager && facts.broadcasts ? scaled_channels_passes() : Passes{1, 1, 2, 2};
}

/// Elsewhere the gradient and the input are read, the input's gradient written, and the products of both summed.
Passes learned_scale_passes(const Op&, const PassFacts& facts) {
  return facts.eager ? scaled_channels_passes() : Passes{1, 1, 2, 1};
}

InferredShape dropout_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const double p = std::get<DropoutAttributes>(attributes).probability;
  if (!(p >= 0.0 && p < 1.0)) return refuse_shape("probability must be at least 0 and below 1, got {}", p);
  return *inputs[0];
}

/// A part of a pass is a mask of bytes, counted against numbers of 32 bits.
/// One kernel, or an activation and a product: three numbers read and two written forward; backward two products and the
/// activation's gradient.
Passes gated_passes(const Op&, const PassFacts& facts) {
  if (!facts.composes_rows) return {1, 1, 2, 1};
  Passes passes{1, 3, 3, 3};
  passes.forward_kernels = 2;
  passes.backward_kernels = 3;
  return passes;
}

Passes dropout_passes(const Op&, const PassFacts& facts) {
  constexpr Bytes kSingle(4.0);
  const double forward = std::floor(facts.dropout_forward), backward = std::floor(facts.dropout_backward);
  Passes passes{1, forward - 1, 1, backward - 1};
  passes.forward_mask = (facts.dropout_forward - forward) * kSingle;
  passes.backward_mask = (facts.dropout_backward - backward) * kSingle;
  return passes;
}

SavedByOp keep_dropout(const SavingContext& c) {
  constexpr Bytes kByteMask{1.0};
  return {{}, saved_count(c.output()) * (c.rules == SavingRules::autograd_cuda ? kByteMask : c.element), {}};
}

Passes softmax_passes(const Op&, const PassFacts& facts) {
  return {1, 1, 1, facts.softmax_backward - 1, 0, 1.0, RowKernel::softmax};
}

/// A write through a view, eagerly: backward copies the gradient of the whole, that of the view, and the latter back (PyTorch
/// torch/csrc/autograd/functions/tensor.cpp, CopySlices).
Passes mask_passes(const Op& op, const PassFacts& facts) {
  const auto* a = std::get_if<MaskAttributes>(&op.attributes);
  if (a == nullptr) return {1, 1, 0, 0};
  Passes passes{1, 1, 0, a->selects ? 2.0 : 0.0};
  if (a->in_view && facts.eager) {
    passes.backward_output += 6.0;
    passes.backward_kernels = a->selects ? 4 : 3;
  }
  return passes;
}

InferredShape learned_bias_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<LearnedBiasAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (a.heads > 0) {
    if (x.size() != 3 || x[0] % a.heads != 0 || a.rows < 1)
      return refuse_shape("expects `rows` and products of {} heads, got {}", a.heads, to_text(x));
    return x;
  }
  if (a.rows == 0) return x;
  if (x.size() != 2) return wants_sequence(x);
  if (a.rows < x[0]) return refuse_shape("a table of {} positions is too short for {}", a.rows, to_text(x));
  return x;
}

std::vector<ParameterSpec> learned_bias_arrays(const ParameterRequest& r) {
  const auto& a = std::get<LearnedBiasAttributes>(r.attributes);
  if (a.tied) return {};
  if (a.heads > 0) return {{ParameterSpec::Role::weight, {a.rows, a.heads}, {}}};
  return {{ParameterSpec::Role::bias, a.rows == 0 ? Shape{r.input.back()} : Shape{a.rows, r.input.back()}, {}}};
}

/// Channels lie first in images, last elsewhere.
std::vector<ParameterSpec> learned_scale_arrays(const ParameterRequest& r) {
  return {{ParameterSpec::Role::gamma, {r.input.size() == 3 ? r.input.front() : r.input.back()}, {}}};
}

InferredShape pairwise_shape(const OpAttributes&, const ShapeInputs& inputs) {
  const Shape &left = *inputs[0], &right = *inputs[1];
  if (left.size() != 2 || right.size() != 2 || left[1] != right[1])
    return refuse_shape("expects two sequences of equal width, got {} and {}", to_text(left), to_text(right));
  return Shape{left[0], right[0], left[1]};
}

constexpr std::string_view kActivationNames[]{"Gelu", "HardSigmoid", "HardSwish", "Relu", "Sigmoid", "Tanh"},
    kAddNames[]{"Add", "Sub", "Sum"}, kMultiplyNames[]{"Div", "Mul"}, kDropoutNames[]{"Dropout"},
    kSoftmaxNames[]{"LogSoftmax", "Softmax"};

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::activation,
        .name = "activation",
        .takes = "any",
        .keys = "`kind` (`relu`; `relu6 tanh sigmoid gelu hardswish hardsigmoid silu power`), `inplace` (false)",
        .may_overwrite = true,
        .attributes = defaults<ActivationAttributes>,
        .passes = {1, 1, 1, 2},
        .access = ElementAccess::vectors,
        .saved = keep_activation,
        .placement = Placement::follows,
        .onnx = kActivationNames,
    },
    // Backward: both inputs and the gradient read, gradients of both written.
    {
        .kind = OpKind::gated,
        .name = "gated",
        .takes = "two, equal: a gate and what it scales",
        .keys = "`kind` (`relu`; as `activation`) of the gate: `silu` makes SwiGLU, `gelu` GeGLU",
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = defaults<ActivationAttributes>,
        .shape = equal_shapes,
        .framework_passes = gated_passes,
        .access = ElementAccess::vectors,
        .saved = keep_inputs,
        .placement = Placement::follows,
    },
    {
        .kind = OpKind::add,
        .name = "add",
        .takes = "two or more, equal",
        .keys = "`inplace` (false): overwrites the first",
        .min_inputs = 2,
        .max_inputs = kManyInputs,
        .may_overwrite = true,
        .shape = equal_shapes,
        .passes = {1, 1, 0, 0},
        .access = ElementAccess::vectors,
        .gradient = GradientRule::passed,
        .placement = Placement::sum,
        .onnx = kAddNames,
    },
    {
        .kind = OpKind::multiply,
        .name = "multiply",
        .takes = "one (by a constant), two equal, or an image and `Cx1x1`",
        .keys = "`inplace` (false); `keeps_scalar` (false): the constant is an array on the device; `per_channel` (false): a "
                "constant for each "
                "channel, in fp32 under amp",
        .max_inputs = 2,
        .may_overwrite = true,
        .attributes = defaults<MultiplyAttributes>,
        .shape = multiply_shape,
        .framework_passes = multiply_passes,
        .access = ElementAccess::vectors,
        .saved = keep_operands,
        .placement = Placement::follows,
        .onnx = kMultiplyNames,
    },
    {
        .kind = OpKind::dropout,
        .name = "dropout",
        .takes = "any",
        .keys = "`probability` (0.5)",
        .attributes = defaults<DropoutAttributes>,
        .shape = dropout_shape,
        .framework_passes = dropout_passes,
        .access = ElementAccess::vectors,
        .saved = keep_dropout,
        .mirrored = false,
        .placement = Placement::follows,
        .onnx = kDropoutNames,
    },
    {
        .kind = OpKind::softmax,
        .name = "softmax",
        .takes = "any",
        .framework_passes = softmax_passes,
        .access = ElementAccess::vectors,
        .saved = keep_output,
        .autocast = AutocastRule::wide,
        .placement = Placement::follows,
        .onnx = kSoftmaxNames,
    },
    {
        .kind = OpKind::mask,
        .name = "mask",
        .takes = "any",
        .keys = "adds a constant: a causal or padding mask, fixed positions; `selects` (false): replaces values, so its gradient "
                "is a kernel; `in_view` (false): written in place through a view, whose gradient eager PyTorch copies",
        .attributes = defaults<MaskAttributes>,
        .framework_passes = mask_passes,
        .placement = Placement::follows,
    },
    {
        .kind = OpKind::learned_bias,
        .name = "learned_bias",
        .takes = "any; a sequence with `rows`; three dimensions with `heads`",
        .keys = "`rows`: a table of positions; without it one vector; `heads`: products of so many heads get a number for each "
                "distance of two positions, of which the table has `rows`; `tied` (false)",
        .attributes = defaults<LearnedBiasAttributes>,
        .shape = learned_bias_shape,
        .parameters = learned_bias_arrays,
        // The gradient of what was broadcast is a sum over the rest.
        .passes = {1, 1, 0, 1},
        .autocast = AutocastRule::joined,
        .placement = Placement::sequence,
    },
    {
        .kind = OpKind::learned_scale,
        .name = "learned_scale",
        .takes = "any",
        .keys = "a factor for each channel of an image or feature of a sequence",
        .parameters = learned_scale_arrays,
        .framework_passes = learned_scale_passes,
        .saved = keep_input,
        .autocast = AutocastRule::joined,
        .placement = Placement::sequence,
    },
    {
        .kind = OpKind::pairwise_add,
        .name = "pairwise_add",
        .takes = "two sequences of equal width",
        .keys = "every row plus every row: `TxH` and `SxH` give `TxSxH`",
        .min_inputs = 2,
        .max_inputs = 2,
        .shape = pairwise_shape,
        .passes = {1, 1, 1, 2},
    },
};

}  // namespace

std::span<const OperatorRow> elementwise_rows() { return kRows; }

}  // namespace tbdsim
