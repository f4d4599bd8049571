// Operators that arrange, pick and combine elements, and those known by their bytes alone.
#include <algorithm>

#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

InferredShape no_inputs(const OpAttributes&, const ShapeInputs&) { return refuse_shape("the input is made by the graph itself"); }

InferredShape concat_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto* a = std::get_if<ConcatAttributes>(&attributes);
  Shape y = *inputs[0];
  // Images join along channels, vectors along their only dimension, sequences along features.
  std::size_t axis = y.size() == 2 ? 1 : 0;
  if (a != nullptr && a->axis >= 0) {
    if (a->axis >= static_cast<std::int64_t>(y.size()))
      return refuse_shape("axis {} is outside the {} dimensions of {}", a->axis, y.size(), to_text(y));
    axis = static_cast<std::size_t>(a->axis);
  }
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape& x = *inputs[i];
    Shape rest = x;
    if (x.size() == y.size() && !y.empty()) rest[axis] = y[axis];
    if (rest != y) return refuse_shape("shapes {} and {} differ outside the joined dimension", to_text(*inputs[0]), to_text(x));
    y[axis] += x[axis];
  }
  return y;
}

InferredShape slice_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<SliceAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (a.axis < 0 || a.axis >= static_cast<std::int64_t>(x.size()))
    return refuse_shape("axis {} is outside the {} dimensions of {}", a.axis, x.size(), to_text(x));
  const auto axis = static_cast<std::size_t>(a.axis);
  if (a.begin < 0 || a.begin >= a.end || a.end > x[axis])
    return refuse_shape("range {}..{} is empty or outside dimension {} of {}", a.begin, a.end, a.axis, to_text(x));
  Shape y = x;
  y[axis] = a.end - a.begin;
  return y;
}

/// A part is a view where kernels are issued eagerly; graphs copy it. The gradients of all parts of a split are joined; that of a
/// part by itself is copied into zeros (PyTorch torch/csrc/autograd/FunctionsManual.cpp, slice_backward).
Passes slice_passes(const Op& op, const PassFacts& facts) {
  const auto* a = std::get_if<SliceAttributes>(&op.attributes);
  Passes passes{0, facts.eager ? 0.0 : 2.0, 0, 2};
  if (facts.eager && a != nullptr && a->indexed) {
    passes.backward_inputs = 1;
    passes.backward_kernels = 2;
  }
  return passes;
}

InferredShape reshape_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto* a = std::get_if<ReshapeAttributes>(&attributes);
  const Shape& x = *inputs[0];
  if (a == nullptr || a->to.empty()) return Shape{elements(x)};
  double product = 1.0;  // as a real number first: the file may ask for more than 64 bits hold
  for (const std::int64_t extent : a->to) {
    if (extent < 1) return refuse_shape("dimensions must be at least 1, got {}", to_text(a->to));
    product *= static_cast<double>(extent);
  }
  constexpr double kMost = 0x1p62;
  if (product > kMost || elements(a->to) != elements(x))
    return refuse_shape("{} has {} elements, {} does not", to_text(x), elements(x), to_text(a->to));
  return a->to;
}

InferredShape transpose_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<TransposeAttributes>(attributes);
  const Shape& x = *inputs[0];
  std::vector<std::int64_t> sorted = a.order;
  std::sort(sorted.begin(), sorted.end());
  bool permutes = sorted.size() == x.size();
  for (std::size_t i = 0; permutes && i < sorted.size(); ++i) permutes = sorted[i] == static_cast<std::int64_t>(i);
  if (!permutes) return refuse_shape("order [{}] does not permute the dimensions of {}", fmt::join(a.order, ", "), to_text(x));
  Shape y;
  for (const std::int64_t axis : a.order) y.push_back(x[static_cast<std::size_t>(axis)]);
  return y;
}

InferredShape prepend_shape(const OpAttributes&, const ShapeInputs& inputs) {
  const Shape& x = *inputs[0];
  if (x.size() != 2) return wants_sequence(x);
  return Shape{x[0] + 1, x[1]};
}

std::vector<ParameterSpec> prepend_arrays(const ParameterRequest& r) {
  return {{ParameterSpec::Role::weight, {1, r.input.back()}, {}}};
}

InferredShape gather_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const std::int64_t rows = std::get<GatherAttributes>(attributes).rows;
  if (rows < 1) return refuse_shape("rows must be at least 1, got {}", rows);
  Shape y = *inputs[0];
  y.front() = rows;
  return y;
}

SavedByOp keep_indices(const SavingContext& c) {
  return {{}, saved_count(c.output()) / static_cast<double>(c.output().back()) * kSavedIndex, {}};
}

InferredShape repeat_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const std::int64_t times = std::get<RepeatAttributes>(attributes).times;
  if (times < 1 || times > kMostExtent) return refuse_shape("times must be 1 to {}, got {}", kMostExtent, times);
  Shape y = *inputs[0];
  y.front() *= times;
  return y;
}

InferredShape reduce_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<ReduceAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (a.axis < 0 || a.axis >= static_cast<std::int64_t>(x.size()))
    return refuse_shape("axis {} is outside the {} dimensions of {}", a.axis, x.size(), to_text(x));
  Shape y = x;
  y.erase(y.begin() + a.axis);
  return y.empty() ? Shape{1} : y;
}

InferredShape by_bytes_shape(const OpAttributes& attributes, const ShapeInputs&) {
  const Shape& to = std::get<ByBytesAttributes>(attributes).output;
  for (const std::int64_t extent : to)
    if (extent < 1) return refuse_shape("dimensions must be at least 1, got {}", to_text(to));
  if (to.empty()) return refuse_shape("the output needs at least one dimension");
  return to;
}

