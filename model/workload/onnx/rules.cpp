#include "model/workload/onnx/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/support/quote.hpp"

namespace tbdsim::onnx {
namespace {

// Sorted by type, for the search below.
constexpr std::array kRules{
    Rule{"Abs", infer_unary, emit_by_bytes},
    Rule{"Add", infer_elementwise, emit_add},
    Rule{"And", infer_elementwise, emit_by_bytes},
    Rule{"ArgMax", infer_reduce, emit_by_bytes},
    Rule{"ArgMin", infer_reduce, emit_by_bytes},
    Rule{"AveragePool", nullptr, emit_pool},
    Rule{"BatchNormalization", infer_same, emit_batch_norm},
    Rule{"Cast", infer_cast, emit_alias},
    Rule{"Ceil", infer_unary, emit_by_bytes},
    Rule{"Celu", infer_same, emit_by_bytes},
    Rule{"Clip", infer_same, emit_clip},
    Rule{"Concat", infer_concat, emit_concat},
    Rule{"Constant", infer_constant, nullptr},
    Rule{"ConstantOfShape", infer_constant_of_shape, nullptr},
    Rule{"Conv", nullptr, emit_convolution},
    Rule{"ConvTranspose", nullptr, emit_transposed_convolution},
    Rule{"Cos", infer_same, emit_by_bytes},
    Rule{"CumSum", infer_same, emit_by_bytes},
    Rule{"Div", infer_elementwise, emit_multiply},
    Rule{"Dropout", infer_same, emit_dropout},
    Rule{"Elu", infer_same, emit_by_bytes},
    Rule{"Equal", infer_elementwise, emit_by_bytes},
    Rule{"Erf", infer_same, emit_by_bytes},
    Rule{"Exp", infer_same, emit_by_bytes},
    Rule{"Expand", infer_expand, emit_by_bytes},
    Rule{"Flatten", infer_flatten, emit_alias},
    Rule{"Floor", infer_unary, emit_by_bytes},
    Rule{"GRU", nullptr, emit_recurrent},
    Rule{"Gather", infer_gather, emit_gather},
    Rule{"Gelu", infer_same, emit_activation},
    Rule{"Gemm", infer_gemm, emit_gemm},
    Rule{"GlobalAveragePool", nullptr, emit_global_pool},
    Rule{"GlobalMaxPool", nullptr, emit_global_pool},
    Rule{"Greater", infer_elementwise, emit_by_bytes},
    Rule{"GreaterOrEqual", infer_elementwise, emit_by_bytes},
    Rule{"HardSigmoid", infer_same, emit_activation},
    Rule{"HardSwish", infer_same, emit_activation},
    Rule{"Identity", infer_same, emit_alias},
    Rule{"InstanceNormalization", infer_same, emit_instance_norm},
    Rule{"LRN", infer_same, emit_local_response_norm},
    Rule{"LSTM", nullptr, emit_recurrent},
    Rule{"LayerNormalization", infer_same, emit_layer_norm},
    Rule{"LeakyRelu", infer_same, emit_by_bytes},
    Rule{"Less", infer_elementwise, emit_by_bytes},
    Rule{"LessOrEqual", infer_elementwise, emit_by_bytes},
    Rule{"Log", infer_same, emit_by_bytes},
    Rule{"LogSoftmax", infer_same, emit_softmax},
    Rule{"MatMul", infer_matmul, emit_matmul},
    Rule{"Max", infer_elementwise, emit_by_bytes},
    Rule{"MaxPool", nullptr, emit_pool},
    Rule{"Mean", infer_elementwise, emit_by_bytes},
    Rule{"Min", infer_elementwise, emit_by_bytes},
    Rule{"Mish", infer_same, emit_by_bytes},
    Rule{"Mod", infer_elementwise, emit_by_bytes},
    Rule{"Mul", infer_elementwise, emit_multiply},
    Rule{"Neg", infer_unary, emit_by_bytes},
    Rule{"NegativeLogLikelihoodLoss", nullptr, emit_loss},
    Rule{"Not", infer_unary, emit_by_bytes},
    Rule{"Or", infer_elementwise, emit_by_bytes},
    Rule{"PRelu", infer_same, emit_by_bytes},
    Rule{"Pad", infer_pad, emit_pad},
    Rule{"Pow", infer_elementwise, emit_by_bytes},
    Rule{"RNN", nullptr, emit_recurrent},
    Rule{"Range", infer_range, nullptr},
    Rule{"Reciprocal", infer_unary, emit_by_bytes},
    Rule{"ReduceL1", infer_reduce, emit_reduce},
    Rule{"ReduceL2", infer_reduce, emit_reduce},
    Rule{"ReduceLogSumExp", infer_reduce, emit_reduce},
    Rule{"ReduceMax", infer_reduce, emit_reduce},
    Rule{"ReduceMean", infer_reduce, emit_reduce},
    Rule{"ReduceMin", infer_reduce, emit_reduce},
    Rule{"ReduceProd", infer_reduce, emit_reduce},
    Rule{"ReduceSum", infer_reduce, emit_reduce},
    Rule{"ReduceSumSquare", infer_reduce, emit_reduce},
    Rule{"Relu", infer_same, emit_activation},
    Rule{"Reshape", infer_reshape, emit_alias},
    Rule{"Resize", nullptr, emit_resize},
    Rule{"Round", infer_unary, emit_by_bytes},
    Rule{"Selu", infer_same, emit_by_bytes},
    Rule{"Shape", infer_shape_of, nullptr},
    Rule{"Sigmoid", infer_same, emit_activation},
    Rule{"Sign", infer_same, emit_by_bytes},
    Rule{"Sin", infer_same, emit_by_bytes},
    Rule{"Size", infer_shape_of, nullptr},
    Rule{"Slice", infer_slice, emit_slice},
    Rule{"Softmax", infer_same, emit_softmax},
    Rule{"SoftmaxCrossEntropyLoss", nullptr, emit_loss},
    Rule{"Softplus", infer_same, emit_by_bytes},
    Rule{"Softsign", infer_same, emit_by_bytes},
    Rule{"Split", infer_split, emit_split},
    Rule{"Sqrt", infer_unary, emit_by_bytes},
    Rule{"Squeeze", infer_squeeze, emit_alias},
    Rule{"Sub", infer_elementwise, emit_add},
    Rule{"Sum", infer_elementwise, emit_add},
    Rule{"Tanh", infer_same, emit_activation},
    Rule{"ThresholdedRelu", infer_same, emit_by_bytes},
    Rule{"Tile", infer_tile, emit_by_bytes},
    Rule{"Transpose", infer_transpose, emit_transpose},
    Rule{"Trilu", infer_same, emit_by_bytes},
    Rule{"Unsqueeze", infer_unsqueeze, emit_alias},
    Rule{"Upsample", nullptr, emit_resize},
    Rule{"Where", infer_elementwise, emit_by_bytes},
    Rule{"Xor", infer_elementwise, emit_by_bytes},
};

constexpr bool in_order() {
  for (std::size_t i = 1; i < kRules.size(); ++i)
    if (!(kRules[i - 1].type < kRules[i].type)) return false;
  return true;
}
static_assert(in_order(), "find_rule searches by halves");

struct TypedAttribute {
  std::string_view name;
  AttributeType type;
};
/// Attributes that the rules read, with the one type that every operator gives them.
constexpr std::array kTyped{
    TypedAttribute{"allowzero", kOneInteger},   TypedAttribute{"alpha", kOneReal},
    TypedAttribute{"axes", kIntegers},          TypedAttribute{"axis", kOneInteger},
    TypedAttribute{"beta", kOneReal},           TypedAttribute{"ceil_mode", kOneInteger},
    TypedAttribute{"dilations", kIntegers},     TypedAttribute{"group", kOneInteger},
    TypedAttribute{"hidden_size", kOneInteger}, TypedAttribute{"keepdims", kOneInteger},
    TypedAttribute{"kernel_shape", kIntegers},  TypedAttribute{"output_padding", kIntegers},
    TypedAttribute{"pads", kIntegers},          TypedAttribute{"perm", kIntegers},
    TypedAttribute{"size", kOneInteger},        TypedAttribute{"strides", kIntegers},
    TypedAttribute{"transA", kOneInteger},      TypedAttribute{"transB", kOneInteger},
};

std::string_view expected(AttributeType type) {
  return type == kIntegers ? "whole numbers" : type == kOneInteger ? "a whole number" : "a number";
}

/// Whether `order` names each of its positions once.
bool is_order(const std::vector<std::int64_t>& order) {
  std::vector<bool> seen(order.size(), false);
  for (const std::int64_t axis : order) {
    const auto found = axis_of(axis, order.size());
    if (!found || seen[*found]) return false;
    seen[*found] = true;
  }
  return true;
}

/// Whether a kernel's stated extents differ from those of the weights, which are the node's second input.
bool other_kernel(const Lowering& l, NodeIndex node, const std::vector<std::int64_t>& kernel) {
  const ValueIndex weights = l.input(node, 1);
  if (weights == kAbsent || !l.dims(weights)) return false;
  const Extents& dims = *l.dims(weights);
  return dims.size() != kernel.size() + 2 ||
         !std::equal(kernel.begin(), kernel.end(), dims.begin() + 2,
                     [](std::int64_t a, const auto& b) { return static_cast<double>(a) == b.value; });
}

}  // namespace

const Rule* find_rule(std::string_view type) {
  const auto row = std::lower_bound(kRules.begin(), kRules.end(), type,
                                    [](const Rule& rule, std::string_view name) { return rule.type < name; });
  return row != kRules.end() && row->type == type ? &*row : nullptr;
}

std::string misuse(const Lowering& l, NodeIndex node) {
  const ValueIndex first = l.input(node, 0);
  // Only further ones may be left out; recurrent layers and Split may lack any output.
  if (first == kAbsent && !l.graph.node(node).inputs.empty()) return "its first input is left out";
  const std::string_view kind = l.type(node);
  const bool any_output = kind == "LSTM" || kind == "GRU" || kind == "RNN" || kind == "Split";
  if (l.output(node) == kAbsent && !any_output) return "its first output is left out";
  const Extents* dims = first != kAbsent && l.dims(first) ? &*l.dims(first) : nullptr;
  for (const AttributeText& a : l.graph.node(node).text->attributes) {
    const auto row = std::find_if(kTyped.begin(), kTyped.end(), [&](const TypedAttribute& t) { return t.name == a.name; });
    if (row != kTyped.end() && a.type != 0 && a.type != row->type)
      return fmt::format("its attribute {} is of another type, expected {}", quoted(a.name), expected(row->type));
    if (a.name == "perm" && (!is_order(a.integers) || (dims != nullptr && dims->size() != a.integers.size())))
      return fmt::format("its attribute \"perm\" is no order of the axes of {}", dims != nullptr ? to_text(*dims) : "its input");
    if (a.name == "auto_pad" && a.text != "NOTSET" && a.text != "SAME_UPPER" && a.text != "SAME_LOWER" && a.text != "VALID")
      return fmt::format("its attribute \"auto_pad\" is {}, expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", quoted(a.text));
    if (a.name == "kernel_shape" && other_kernel(l, node, a.integers))
      return fmt::format("its attribute \"kernel_shape\" is not that of its weights {}", to_text(*l.dims(l.input(node, 1))));
    // Some operators count one axis more than there are.
    const auto rank = dims != nullptr ? static_cast<std::int64_t>(dims->size()) : 0;
    if (a.name == "axis" && dims != nullptr && (a.integer > rank || a.integer < -rank - 1))
      return fmt::format("its axis {} is beyond the dimensions of {}", a.integer, to_text(*dims));
  }
  return "";
}

}  // namespace tbdsim::onnx
