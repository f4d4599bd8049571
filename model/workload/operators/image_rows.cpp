// Pools, paddings and other rearrangements of images.
#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"

namespace tbdsim {
namespace {

std::int64_t pooled(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t pad, bool ceil_mode) {
  const std::int64_t span = extent + 2 * pad - kernel;
  if (!ceil_mode) return span / stride + 1;
  const std::int64_t windows = (span + stride - 1) / stride + 1;
  return (windows - 1) * stride >= extent + pad ? windows - 1 : windows;
}

InferredShape pool_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<PoolAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  if (a.kernel_h < 1 || a.kernel_w < 1 || a.stride_h < 1 || a.stride_w < 1)
    return refuse_shape("kernel and stride must be at least 1");
  if (a.pad_h < 0 || a.pad_w < 0 || 2 * a.pad_h > a.kernel_h || 2 * a.pad_w > a.kernel_w)
    return refuse_shape("padding {}x{} must be between 0 and half of the kernel {}x{}", a.pad_h, a.pad_w, a.kernel_h, a.kernel_w);
  if (a.kernel_h > x[1] + 2 * a.pad_h || a.kernel_w > x[2] + 2 * a.pad_w)
    return refuse_shape("kernel {}x{} is larger than the padded input {}x{}", a.kernel_h, a.kernel_w, x[1] + 2 * a.pad_h,
                        x[2] + 2 * a.pad_w);
  return Shape{x[0], pooled(x[1], a.kernel_h, a.stride_h, a.pad_h, a.ceil_mode),
               pooled(x[2], a.kernel_w, a.stride_w, a.pad_w, a.ceil_mode)};
}

/// PyTorch's max pooling keeps where each maximum lay, later MXNet's a second array of its output's size.
SavedByOp keep_pool(const SavingContext& c) {
  const bool average = std::get<PoolAttributes>(c.op.attributes).kind == PoolKind::average;
  if (c.rules == SavingRules::mxnet_later && !average) return {{c.first(), c.op.output}, saved_count(c.output()) * c.element, {}};
  if (c.mxnet()) return keep_both(c);
  if (c.rules == SavingRules::tensorflow) return average ? SavedByOp{} : keep_both(c);
  if (average) return keep_input(c);
  return {{c.first()}, saved_count(c.output()) * kSavedIndex, {}};
}

InferredShape global_shape(const OpAttributes&, const ShapeInputs& inputs) {
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  return Shape{x[0], 1, 1};
}

SavedByOp keep_global_pool(const SavingContext& c) {
  if (c.mxnet()) return keep_both(c);
  return c.rules == SavingRules::tensorflow ? SavedByOp{} : keep_input(c);
}

InferredShape shuffle_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const std::int64_t groups = std::get<ShuffleAttributes>(attributes).groups;
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  if (groups < 1 || x[0] % groups != 0) return refuse_shape("{} channels do not divide into {} groups", x[0], groups);
  return x;
}

InferredShape pad_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<PadAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  if (a.top < 0 || a.bottom < 0 || a.left < 0 || a.right < 0) return refuse_shape("padding must not be negative");
  return Shape{x[0], x[1] + a.top + a.bottom, x[2] + a.left + a.right};
}

/// Eager PyTorch fills the result with the constant and then copies into it. Source: aten/src/ATen/native/PadNd.cpp.
Passes pad_passes(const Op&, const PassFacts& facts) {
  Passes passes{1, facts.eager ? 2.0 : 1.0, 1, 1};
  if (facts.eager) passes.forward_kernels = 2;
  return passes;
}

InferredShape upsample_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const std::int64_t factor = std::get<UpsampleAttributes>(attributes).factor;
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  if (factor < 1) return refuse_shape("factor must be at least 1, got {}", factor);
  return Shape{x[0], x[1] * factor, x[2] * factor};
}

constexpr std::string_view kPoolNames[]{"AveragePool", "MaxPool"}, kGlobalNames[]{"GlobalAveragePool"}, kPadNames[]{"Pad"},
    kUpsampleNames[]{"Resize", "Upsample"};

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::pool,
        .name = "pool",
        .takes = "image",
        .keys =
            "`kind` (`max`; `average`), `kernel` (2), `stride` (= kernel), `pad` (0), each also as `_h` and `_w`; `ceil_mode` "
            "(false)",
        .attributes = defaults<PoolAttributes>,
        .shape = pool_shape,
        .passes = {1, 1, 2, 2},
        .saved = keep_pool,
        .onnx = kPoolNames,
    },
    {
        .kind = OpKind::global_average_pool,
        .name = "global_average_pool",
        .takes = "image",
        .shape = global_shape,
        .passes = {1, 1, 1, 1},
        .reduces = true,
        .saved = keep_global_pool,
        .onnx = kGlobalNames,
    },
    {
        .kind = OpKind::channel_shuffle,
        .name = "channel_shuffle",
        .takes = "image",
        .keys = "`groups` (2)",
        .attributes = defaults<ShuffleAttributes>,
        .shape = shuffle_shape,
        .passes = {1, 1, 1, 1},
    },
    {
        .kind = OpKind::pad,
        .name = "pad",
        .takes = "image",
        .keys = "`top`, `bottom`, `left`, `right` (0)",
        .attributes = defaults<PadAttributes>,
        .shape = pad_shape,
        .framework_passes = pad_passes,
        .onnx = kPadNames,
    },
    {
        .kind = OpKind::upsample,
        .name = "upsample",
        .takes = "image",
        .keys = "`factor` (2)",
        .attributes = defaults<UpsampleAttributes>,
        .shape = upsample_shape,
        .passes = {1, 1, 1, 1},
        .onnx = kUpsampleNames,
    },
};

}  // namespace

std::span<const OperatorRow> image_rows() { return kRows; }

}  // namespace tbdsim