std::vector<ParameterSpec> by_bytes_arrays(const ParameterRequest& r) {
  std::vector<ParameterSpec> specs;
  for (const Shape& shape : std::get<ByBytesAttributes>(r.attributes).parameters)
    specs.push_back({ParameterSpec::Role::weight, shape, {}});
  return specs;
}

constexpr std::string_view kConcatNames[]{"Concat"}, kSliceNames[]{"Slice"}, kReshapeNames[]{"Reshape"},
    kIdentityNames[]{"Identity"}, kTransposeNames[]{"Transpose"}, kGatherNames[]{"Gather"},
    kReduceNames[]{"ReduceL1",  "ReduceL2",   "ReduceLogSumExp", "ReduceMax",      "ReduceMean",
                   "ReduceMin", "ReduceProd", "ReduceSum",       "ReduceSumSquare"};

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::input,
        .name = "input",
        .takes = "nothing",
        .keys = "`shape`: one more input of the network",
        .family = OpFamily::none,
        .min_inputs = 0,
        .max_inputs = 0,
        .shape = no_inputs,
        .mirrored = false,
        .autocast = AutocastRule::joined,
    },
    {
        .kind = OpKind::concat,
        .name = "concat",
        .takes = "two or more",
        .keys = "`axis` (channels of images, features of sequences)",
        .min_inputs = 2,
        .max_inputs = kManyInputs,
        .attributes = defaults<ConcatAttributes>,
        .shape = concat_shape,
        .passes = {1, 1, 1, 1},
        .access = ElementAccess::vectors,
        .gradient = GradientRule::parts,
        .mirrored = false,
        .onnx = kConcatNames,
    },
    {
        .kind = OpKind::slice,
        .name = "slice",
        .takes = "any",
        .keys =
            "`begin`, `end`; `axis` (0); `indexed` (false): not one part of a split, so its gradient fills the rest with zeros",
        .attributes = defaults<SliceAttributes>,
        .shape = slice_shape,
        .framework_passes = slice_passes,
        .access = ElementAccess::vectors,
        .view = ViewRule::pytorch,
        .placement = Placement::follows,
        .onnx = kSliceNames,
    },
    {
        .kind = OpKind::reshape,
        .name = "reshape",
        .takes = "any",
        .keys = "`to` (one dimension): dimensions with as many elements",
        .family = OpFamily::none,
        .attributes = defaults<ReshapeAttributes>,
        .shape = reshape_shape,
        .view = ViewRule::always,
        .gradient = GradientRule::passed,
        .placement = Placement::follows,
        .onnx = kReshapeNames,
    },
    {
        .kind = OpKind::identity,
        .name = "identity",
        .takes = "any",
        .family = OpFamily::none,
        .view = ViewRule::always,
        .gradient = GradientRule::passed,
        .placement = Placement::follows,
        .onnx = kIdentityNames,
    },
    {
        .kind = OpKind::transpose,
        .name = "transpose",
        .takes = "any",
        .keys = "`order`: of the dimensions, such as `[1, 0]`",
        .attributes = defaults<TransposeAttributes>,
        .shape = transpose_shape,
        .passes = {1, 1, 1, 1},
        .placement = Placement::permuted,
        .onnx = kTransposeNames,
    },
    {
        .kind = OpKind::prepend_token,
        .name = "prepend_token",
        .takes = "sequence",
        .keys = "one trainable row before it",
        .shape = prepend_shape,
        .parameters = prepend_arrays,
        .passes = {1, 1, 1, 1},
        .autocast = AutocastRule::joined,
    },
    {
        .kind = OpKind::gather,
        .name = "gather",
        .takes = "any",
        .keys = "`rows`: so many of the first dimension",
        .attributes = defaults<GatherAttributes>,
        .shape = gather_shape,
        .passes = {0, 2, 1, 1},
        .saved = keep_indices,
        .onnx = kGatherNames,
    },
    {
        .kind = OpKind::reduce,
        .name = "reduce",
        .takes = "any",
        .keys = "`axis` (0): sum or mean over it",
        .attributes = defaults<ReduceAttributes>,
        .shape = reduce_shape,
        .passes = {1, 1, 1, 1},
        .reduces = true,
        .onnx = kReduceNames,
    },
    {
        .kind = OpKind::repeat,
        .name = "repeat",
        .takes = "any",
        .keys = "`times`: copies of what lies along the first dimension",
        .attributes = defaults<RepeatAttributes>,
        .shape = repeat_shape,
        .passes = {1, 1, 1, 1},
        .placement = Placement::follows,
    },
    {
        .kind = OpKind::sequence_reverse,
        .name = "sequence_reverse",
        .takes = "sequence",
        .passes = {1, 1, 1, 1},
    },
    {
        .kind = OpKind::by_bytes,
        .name = "by_bytes",
        .takes = "one or more, any",
        .keys = "`to`: dimensions of the result; any other operator, by what it reads and writes",
        .max_inputs = kManyInputs,
        .attributes = defaults<ByBytesAttributes>,
        .shape = by_bytes_shape,
        .parameters = by_bytes_arrays,
        // Operands read and results written; backward, operands and the gradient read and the operands' gradients written.
        .passes = {1, 1, 2, 1},
        .access = ElementAccess::vectors,
        // What an unknown operator keeps is unknown: its operands, as most do.
        .saved = keep_inputs,
    },
    {
        .kind = OpKind::collective,
        .name = "collective",
        .takes = "anything",
        .family = OpFamily::none,
        .in_files = false,
        .attributes = defaults<CollectiveAttributes>,
        .gradient = GradientRule::made,
        .mirrored = false,
    },
};

}  // namespace

std::span<const OperatorRow> arranging_rows() { return kRows; }

}  // namespace tbdsim
