// Products with weights and of activations, and tables whose rows are looked up.
#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

InferredShape linear_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<LinearAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 1 && x.size() != 2) return refuse_shape("expects a vector or a sequence, got {}; flatten it first", to_text(x));
  if (a.out_features < 1) return refuse_shape("out_features must be at least 1, got {}", a.out_features);
  Shape y = x;
  y.back() = a.out_features;
  return y;
}

std::vector<ParameterSpec> linear_arrays(const ParameterRequest& r) {
  using Role = ParameterSpec::Role;
  const auto& a = std::get<LinearAttributes>(r.attributes);
  std::vector<ParameterSpec> specs;
  if (!a.tied) specs.push_back({Role::weight, {a.out_features, r.input.back()}, {}});
  if (a.bias) specs.push_back({Role::bias, {a.out_features}, {}});
  return specs;
}

std::int64_t product_macs(const OpGraph& graph, const Op& op) {
  return elements(graph.output_shape(op)) * graph.input_shape(op).back();
}

InferredShape matmul_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<MatmulAttributes>(attributes);
  const Shape &left = *inputs[0], &right = *inputs[1];
  const std::size_t rank = left.size();
  const bool batched = rank == 3 && right.size() == 3 && left[0] == right[0];
  if (!(rank == 2 && right.size() == 2) && !batched)
    return refuse_shape("expects two matrices or two equal stacks of matrices, got {} and {}", to_text(left), to_text(right));
  const std::int64_t inner = a.transpose_b ? right[rank - 1] : right[rank - 2];
  if (left[rank - 1] != inner)
    return refuse_shape("inner dimensions {} and {} of {} and {} differ", left[rank - 1], inner, to_text(left), to_text(right));
  Shape y = left;
  y[rank - 1] = a.transpose_b ? right[rank - 2] : right[rank - 1];
  return y;
}

/// One product for each operand that needs a gradient.
std::int64_t matmul_backward_macs(const OpGraph& graph, const Op& op) {
  std::int64_t products = 0;
  for (const TensorId input : op.inputs) products += graph.tensor(input).needs_gradient ? 1 : 0;
  return products * product_macs(graph, op);
}

InferredShape embedding_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<EmbeddingAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 1) return refuse_shape("expects a sequence of tokens (T), got {}", to_text(x));
  if (a.rows < 1 || a.width < 1) return refuse_shape("rows and width must be at least 1, got {} and {}", a.rows, a.width);
  return Shape{x[0], a.width};
}

std::vector<ParameterSpec> embedding_arrays(const ParameterRequest& r) {
  const auto& a = std::get<EmbeddingAttributes>(r.attributes);
  if (a.tied) return {};
  return {{ParameterSpec::Role::weight, {a.rows, a.width}, {}}};
}

SavedByOp keep_tokens(const SavingContext& c) {
  if (c.mxnet()) return keep_input(c);
  return {{}, saved_count(c.input()) * kSavedIndex, {}};
}

constexpr std::string_view kLinearNames[]{"Gemm"}, kMatmulNames[]{"MatMul"};

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::linear,
        .name = "linear",
        .takes = "vector, sequence",
        .keys = "`features`; `bias` (true), `tied` (false): the weight is another layer's",
        .family = OpFamily::gemm,
        .attributes = defaults<LinearAttributes>,
        .shape = linear_shape,
        .parameters = linear_arrays,
        .macs = product_macs,
        .splits_backward = true,
        .saved = keep_input,
        .mirrored = false,
        .autocast = AutocastRule::narrow,
        .placement = Placement::product,
        .onnx = kLinearNames,
    },
    {
        .kind = OpKind::matmul,
        .name = "matmul",
        .takes = "two matrices or stacks of matrices",
        .keys = "`transpose_b` (false)",
        .family = OpFamily::gemm,
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = defaults<MatmulAttributes>,
        .shape = matmul_shape,
        .macs = product_macs,
        .backward_macs = matmul_backward_macs,
        .multiplies_activations = true,
        .saved = keep_operands,
        .autocast = AutocastRule::narrow,
        .placement = Placement::follows,
        .onnx = kMatmulNames,
    },
    {
        .kind = OpKind::embedding,
        .name = "embedding",
        .takes = "tokens",
        .keys = "`rows`, `width`; `tied` (false): the table is another layer's",
        .attributes = defaults<EmbeddingAttributes>,
        .shape = embedding_shape,
        .parameters = embedding_arrays,
        // Rows read and written; backward adds them into a table of gradients that was set to zero.
        .passes = {0, 2, 0, 3, 1},
        .saved = keep_tokens,
        .autocast = AutocastRule::joined,
        .placement = Placement::vocabulary,
    },
};

}  // namespace

SavedByOp keep_operands(const SavingContext& c) {
  constexpr Bytes kScalar{8.0};
  SavedByOp saved;
  if (c.op.inputs.size() != 2) {
    const auto* a = std::get_if<MultiplyAttributes>(&c.op.attributes);
    if (a != nullptr && a->keeps_scalar) saved.extra_fixed = kScalar;
    return saved;
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (c.graph.tensor(c.op.inputs[1 - i]).needs_gradient) saved.tensors.push_back(c.op.inputs[i]);
  return saved;
}

std::span<const OperatorRow> product_rows() { return kRows; }

}  // namespace tbdsim
