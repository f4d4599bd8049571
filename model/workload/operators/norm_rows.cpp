// Normalisations by statistics of batches, rows, groups of channels and neighbouring channels.
#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

using Role = ParameterSpec::Role;

std::vector<ParameterSpec> scale_and_shift(std::int64_t features) {
  return {{Role::gamma, {features}, {}}, {Role::beta, {features}, {}}};
}

std::int64_t batch_norm_channels(const Shape& x) { return x.size() == 2 ? x[1] : x[0]; }

std::vector<ParameterSpec> batch_norm_arrays(const ParameterRequest& r) {
  const std::int64_t channels = batch_norm_channels(r.input);
  if (std::get<BatchNormAttributes>(r.attributes).scale || r.keeps_fixed_gamma) return scale_and_shift(channels);
  return {{Role::beta, {channels}, {}}};
}

SavedByOp keep_batch_norm(const SavingContext& c) {
  return {{c.first()}, {}, 2.0 * static_cast<double>(batch_norm_channels(c.input())) * kSavedStatistic};
}

Passes batch_norm_passes(const Op&, const PassFacts& facts) {
  return {facts.batch_norm_forward - 1, 1, facts.batch_norm_backward - 2, 2};
}

// Backward: x and dy read and dx written, then both read again for the gradients of scale and shift.
constexpr Passes kRowNormPasses{1, 1, 2, 3, 0, 1.0, RowKernel::layer_norm};

/// One kernel, or the chain of elementwise ones and a mean that eager PyTorch makes of it: in 16 bits the input is cast (2 bytes
/// read, 4 written), squared (8), averaged (4), scaled (8), cast back (6) and multiplied by the weights (4), 36 bytes a number,
/// and backward twice that; in fp32 there are no casts. Source: aten/src/ATen/native/layer_norm.cpp, rms_norm_symint; meta-llama
/// modelling code.
Passes rms_norm_passes(const Op&, const PassFacts& facts) {
  if (!facts.composes_rows) return kRowNormPasses;
  Passes passes = facts.narrow ? Passes{9, 9, 18, 18} : Passes{3.5, 3.5, 7, 7};
  passes.forward_kernels = 7;
  passes.backward_kernels = 11;
  return passes;
}

std::vector<ParameterSpec> layer_norm_arrays(const ParameterRequest& r) { return scale_and_shift(r.input.back()); }

/// Numbers of `per_row` statistics of each row.
Bytes row_statistics(const SavingContext& c, double per_row) {
  const Shape& x = c.input();
  return per_row * saved_count(x) / static_cast<double>(x.back()) * kSavedStatistic;
}

/// TensorFlow composes it of small operators as x a + (b - mean a): the factor a, as large as x, is kept beside x.
SavedByOp keep_layer_norm(const SavingContext& c) {
  SavedByOp kept{{c.first()}, row_statistics(c, 2.0), {}};
  if (c.rules == SavingRules::tensorflow) kept.extra_per_sample += saved_count(c.input()) * c.element;
  return kept;
}

/// Features that are scaled together.
std::int64_t rms_width(const OpAttributes& attributes, const Shape& x) {
  const auto* a = std::get_if<RmsNormAttributes>(&attributes);
  return a != nullptr && a->width > 0 ? a->width : x.back();
}

InferredShape rms_norm_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const Shape& x = *inputs[0];
  const std::int64_t width = rms_width(attributes, x);
  if (x.back() % width != 0) return refuse_shape("{} features do not divide into groups of {}", x.back(), width);
  return x;
}

std::vector<ParameterSpec> rms_norm_arrays(const ParameterRequest& r) {
  return {{Role::gamma, {rms_width(r.attributes, r.input)}, {}}};
}

/// x, and the reciprocal of each root mean square.
SavedByOp keep_rms_norm(const SavingContext& c) {
  const Shape& x = c.input();
  return {{c.first()}, saved_count(x) / static_cast<double>(rms_width(c.op.attributes, x)) * kSavedStatistic, {}};
}

