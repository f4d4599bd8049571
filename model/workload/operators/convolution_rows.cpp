// Convolutions, forward and transposed.
#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

InferredShape convolution_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<ConvolutionAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  if (a.out_channels < 1) return refuse_shape("out_channels must be at least 1, got {}", a.out_channels);
  if (a.kernel_h < 1 || a.kernel_w < 1 || a.stride_h < 1 || a.stride_w < 1 || a.dilation < 1 || a.groups < 1)
    return refuse_shape("kernel, stride, dilation and groups must be at least 1");
  if (a.pad_h < 0 || a.pad_w < 0) return refuse_shape("padding must not be negative");
  if (x[0] % a.groups != 0 || a.out_channels % a.groups != 0)
    return refuse_shape("{} input and {} output channels do not divide into {} groups", x[0], a.out_channels, a.groups);
  const std::int64_t reach_h = a.dilation * (a.kernel_h - 1) + 1;
  const std::int64_t reach_w = a.dilation * (a.kernel_w - 1) + 1;
  const std::int64_t height = x[1] + 2 * a.pad_h;
  const std::int64_t width = x[2] + 2 * a.pad_w;
  if (reach_h > height || reach_w > width)
    return refuse_shape("kernel {}x{} is larger than the padded input {}x{}", reach_h, reach_w, height, width);
  return Shape{a.out_channels, (height - reach_h) / a.stride_h + 1, (width - reach_w) / a.stride_w + 1};
}

InferredShape transposed_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<ConvolutionAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  if (a.out_channels < 1) return refuse_shape("out_channels must be at least 1, got {}", a.out_channels);
  if (a.kernel_h < 1 || a.kernel_w < 1 || a.stride_h < 1 || a.stride_w < 1)
    return refuse_shape("kernel and stride must be at least 1");
  if (a.groups != 1 || a.dilation != 1) return refuse_shape("a transposed convolution has one group and no dilation");
  const std::int64_t height = (x[1] - 1) * a.stride_h + a.kernel_h - 2 * a.pad_h;
  const std::int64_t width = (x[2] - 1) * a.stride_w + a.kernel_w - 2 * a.pad_w;
  if (a.pad_h < 0 || a.pad_w < 0 || height < 1 || width < 1)
    return refuse_shape("padding {}x{} leaves nothing of {}", a.pad_h, a.pad_w, to_text(x));
  return Shape{a.out_channels, height, width};
}

std::vector<ParameterSpec> arrays(const ConvolutionAttributes& a, Shape weight) {
  using Role = ParameterSpec::Role;
  std::vector<ParameterSpec> specs{{Role::weight, std::move(weight), {}}};
  if (a.bias) specs.push_back({Role::bias, {a.out_channels}, {}});
  if (a.gain) specs.push_back({Role::gamma, {a.out_channels, 1, 1, 1}, {}});
  return specs;
}

std::vector<ParameterSpec> convolution_arrays(const ParameterRequest& r) {
  const auto& a = std::get<ConvolutionAttributes>(r.attributes);
  return arrays(a, {a.out_channels, r.input[0] / a.groups, a.kernel_h, a.kernel_w});
}

std::vector<ParameterSpec> transposed_arrays(const ParameterRequest& r) {
  const auto& a = std::get<ConvolutionAttributes>(r.attributes);
  return arrays(a, {r.input[0], a.out_channels, a.kernel_h, a.kernel_w});
}

std::int64_t convolution_macs(const OpGraph& graph, const Op& op) {
  const auto& a = std::get<ConvolutionAttributes>(op.attributes);
  return elements(graph.output_shape(op)) * (graph.input_shape(op)[0] / a.groups) * a.kernel_h * a.kernel_w;
}

std::int64_t transposed_macs(const OpGraph& graph, const Op& op) {
  const auto& a = std::get<ConvolutionAttributes>(op.attributes);
  return elements(graph.input_shape(op)) * graph.output_shape(op)[0] * a.kernel_h * a.kernel_w;
}

constexpr std::string_view kConvolutionNames[]{"Conv"}, kTransposedNames[]{"ConvTranspose"};

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::convolution,
        .name = "convolution",
        .takes = "image",
        .keys = "`channels`; `kernel` (1), `stride` (1), `pad` (0), each also as `_h` and `_w`; `dilation` (1), `groups` (1), "
                "`bias` (true); `gain` (false): the weights are normed, with a gain for each output channel",
        .family = OpFamily::convolution,
        .attributes = defaults<ConvolutionAttributes>,
        .shape = convolution_shape,
        .parameters = convolution_arrays,
        .macs = convolution_macs,
        .splits_backward = true,
        .saved = keep_input,
        .mirrored = false,
        .autocast = AutocastRule::narrow,
        .onnx = kConvolutionNames,
    },
    {
        .kind = OpKind::transposed_convolution,
        .name = "transposed_convolution",
        .takes = "image",
        .keys = "as `convolution`, one group, no dilation",
        .family = OpFamily::convolution,
        .attributes = defaults<ConvolutionAttributes>,
        .shape = transposed_shape,
        .parameters = transposed_arrays,
        .macs = transposed_macs,
        .splits_backward = true,
        .saved = keep_input,
        .autocast = AutocastRule::narrow,
        .onnx = kTransposedNames,
    },
};

}  // namespace

std::span<const OperatorRow> convolution_rows() { return kRows; }

}  // namespace tbdsim
