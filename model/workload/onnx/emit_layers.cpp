// Layers of convolutional networks and normalisations.
#include <algorithm>
#include <array>

#include "model/workload/onnx/rules.hpp"

namespace tbdsim::onnx {
namespace {

constexpr std::int64_t kMost = 1000000;

/// Kernel, strides, paddings and dilations of a window over one or two dimensions; a line is an image of height 1.
struct Window {
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1}, before{0, 0}, after{0, 0};
  [[nodiscard]] bool even() const { return before == after; }
};

/// Up to two numbers of an attribute, the last for the last dimension. False when out of range or of another rank.
bool read_pair(const Lowering& l, NodeIndex node, std::string_view name, std::size_t spatial, std::int64_t low,
               std::array<std::int64_t, 2>& pair) {
  const AttributeText* a = l.attribute(node, name);
  if (a == nullptr || a->integers.empty()) return true;
  if (a->integers.size() != spatial) return false;
  for (std::size_t i = 0; i < spatial; ++i) {
    if (a->integers[i] < low || a->integers[i] > kMost) return false;
    pair[2 - spatial + i] = a->integers[i];
  }
  return true;
}

/// The window that `auto_pad` asks for: outputs = inputs / stride, rounded up.
void pad_same(Window& w, const Shape& image, bool upper) {
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t extent = image[1 + i], reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
    const std::int64_t count = (extent + w.stride[i] - 1) / w.stride[i];
    const std::int64_t pad = std::max<std::int64_t>(0, (count - 1) * w.stride[i] + reach - extent);
    w.before[i] = upper ? pad / 2 : pad - pad / 2;
    w.after[i] = pad - w.before[i];
  }
}

std::optional<Window> read_window(const Lowering& l, NodeIndex node, std::size_t spatial, const Shape& image) {
  Window w;
  bool good = read_pair(l, node, "kernel_shape", spatial, 1, w.kernel) && read_pair(l, node, "strides", spatial, 1, w.stride) &&
              read_pair(l, node, "dilations", spatial, 1, w.dilation);
  if (const AttributeText* pads = l.attribute(node, "pads"); pads != nullptr && !pads->integers.empty()) {
    good = good && pads->integers.size() == 2 * spatial;
    for (std::size_t i = 0; good && i < spatial; ++i) {
      w.before[2 - spatial + i] = pads->integers[i];
      w.after[2 - spatial + i] = pads->integers[spatial + i];
      good = pads->integers[i] >= 0 && pads->integers[i] <= kMost && pads->integers[spatial + i] >= 0 &&
             pads->integers[spatial + i] <= kMost;
    }
  }
  if (!good) return std::nullopt;
  const AttributeText* automatic = l.attribute(node, "auto_pad");
  if (automatic != nullptr && automatic->text.substr(0, 4) == "SAME") pad_same(w, image, automatic->text == "SAME_UPPER");
  return w;
}

/// One sample as an image: a sequence of features (C,T) is one of height 1.
std::optional<Shape> as_image(const Lowering& l, ValueIndex value) {
  if (value == kAbsent || !l.dims(value)) return std::nullopt;
  const Extents& dims = *l.dims(value);
  auto shape = per_sample(dims);
  if (!shape || dims.empty() || !dims.front().batch || dims.front().value != 1.0) return std::nullopt;
  if (shape->size() == 3) return shape;
  if (shape->size() == 2) return Shape{(*shape)[0], 1, (*shape)[1]};
  if (shape->size() == 1) return Shape{(*shape)[0], 1, 1};
  return std::nullopt;
}

/// Dimensions of an image as the node's output has them.
Extents output_dims(const Shape& image, std::size_t spatial) {
  Extents dims{{1.0, true}, {static_cast<double>(image[0])}};
  for (std::size_t i = 3 - spatial; i < 3; ++i) dims.push_back({static_cast<double>(image[i])});
  return dims;
}

std::size_t spatial_rank(const Lowering& l, ValueIndex value) { return l.dims(value)->size() - 2; }

/// Unequal paddings are a copy before the window.
TensorId padded(Lowering& l, NodeIndex node, TensorId x, Window& w) {
  if (w.even()) return x;
  const PadAttributes sides{w.before[0], w.after[0], w.before[1], w.after[1]};
  w.before = w.after = {0, 0};
  return l.emit(node, OpKind::pad, {x}, sides);
}

void finish_image(Lowering& l, NodeIndex node, TensorId y, std::size_t spatial) {
  if (l.failed()) return;
  l.graph.value(l.output(node)).dims = output_dims(l.shape(y), spatial);
  l.bind(node, l.output(node), y);
}

/// Frameworks let a ReLU overwrite the image or vector that nothing else reads (torchvision does throughout); what feeds
/// a transformer stays.
bool overwrites(const Lowering& l, ValueIndex in, const Shape& x) {
  if (x.size() == 2 || !l.only_reader(in)) return false;
  const NodeIndex producer = l.graph.value(in).producer;
  return producer != kAbsent;
}

}  // namespace

