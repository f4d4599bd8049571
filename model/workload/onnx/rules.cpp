#include "model/workload/onnx/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/support/quote.hpp"
#include "model/workload/operators/operator_row.hpp"

namespace tbdsim::onnx {
namespace {

/// How nodes become a kind of operator whose row names them. Kinds that are not listed take one tensor of data and arrays to
/// train, and keep its shape.
struct Importer {
  OpKind kind;
  void (*infer)(Lowering&, NodeIndex);
  void (*emit)(Lowering&, NodeIndex);
};
constexpr std::array kImporters{
    Importer{OpKind::convolution, nullptr, emit_convolution},
    Importer{OpKind::linear, infer_gemm, emit_gemm},
    Importer{OpKind::batch_norm, infer_same, emit_batch_norm},
    Importer{OpKind::activation, infer_same, emit_activation},
    Importer{OpKind::pool, nullptr, emit_pool},
    Importer{OpKind::global_average_pool, nullptr, emit_global_pool},
    Importer{OpKind::add, infer_elementwise, emit_add},
    Importer{OpKind::multiply, infer_elementwise, emit_multiply},
    Importer{OpKind::concat, infer_concat, emit_concat},
    Importer{OpKind::slice, infer_slice, emit_slice},
    Importer{OpKind::reshape, infer_reshape, emit_alias},
    Importer{OpKind::dropout, infer_same, emit_dropout},
    Importer{OpKind::local_response_norm, infer_same, emit_local_response_norm},
    Importer{OpKind::pad, infer_pad, emit_pad},
    Importer{OpKind::softmax_loss, nullptr, emit_loss},
    Importer{OpKind::lstm, nullptr, emit_recurrent},
    Importer{OpKind::gru, nullptr, emit_recurrent},
    Importer{OpKind::vanilla_rnn, nullptr, emit_recurrent},
    Importer{OpKind::softmax, infer_same, emit_softmax},
    Importer{OpKind::matmul, infer_matmul, emit_matmul},
    Importer{OpKind::identity, infer_same, emit_alias},
    Importer{OpKind::transpose, infer_transpose, emit_transpose},
    Importer{OpKind::gather, infer_gather, emit_gather},
    Importer{OpKind::reduce, infer_reduce, emit_reduce},
    Importer{OpKind::group_norm, infer_same, emit_instance_norm},
    Importer{OpKind::upsample, nullptr, emit_resize},
    Importer{OpKind::transposed_convolution, nullptr, emit_transposed_convolution},
};

/// Types that no row names: folded while the file is read, several operators or one of several, known by their bytes alone.
constexpr std::array kOthers{
    Rule{"Abs", infer_unary, emit_by_bytes},
    Rule{"And", infer_elementwise, emit_by_bytes},
    Rule{"ArgMax", infer_reduce, emit_by_bytes},
    Rule{"ArgMin", infer_reduce, emit_by_bytes},
    Rule{"Cast", infer_cast, emit_alias},
    Rule{"Ceil", infer_unary, emit_by_bytes},
    Rule{"Celu", infer_same, emit_by_bytes},
    Rule{"Clip", infer_same, emit_clip},
    Rule{"Constant", infer_constant, nullptr},
    Rule{"ConstantOfShape", infer_constant_of_shape, nullptr},
    Rule{"Cos", infer_same, emit_by_bytes},
    Rule{"CumSum", infer_same, emit_by_bytes},
    Rule{"Elu", infer_same, emit_by_bytes},
    Rule{"Equal", infer_elementwise, emit_by_bytes},
    Rule{"Erf", infer_same, emit_by_bytes},
    Rule{"Exp", infer_same, emit_by_bytes},
    Rule{"Expand", infer_expand, emit_by_bytes},
    Rule{"Flatten", infer_flatten, emit_alias},
    Rule{"Floor", infer_unary, emit_by_bytes},
    Rule{"GlobalMaxPool", nullptr, emit_global_pool},
    Rule{"Greater", infer_elementwise, emit_by_bytes},
    Rule{"GreaterOrEqual", infer_elementwise, emit_by_bytes},
    Rule{"LeakyRelu", infer_same, emit_by_bytes},
    Rule{"Less", infer_elementwise, emit_by_bytes},
    Rule{"LessOrEqual", infer_elementwise, emit_by_bytes},
    Rule{"Log", infer_same, emit_by_bytes},
    Rule{"Max", infer_elementwise, emit_by_bytes},
    Rule{"Mean", infer_elementwise, emit_by_bytes},
    Rule{"Min", infer_elementwise, emit_by_bytes},
    Rule{"Mish", infer_same, emit_by_bytes},
    Rule{"Mod", infer_elementwise, emit_by_bytes},
    Rule{"Neg", infer_unary, emit_by_bytes},
    Rule{"Not", infer_unary, emit_by_bytes},
    Rule{"Or", infer_elementwise, emit_by_bytes},
    Rule{"PRelu", infer_same, emit_by_bytes},
    Rule{"Pow", infer_elementwise, emit_by_bytes},
    Rule{"Range", infer_range, nullptr},
    Rule{"Reciprocal", infer_unary, emit_by_bytes},
    Rule{"Round", infer_unary, emit_by_bytes},
    Rule{"Selu", infer_same, emit_by_bytes},
    Rule{"Shape", infer_shape_of, nullptr},
    Rule{"Sign", infer_same, emit_by_bytes},
    Rule{"Sin", infer_same, emit_by_bytes},
    Rule{"Size", infer_shape_of, nullptr},
    Rule{"Softplus", infer_same, emit_by_bytes},
    Rule{"Softsign", infer_same, emit_by_bytes},
    Rule{"Split", infer_split, emit_split},
    Rule{"Sqrt", infer_unary, emit_by_bytes},
    Rule{"Squeeze", infer_squeeze, emit_alias},
    Rule{"ThresholdedRelu", infer_same, emit_by_bytes},
    Rule{"Tile", infer_tile, emit_by_bytes},
    Rule{"Trilu", infer_same, emit_by_bytes},
    Rule{"Unsqueeze", infer_unsqueeze, emit_alias},
    Rule{"Where", infer_elementwise, emit_by_bytes},
    Rule{"Xor", infer_elementwise, emit_by_bytes},
};

Rule rule_of(const OperatorRow& row, std::string_view type) {
  const auto importer = std::ranges::find(kImporters, row.kind, &Importer::kind);
  if (importer == kImporters.end()) return {type, infer_same, emit_row};
  return {type, importer->infer, importer->emit};
}

/// All rules, by type.
std::vector<Rule> sorted_rules() {
  std::vector<Rule> rules(kOthers.begin(), kOthers.end());
  for (const OperatorRow& row : op_kinds())
    for (const std::string_view type : row.onnx) rules.push_back(rule_of(row, type));
  std::ranges::sort(rules, {}, &Rule::type);
  return rules;
}

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
  static const std::vector<Rule> kRules = sorted_rules();
  const auto row = std::ranges::lower_bound(kRules, type, {}, &Rule::type);
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
