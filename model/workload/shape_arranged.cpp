#include <algorithm>
#include <cassert>
#include <limits>

#include "model/workload/shape_rules.hpp"

namespace tbdsim {
namespace {

tl::unexpected<std::string> wants_sequence(const Shape& x) {
  return refuse_shape("expects a sequence (TxH), got {}", to_text(x));
}

InferredShape reshape(const OpAttributes& attributes, const Shape& x) {
  const auto* a = std::get_if<ReshapeAttributes>(&attributes);
  if (a == nullptr || a->to.empty()) return Shape{elements(x)};
  double product = 1.0;  // as a real number first: the file may ask for more than 64 bits hold
  for (const std::int64_t extent : a->to) {
    if (extent < 1) return refuse_shape("dimensions must be at least 1, got {}", to_text(a->to));
    product *= static_cast<double>(extent);
  }
  if (product > static_cast<double>(std::numeric_limits<std::int64_t>::max() / 2) || elements(a->to) != elements(x))
    return refuse_shape("{} has {} elements, {} does not", to_text(x), elements(x), to_text(a->to));
  return a->to;
}

InferredShape transpose(const TransposeAttributes& a, const Shape& x) {
  std::vector<std::int64_t> sorted = a.order;
  std::sort(sorted.begin(), sorted.end());
  bool permutes = sorted.size() == x.size();
  for (std::size_t i = 0; permutes && i < sorted.size(); ++i) permutes = sorted[i] == static_cast<std::int64_t>(i);
  if (!permutes) return refuse_shape("order [{}] does not permute the dimensions of {}", fmt::join(a.order, ", "), to_text(x));
  Shape y;
  for (const std::int64_t axis : a.order) y.push_back(x[static_cast<std::size_t>(axis)]);
  return y;
}

InferredShape concat(const OpAttributes& attributes, const std::vector<const Shape*>& inputs) {
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

InferredShape reduce(const ReduceAttributes& a, const Shape& x) {
  if (a.axis < 0 || a.axis >= static_cast<std::int64_t>(x.size()))
    return refuse_shape("axis {} is outside the {} dimensions of {}", a.axis, x.size(), to_text(x));
  Shape y = x;
  y.erase(y.begin() + a.axis);
  return y.empty() ? Shape{1} : y;
}

InferredShape learned_bias(const LearnedBiasAttributes& a, const Shape& x) {
  if (a.rows == 0) return x;
  if (x.size() != 2) return wants_sequence(x);
  if (a.rows < x[0]) return refuse_shape("a table of {} positions is too short for {}", a.rows, to_text(x));
  return x;
}

InferredShape pairwise_add(const Shape& left, const Shape& right) {
  if (left.size() != 2 || right.size() != 2 || left[1] != right[1])
    return refuse_shape("expects two sequences of equal width, got {} and {}", to_text(left), to_text(right));
  return Shape{left[0], right[0], left[1]};
}

InferredShape roi_pool(const RoiPoolAttributes& a, const Shape& x) {
  if (x.size() != 3) return wants_image(x);
  if (a.regions < 1 || a.size < 1) return refuse_shape("regions and size must be at least 1, got {} and {}", a.regions, a.size);
  return Shape{x[0], a.regions * a.size, a.size};
}

}  // namespace

InferredShape infer_arranged(OpKind kind, const OpAttributes& attributes, const std::vector<const Shape*>& inputs) {
  const Shape& x = *inputs[0];
  switch (kind) {
    case OpKind::reshape:
      return reshape(attributes, x);
    case OpKind::transpose:
      return transpose(std::get<TransposeAttributes>(attributes), x);
    case OpKind::concat:
      return concat(attributes, inputs);
    case OpKind::gather: {
      const std::int64_t rows = std::get<GatherAttributes>(attributes).rows;
      if (rows < 1) return refuse_shape("rows must be at least 1, got {}", rows);
      Shape y = x;
      y.front() = rows;
      return y;
    }
    case OpKind::reduce:
      return reduce(std::get<ReduceAttributes>(attributes), x);
    case OpKind::learned_bias:
      return learned_bias(std::get<LearnedBiasAttributes>(attributes), x);
    case OpKind::prepend_token:
      if (x.size() != 2) return wants_sequence(x);
      return Shape{x[0] + 1, x[1]};
    case OpKind::pairwise_add:
      return pairwise_add(x, *inputs[1]);
    case OpKind::upsample: {
      const std::int64_t factor = std::get<UpsampleAttributes>(attributes).factor;
      if (x.size() != 3) return wants_image(x);
      if (factor < 1) return refuse_shape("factor must be at least 1, got {}", factor);
      return Shape{x[0], x[1] * factor, x[2] * factor};
    }
    case OpKind::proposals: {
      const auto& a = std::get<ProposalAttributes>(attributes);
      if (a.kept < 1 || a.candidates < a.kept)
        return refuse_shape("expects at least 1 box kept of as many candidates or more, got {} of {}", a.kept, a.candidates);
      return Shape{a.kept, 4};
    }
    case OpKind::roi_pool:
      return roi_pool(std::get<RoiPoolAttributes>(attributes), x);
    case OpKind::by_bytes: {
      const Shape& to = std::get<ByBytesAttributes>(attributes).output;
      for (const std::int64_t extent : to)
        if (extent < 1) return refuse_shape("dimensions must be at least 1, got {}", to_text(to));
      if (to.empty()) return refuse_shape("the output needs at least one dimension");
      return to;
    }
    case OpKind::group_norm: {
      const std::int64_t groups = std::get<GroupNormAttributes>(attributes).groups;
      if (x.size() != 3) return wants_image(x);
      if (groups < 1 || x[0] % groups != 0) return refuse_shape("{} channels do not divide into {} groups", x[0], groups);
      return x;
    }
    default:
      assert(false);
      return x;
  }
}

}  // namespace tbdsim