void emit_convolution(Lowering& l, NodeIndex node) {
  const ValueIndex x = l.input(node, 0), weight = l.input(node, 1), bias = l.input(node, 2);
  const auto image = as_image(l, x);
  const auto w = weight != kAbsent && l.dims(weight) ? whole(*l.dims(weight)) : std::nullopt;
  if (!image || !w || l.is_data(weight) || w->size() != l.dims(x)->size())
    return l.refuse(node, "expected an input N x C x H x W or N x C x T and constant weights, got {} and {}",
                    x != kAbsent && l.dims(x) ? to_text(*l.dims(x)) : "an unknown shape",
                    weight != kAbsent && l.dims(weight) ? to_text(*l.dims(weight)) : "an unknown shape");
  const std::size_t spatial = spatial_rank(l, x);
  auto window = read_window(l, node, spatial, *image);
  const std::int64_t groups = l.integer(node, "group", 1);
  if (!window || groups < 1 || groups > kMost || (*w)[0] > kMost)
    return l.refuse(node, "kernel, strides, paddings, dilations and groups must be positive and fit the input");
  for (std::size_t i = 0; i < spatial; ++i) window->kernel[2 - spatial + i] = (*w)[2 + i];
  if ((*w)[1] * groups != (*image)[0])
    return l.refuse(node, "weights for {} channels in {} groups do not fit an input of {}", (*w)[1], groups, (*image)[0]);
  TensorId in = padded(l, node, l.reshaped(l.tensor(x), *image), *window);
  if (spatial == 2 && window->dilation[0] != window->dilation[1])
    return l.refuse(node, "dilations {} and {} differ", window->dilation[0], window->dilation[1]);
  ConvolutionAttributes a{(*w)[0],           window->kernel[0],   window->kernel[1],
                          window->stride[0], window->stride[1],   window->before[0],
                          window->before[1], window->dilation[1], groups,
                          bias != kAbsent};
  finish_image(l, node, l.emit(node, OpKind::convolution, {in}, a, {weight, bias}), spatial);
}

void emit_transposed_convolution(Lowering& l, NodeIndex node) {
  const ValueIndex x = l.input(node, 0), weight = l.input(node, 1), bias = l.input(node, 2);
  const auto image = as_image(l, x);
  const auto w = weight != kAbsent && l.dims(weight) ? whole(*l.dims(weight)) : std::nullopt;
  if (!image || !w || w->size() != l.dims(x)->size() || (*w)[0] != (*image)[0])
    return l.refuse(node, "expected an input N x C x H x W and weights C x K x R x S");
  const std::size_t spatial = spatial_rank(l, x);
  auto window = read_window(l, node, spatial, *image);
  if (!window || (*w)[1] > kMost || l.integer(node, "group", 1) != 1)
    return l.refuse(node, "transposed convolutions are modelled with one group and positive attributes");
  for (std::size_t i = 0; i < spatial; ++i) window->kernel[2 - spatial + i] = (*w)[2 + i];
  ConvolutionAttributes a{(*w)[1],
                          window->kernel[0],
                          window->kernel[1],
                          window->stride[0],
                          window->stride[1],
                          window->before[0],
                          window->before[1],
                          1,
                          1,
                          bias != kAbsent};
  const TensorId in = l.reshaped(l.tensor(x), *image);
  finish_image(l, node, l.emit(node, OpKind::transposed_convolution, {in}, a, {weight, bias}), spatial);
}

void emit_batch_norm(Lowering& l, NodeIndex node) {
  const ValueIndex x = l.input(node, 0);
  const auto image = as_image(l, x);
  if (!image) return emit_unknown(l, node);
  const TensorId y = l.emit(node, OpKind::batch_norm, {l.reshaped(l.tensor(x), *image)}, BatchNormAttributes{},
                            {l.input(node, 1), l.input(node, 2)});
  l.bind(node, l.output(node), y);
}

void emit_row(Lowering& l, NodeIndex node) {
  const auto named = [&](const OperatorRow& row) { return std::ranges::find(row.onnx, l.type(node)) != row.onnx.end(); };
  const auto row = std::ranges::find_if(op_kinds(), named);
  const ValueIndex x = l.input(node, 0);
  if (!l.dims(x) || l.integer(node, "axis", -1) != -1) return emit_unknown(l, node);
  std::vector<ValueIndex> arrays(l.graph.node(node).inputs.begin() + 1, l.graph.node(node).inputs.end());
  const OpAttributes attributes = row->attributes == nullptr ? OpAttributes{} : row->attributes();
  l.bind(node, l.output(node), l.emit(node, row->kind, {l.tensor(x)}, attributes, arrays));
}

void emit_instance_norm(Lowering& l, NodeIndex node) {
  const auto image = as_image(l, l.input(node, 0));
  if (!image) return emit_unknown(l, node);
  const TensorId x = l.reshaped(l.tensor(l.input(node, 0)), *image);
  const GroupNormAttributes each{(*image)[0]};
  l.bind(node, l.output(node), l.emit(node, OpKind::group_norm, {x}, each, {l.input(node, 1), l.input(node, 2)}));
}

