// Matrix products: with weights a linear layer, between data a product of (stacks of) matrices.
#include <algorithm>

#include "model/workload/onnx/rules.hpp"

namespace tbdsim::onnx {
namespace {

/// The array that the only reader of a product adds along its last dimension: the layer's bias.
struct Bias {
  ValueIndex array = kAbsent, sum = kAbsent;
};

Bias bias_after(const Lowering& l, ValueIndex product, std::int64_t features) {
  const auto reader = l.only_reader(product);
  if (!reader || l.type(*reader) != "Add") return {};
  const ValueIndex a = l.input(*reader, 0), b = l.input(*reader, 1);
  const ValueIndex other = a == product ? b : a;
  if (!l.is(other, Origin::parameter) || !l.dims(other)) return {};
  const auto shape = whole(*l.dims(other));
  if (!shape || *shape != Shape{features}) return {};
  return {other, l.output(*reader)};
}

/// A linear layer on the last dimension of `x`, whatever stands before it.
TensorId linear(Lowering& l, NodeIndex node, TensorId x, std::int64_t features, ValueIndex weight, ValueIndex bias) {
  Shape from = l.shape(x);
  const std::int64_t inner = from.back();
  if (from.size() > 2) x = l.reshaped(x, Shape{elements(from) / inner, inner});
  LinearAttributes a{features, bias != kAbsent, l.is_taken(weight)};
  // A weight that another layer owns stays its; the bias may be this one's.
  TensorId y = a.tied ? l.emit(node, OpKind::linear, {x}, a, {bias}) : l.emit(node, OpKind::linear, {x}, a, {weight, bias});
  if (l.failed() || from.size() <= 2) return y;
  from.back() = features;
  return l.reshaped(y, from);
}

/// Weights from the left: every column of `x` through the same layer, which is a convolution of one pixel.
void emit_columns(Lowering& l, NodeIndex node, ValueIndex weight, ValueIndex x) {
  const auto w = whole(*l.dims(weight));
  const auto shape = per_sample(*l.dims(x));
  if (!w || w->size() != 2 || !shape || shape->size() != 2 || (*shape)[0] != (*w)[1]) return emit_unknown(l, node);
  const TensorId image = l.reshaped(l.tensor(x), Shape{(*shape)[0], 1, (*shape)[1]});
  ConvolutionAttributes a;
  a.out_channels = (*w)[0];
  l.bind(node, l.output(node), l.emit(node, OpKind::convolution, {image}, a, {weight}));
}

void emit_weighted(Lowering& l, NodeIndex node, ValueIndex x, ValueIndex weight) {
  const ValueIndex out = l.output(node);
  const auto w = whole(*l.dims(weight));
  const auto shape = per_sample(*l.dims(x));
  if (!w || !shape)
    return l.refuse(node, "cannot multiply {} by {}: too large to simulate, or not known", to_text(*l.dims(x)),
                    to_text(*l.dims(weight)));
  if (w->size() != 2) return emit_unknown(l, node);
  if (l.dims(x)->back().batch) return l.refuse(node, "multiplies along the batch, which cannot be predicted");
  if (shape->back() != (*w)[0])
    return l.refuse(node, "inner dimensions of {} and {} differ", to_text(*l.dims(x)), to_text(*l.dims(weight)));
  const Bias bias = bias_after(l, out, (*w)[1]);
  const TensorId y = linear(l, node, l.tensor(x), (*w)[1], weight, bias.array);
  l.bind(node, out, y);
  if (bias.sum == kAbsent) return;
  l.set_dims(bias.sum, *l.dims(out));
  l.bind(node, bias.sum, y);
}

/// Rows of a matrix, or of every matrix of a stack.
Shape stacked(const Shape& shape) {
  if (shape.size() <= 3) return shape;
  const std::int64_t inner = shape[shape.size() - 2] * shape.back();
  return {elements(shape) / inner, shape[shape.size() - 2], shape.back()};
}

void emit_data_product(Lowering& l, NodeIndex node, ValueIndex a, ValueIndex b) {
  const ValueIndex out = l.output(node);
  const auto result = l.dims(out) ? per_sample(*l.dims(out)) : std::nullopt;
  if (!result)
    return l.refuse(node, "cannot tell the dimensions of the product of {} and {}", to_text(*l.dims(a)), to_text(*l.dims(b)));
  Shape left = stacked(l.shape(l.tensor(a))), right = stacked(l.shape(l.tensor(b)));
  if (left.size() < 2 || right.size() < 2) return emit_unknown(l, node);
  // One matrix on the right serves every one on the left.
  const bool one = right.size() == 2 || right[0] == 1;
  if (left.size() == 3 && one) {
    left = {left[0] * left[1], left[2]};
    right = {right[right.size() - 2], right.back()};
  }
  const TensorId x = l.reshaped(l.tensor(a), left), y = l.reshaped(l.tensor(b), right);
  l.bind(node, out, l.emit(node, OpKind::matmul, {x, y}, MatmulAttributes{l.is_swapped(b)}));
}

}  // namespace

void emit_matmul(Lowering& l, NodeIndex node) {
  const ValueIndex a = l.input(node, 0), b = l.input(node, 1);
  if (a == kAbsent || b == kAbsent || !l.dims(a) || !l.dims(b)) return emit_unknown(l, node);
  if (l.is_data(a) && l.is_data(b)) return emit_data_product(l, node, a, b);
  if (l.is_data(a)) return emit_weighted(l, node, a, b);
  emit_columns(l, node, a, b);
}

void emit_gemm(Lowering& l, NodeIndex node) {
  const ValueIndex a = l.input(node, 0), b = l.input(node, 1), c = l.input(node, 2), out = l.output(node);
  if (a == kAbsent || b == kAbsent || !l.dims(a) || !l.dims(b) || !l.dims(out) || !per_sample(*l.dims(out)) ||
      l.dims(a)->empty() || l.dims(out)->size() != 2)
    return emit_unknown(l, node);
  if (!l.is_data(a) || l.integer(node, "transA", 0) != 0) return emit_unknown(l, node);
  if (l.is_data(b)) {
    const auto right = per_sample(*l.dims(b));
    if (!right) return l.refuse(node, "cannot tell the dimensions of {}", to_text(*l.dims(b)));
    const MatmulAttributes product{l.integer(node, "transB", 0) != 0};
    return l.bind(node, out, l.emit(node, OpKind::matmul, {l.tensor(a), l.tensor(b)}, product));
  }
  const auto features = (*l.dims(out))[1];
  if (l.dims(a)->back().batch || features.batch) return l.refuse(node, "multiplies along the batch, which cannot be predicted");
  const auto w = whole(*l.dims(b));
  const std::size_t inner = l.integer(node, "transB", 0) != 0 ? 1 : 0;
  if (!w || w->size() != 2 || l.shape(l.tensor(a)).back() != (*w)[inner])
    return l.refuse(node, "inner dimensions of {} and {} differ", to_text(*l.dims(a)), to_text(*l.dims(b)));
  const ValueIndex bias = l.is(c, Origin::parameter) ? c : kAbsent;
  l.bind(node, out, linear(l, node, l.tensor(a), static_cast<std::int64_t>(features.value), b, bias));
}

}  // namespace tbdsim::onnx