InferredShape group_norm_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const std::int64_t groups = std::get<GroupNormAttributes>(attributes).groups;
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  if (groups < 1 || x[0] % groups != 0) return refuse_shape("{} channels do not divide into {} groups", x[0], groups);
  return x;
}

std::vector<ParameterSpec> group_norm_arrays(const ParameterRequest& r) { return scale_and_shift(r.input[0]); }

SavedByOp keep_group_norm(const SavingContext& c) {
  const auto groups = static_cast<double>(std::get<GroupNormAttributes>(c.op.attributes).groups);
  return {{c.first()}, 2.0 * groups * kSavedStatistic, {}};
}

InferredShape response_norm_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  const std::int64_t size = std::get<LocalResponseNormAttributes>(attributes).size;
  if (size < 1) return refuse_shape("size must be at least 1, got {}", size);
  return x;
}

/// x / (k + a * mean(x^2))^b. PyTorch, one operator each: the squares, the base of the power and the divisor.
SavedByOp keep_response_norm(const SavingContext& c) {
  if (c.mxnet()) return {{c.first(), c.op.output}, saved_count(c.output()) * c.element, {}};
  if (c.rules == SavingRules::tensorflow) return keep_both(c);
  return {{c.first()}, 3.0 * saved_count(c.output()) * c.element, {}};
}

constexpr std::string_view kBatchNames[]{"BatchNormalization"}, kLayerNames[]{"LayerNormalization"},
    kRmsNames[]{"RMSNormalization", "SimplifiedLayerNormalization"}, kGroupNames[]{"InstanceNormalization"},
    kResponseNames[]{"LRN"};

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::batch_norm,
        .name = "batch_norm",
        .takes = "any",
        .keys = "`scale` (true): has a gamma",
        .attributes = defaults<BatchNormAttributes>,
        .parameters = batch_norm_arrays,
        .framework_passes = batch_norm_passes,
        .access = ElementAccess::channels_last,
        .normalizes = true,
        .reduces = true,
        .saved = keep_batch_norm,
        .mirrored = false,
        .onnx = kBatchNames,
    },
    {
        .kind = OpKind::layer_norm,
        .name = "layer_norm",
        .takes = "any",
        .parameters = layer_norm_arrays,
        .passes = kRowNormPasses,
        .access = ElementAccess::vectors,
        .normalizes = true,
        .saved = keep_layer_norm,
        .autocast = AutocastRule::wide,
        .placement = Placement::sequence,
        .onnx = kLayerNames,
    },
    // No mean and no shift (Zhang & Sennrich, arXiv:1910.07467). The scale's gradient reads x and dy again, as layer norm's does;
    // statistics and arrays are half as many.
    {
        .kind = OpKind::rms_norm,
        .name = "rms_norm",
        .takes = "any",
        .keys = "`width` (the row): features that are scaled together, such as those of a head",
        .attributes = defaults<RmsNormAttributes>,
        .shape = rms_norm_shape,
        .parameters = rms_norm_arrays,
        .framework_passes = rms_norm_passes,
        .access = ElementAccess::vectors,
        .normalizes = true,
        .saved = keep_rms_norm,
        .autocast = AutocastRule::wide,
        .placement = Placement::sequence,
        .onnx = kRmsNames,
    },
    {
        .kind = OpKind::group_norm,
        .name = "group_norm",
        .takes = "image",
        .keys = "`groups` (1)",
        .attributes = defaults<GroupNormAttributes>,
        .shape = group_norm_shape,
        .parameters = group_norm_arrays,
        .passes = kRowNormPasses,
        .normalizes = true,
        .saved = keep_group_norm,
        .autocast = AutocastRule::wide,
        .onnx = kGroupNames,
    },
    {
        .kind = OpKind::local_response_norm,
        .name = "local_response_norm",
        .takes = "image",
        .keys = "`size` (5)",
        .attributes = defaults<LocalResponseNormAttributes>,
        .shape = response_norm_shape,
        .passes = {1, 2, 2, 3},
        .saved = keep_response_norm,
        .onnx = kResponseNames,
    },
};

}  // namespace

std::span<const OperatorRow> norm_rows() { return kRows; }

}  // namespace tbdsim