void emit_local_response_norm(Lowering& l, NodeIndex node) {
  const LocalResponseNormAttributes a{l.integer(node, "size", 1)};
  l.bind(node, l.output(node), l.emit(node, OpKind::local_response_norm, {l.tensor(l.input(node, 0))}, a));
}

void emit_activation(Lowering& l, NodeIndex node) {
  constexpr std::array<std::pair<std::string_view, ActivationKind>, 6> kKinds{{{"Relu", ActivationKind::relu},
                                                                               {"Tanh", ActivationKind::tanh},
                                                                               {"Sigmoid", ActivationKind::sigmoid},
                                                                               {"Gelu", ActivationKind::gelu},
                                                                               {"HardSwish", ActivationKind::hardswish},
                                                                               {"HardSigmoid", ActivationKind::hardsigmoid}}};
  const auto row = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.first == l.type(node); });
  const ValueIndex in = l.input(node, 0);
  if (row == kKinds.end() || !l.dims(in)) return emit_unknown(l, node);
  const TensorId x = l.tensor(in);
  const bool rectifies = row->second == ActivationKind::relu || row->second == ActivationKind::hardswish;
  const bool inplace = rectifies && overwrites(l, in, l.shape(x));
  l.bind(node, l.output(node), l.emit(node, OpKind::activation, {x}, ActivationAttributes{row->second}, {}, inplace));
}

void emit_clip(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0);
  const auto bound = [&](const char* name, std::size_t i) {
    const AttributeText* a = l.attribute(node, name);
    return a != nullptr ? std::optional(a->real) : l.scalar(l.input(node, i));
  };
  if (!l.dims(in) || bound("min", 1) != 0.0 || bound("max", 2) != 6.0) return emit_by_bytes(l, node);
  const TensorId x = l.tensor(in);
  const bool inplace = overwrites(l, in, l.shape(x));
  l.bind(node, l.output(node), l.emit(node, OpKind::activation, {x}, ActivationAttributes{ActivationKind::relu6}, {}, inplace));
}

void emit_pool(Lowering& l, NodeIndex node) {
  ValueIndex in = l.input(node, 0);
  const auto pending = l.pending_pad(in);
  // A pool that pads itself reads what the Pad node read.
  if (pending.first + pending.second > 0) in = l.input(l.graph.value(in).producer, 0);
  const auto image = as_image(l, in);
  if (!image) return emit_unknown(l, node);
  const std::size_t spatial = spatial_rank(l, in);
  auto window = read_window(l, node, spatial, *image);
  if (!window) return l.refuse(node, "kernel, strides and paddings must be positive and fit the input");
  window->before[0] += pending.first, window->before[1] += pending.second;
  window->after[0] += pending.first, window->after[1] += pending.second;
  const TensorId x = padded(l, node, l.reshaped(l.tensor(in), *image), *window);
  const PoolKind kind = l.type(node) == "MaxPool" ? PoolKind::max : PoolKind::average;
  const PoolAttributes a{kind,
                         window->kernel[0],
                         window->kernel[1],
                         window->stride[0],
                         window->stride[1],
                         window->before[0],
                         window->before[1],
                         l.integer(node, "ceil_mode", 0) != 0};
  finish_image(l, node, l.emit(node, OpKind::pool, {x}, a), spatial);
}

void emit_global_pool(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0);
  const auto image = as_image(l, in);
  if (!image) return emit_unknown(l, node);
  const std::size_t spatial = spatial_rank(l, in);
  const TensorId x = l.reshaped(l.tensor(in), *image);
  if (l.type(node) == "GlobalAveragePool") return finish_image(l, node, l.emit(node, OpKind::global_average_pool, {x}), spatial);
  const PoolAttributes all{PoolKind::max, (*image)[1], (*image)[2], (*image)[1], (*image)[2], 0, 0, false};
  finish_image(l, node, l.emit(node, OpKind::pool, {x}, all), spatial);
}

void emit_dropout(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0);
  const AttributeText* old = l.attribute(node, "ratio");
  const double ratio = old != nullptr ? old->real : l.scalar(l.input(node, 1)).value_or(0.5);
  const bool training = !l.has_input(node, 2) || l.scalar(l.input(node, 2)).value_or(1.0) != 0.0;
  if (!l.dims(in) || ratio == 0.0 || !training) return emit_alias(l, node);
  l.bind(node, l.output(node), l.emit(node, OpKind::dropout, {l.tensor(in)}, DropoutAttributes{ratio}));
}

void emit_softmax(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0);
  if (!l.dims(in)) return emit_unknown(l, node);
  l.bind(node, l.output(node), l.emit(node, OpKind::softmax, {l.tensor(in)}));
}

void emit_loss(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0);
  const bool classes = l.type(node) == "SoftmaxCrossEntropyLoss" || l.type(node) == "NegativeLogLikelihoodLoss";
  if (in != kAbsent && l.is_data(in)) (void)l.emit(node, classes ? OpKind::softmax_loss : OpKind::element_loss, {l.tensor(in)});
}

}  // namespace tbdsim::onnx
