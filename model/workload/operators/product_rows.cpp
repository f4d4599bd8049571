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
  if (a.bag < 1 || x[0] % a.bag != 0) return refuse_shape("bags of {} tokens: {} is no multiple of {}", a.bag, x[0], a.bag);
  if (a.joint && (a.bag > 1 || !a.sparse)) return refuse_shape("joint needs sparse = true and bag = 1");
  if (a.tied && a.sparse) return refuse_shape("tied: sparse is said where the table is");
  return Shape{x[0] / a.bag, a.width};
}

std::vector<ParameterSpec> embedding_arrays(const ParameterRequest& r) {
  const auto& a = std::get<EmbeddingAttributes>(r.attributes);
  if (a.tied) return {};
  return {{ParameterSpec::Role::weight, {a.rows, a.width}, {}, a.sparse ? r.input.front() : 0}};
}

/// Rows read and written. Backward adds them into a table of gradients that was set to zero; a sparse gradient is what came from
/// the output itself, and of bags a copy for each token (aten/src/ATen/native/EmbeddingBag.cpp,
/// _embedding_bag_sparse_backward). A joint kernel turns fp32 rows into 16 bits and their gradients back: a wide pass is two
/// narrow ones (DeepLearningExamples, PyTorch/Recommendation/DLRM/dlrm/cuda_src/gather_gpu_fused.cu).
Passes embedding_passes(const Op& op, const PassFacts& facts) {
  const auto& a = std::get<EmbeddingAttributes>(op.attributes);
  const auto bag = static_cast<double>(a.bag);
  if (a.joint && facts.narrow) return {0, 3, 0, 3};
  if (a.sparse) return {0, 1 + bag, 0, a.bag > 1 ? 1 + bag : 0};
  return {0, 1 + bag, 0, 1 + 2 * bag, 1};
}

InferredShape pairs_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const std::int64_t multiple = std::get<PairProductsAttributes>(attributes).multiple;
  const Shape &rows = *inputs[0], &vector = *inputs[1];
  if (rows.size() != 2 || vector.size() != 1)
    return refuse_shape("expects a matrix and a vector, got {} and {}", to_text(rows), to_text(vector));
  if (multiple < 1) return refuse_shape("multiple must be at least 1, got {}", multiple);
  const std::int64_t joined = rows[0] * (rows[0] - 1) / 2 + vector[0];
  return Shape{(joined + multiple - 1) / multiple * multiple};
}

/// Each pair once.
std::int64_t pairs_macs(const OpGraph& graph, const Op& op) {
  const Shape& rows = graph.input_shape(op);
  return rows[0] * (rows[0] - 1) / 2 * rows[1];
}
std::int64_t pairs_backward_macs(const OpGraph& graph, const Op& op) { return 2 * pairs_macs(graph, op); }

/// Tokens, and the bag that each lies in.
SavedByOp keep_tokens(const SavingContext& c) {
  if (c.mxnet()) return keep_input(c);
  const double indices = std::get<EmbeddingAttributes>(c.op.attributes).bag > 1 ? 2.0 : 1.0;
  return {{}, indices * saved_count(c.input()) * kSavedIndex, {}};
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
        .keys =
            "`rows`, `width`; `tied` (false): the table is another layer's; `bag` (1): tokens whose rows are summed; `sparse` "
            "(false): gradient and update hold only the rows read; `joint` (false): several tables in one kernel, which casts",
        .attributes = defaults<EmbeddingAttributes>,
        .shape = embedding_shape,
        .parameters = embedding_arrays,
        .framework_passes = embedding_passes,
        .saved = keep_tokens,
        .autocast = AutocastRule::joined,
        .placement = Placement::vocabulary,
    },
    {
        .kind = OpKind::pair_products,
        .name = "pair_products",
        .takes = "a sequence and a vector",
        .keys = "`multiple` (1): zeros pad the result to a multiple of this",
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = defaults<PairProductsAttributes>,
        .shape = pairs_shape,
        .macs = pairs_macs,
        .backward_macs = pairs_backward_macs,
        .multiplies_activations = true,
        .passes = {1, 1, 2, 1},
        .saved = keep_input,
        .autocast = AutocastRule::narrow,
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
