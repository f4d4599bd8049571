// Dimensions of the nodes that arrange, and the elements of small constants that go through them.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/workload/onnx/fold_access.hpp"

namespace tbdsim::onnx {

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::optional<std::size_t> axis_of(double axis, std::size_t rank) {
  if (!(std::abs(axis) <= static_cast<double>(rank)) || axis != std::floor(axis)) return std::nullopt;
  return axis_of(static_cast<std::int64_t>(axis), rank);
}

void infer_constant(Lowering& l, NodeIndex node) {
  const ValueIndex out = l.output(node);
  if (out == kAbsent || l.graph.node(node).text->attributes.empty()) return;
  const AttributeText& a = l.graph.node(node).text->attributes.front();
  if (a.tensor) {
    Extents dims;
    for (const std::int64_t extent : a.tensor->dims) dims.push_back({static_cast<double>(extent)});
    l.graph.value(out).type = a.tensor->type;
    l.set_dims(out, std::move(dims));
    if (!a.tensor->values) return;
    std::vector<Number> numbers;
    for (const double value : *a.tensor->values) numbers.push_back({value});
    return l.set_numbers(out, std::move(numbers));
  }
  const bool scalar = a.name == "value_int" || a.name == "value_float";
  const bool real = a.name == "value_float" || a.name == "value_floats";
  std::vector<Number> numbers;
  if (scalar) numbers.push_back({real ? a.real : static_cast<double>(a.integer)});
  for (const std::int64_t value : a.integers) numbers.push_back({static_cast<double>(value)});
  for (const double value : a.reals) numbers.push_back({value});
  l.graph.value(out).type = real ? kFloat : kInt64;
  l.set_dims(out, scalar ? Extents{} : Extents{{static_cast<double>(numbers.size())}});
  l.set_numbers(out, std::move(numbers));
}

void infer_shape_of(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  const ValueIndex out = l.output(node);
  if (dims == nullptr || out == kAbsent) return;
  l.graph.value(out).type = kInt64;
  if (l.type(node) == "Size") {
    l.set_dims(out, {});
    return l.set_numbers(out, {product(*dims)});
  }
  const auto rank = static_cast<std::int64_t>(dims->size());
  const auto bounded = [&](std::int64_t axis) { return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  const std::int64_t start = bounded(l.integer(node, "start", 0)), end = bounded(l.integer(node, "end", rank));
  std::vector<Number> numbers;
  for (std::int64_t i = start; i < end; ++i) numbers.push_back((*dims)[static_cast<std::size_t>(i)]);
  l.set_dims(out, {{static_cast<double>(numbers.size())}});
  l.set_numbers(out, std::move(numbers));
}

void infer_same(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  if (dims != nullptr) l.set_dims(l.output(node), *dims);
  const bool passes = l.type(node) == "Identity" || l.type(node) == "Cast" || l.type(node) == "Dropout";
  if (passes) keep_elements(l, node);
}

void infer_reshape(Lowering& l, NodeIndex node) {
  const auto target = l.list(node, "shape", 1);
  const Extents* dims = dims_of(l, node, 0);
  if (!target || target->size() > 64) return;
  const bool keeps_zero = l.integer(node, "allowzero", 0) != 0;
  Extents result;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < target->size(); ++i) {
    Number n = (*target)[i];
    if (n.known && !n.batch && n.value == -1.0) {
      if (open) return;  // two unknowns: nothing can be derived
      open = i;
      n = Number{1.0};
    } else if (n.known && n.value == 0.0 && !keeps_zero) {
      n = dims != nullptr && i < dims->size() ? (*dims)[i] : kUnknownNumber;
    }
    result.push_back(n);
  }
  if (dims != nullptr) {
    const Number all = product(*dims);
    // A file for one batch size spells that size out.
    const bool lost = all.known && all.batch && !open && product(result).known && !product(result).batch;
    if (lost && l.graph.fixed_batch && !result.empty() && result.front().value == *l.graph.fixed_batch)
      result.front() = {1.0, true};
    if (open) result[*open] = quotient(all, product(result), false);
  } else if (open) {
    result[*open] = kUnknownNumber;
  }
  l.set_dims(l.output(node), std::move(result));
  keep_elements(l, node);
}

void infer_flatten(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  if (dims == nullptr) return;
  const std::int64_t given = l.integer(node, "axis", 1);
  const auto rank = static_cast<std::int64_t>(dims->size());
  const std::int64_t axis = std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank);
  const Extents before(dims->begin(), dims->begin() + axis), after(dims->begin() + axis, dims->end());
  l.set_dims(l.output(node), {product(before), product(after)});
  keep_elements(l, node);
}

void infer_squeeze(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  if (dims == nullptr) return;
  const bool all = l.attribute(node, "axes") == nullptr && !l.has_input(node, 1);
  const auto axes = axes_of(l, node, 1, dims->size());
  if (!all && !axes) return;
  Extents result;
  for (std::size_t i = 0; i < dims->size(); ++i) {
    const bool gone = all ? (*dims)[i] == Number{1.0} : std::find(axes->begin(), axes->end(), i) != axes->end();
    if (!gone) result.push_back((*dims)[i]);
  }
  l.set_dims(l.output(node), std::move(result));
  keep_elements(l, node);
}

void infer_unsqueeze(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  const auto given = l.list(node, "axes", 1);
  if (dims == nullptr || !given || given->size() > 64) return;
  const auto axes = axes_of(l, node, 1, dims->size() + given->size());
  if (!axes) return;
  Extents result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < dims->size() + given->size(); ++i) {
    const bool added = std::find(axes->begin(), axes->end(), i) != axes->end();
    if (!added && next == dims->size()) return;  // an axis named twice
    result.push_back(added ? Number{1.0} : (*dims)[next++]);
  }
  l.set_dims(l.output(node), std::move(result));
  keep_elements(l, node);
}

void infer_transpose(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  if (dims == nullptr) return;
  auto order = plain(l.list(node, "perm", 99));
  if (!order) {
    order.emplace();
    for (std::size_t i = dims->size(); i-- > 0;) order->push_back(static_cast<std::int64_t>(i));
  }
  std::vector<bool> seen(dims->size(), false);
  Extents result;
  for (const std::int64_t axis : *order) {
    const auto found = axis_of(axis, dims->size());
    if (!found || seen[*found]) return;
    seen[*found] = true;
    result.push_back((*dims)[*found]);
  }
  if (result.size() != dims->size()) return;
  l.set_dims(l.output(node), std::move(result));
  if (dims->size() <= 1) keep_elements(l, node);
}

void infer_expand(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  const std::vector<Number>* target = numbers_of(l, node, 1);
  if (dims == nullptr || target == nullptr || target->size() > 64) return;
  const bool sizes = std::all_of(target->begin(), target->end(), [](const Number& n) { return !n.known || n.value >= 0.0; });
  const Extents result = sizes ? broadcast(*dims, *target) : *target;
  l.set_dims(l.output(node), result);
  const std::vector<Number>* numbers = numbers_of(l, node, 0);
  const auto count = small_count(result);
  if (numbers == nullptr || numbers->size() != 1 || !count) return;
  l.set_numbers(l.output(node), std::vector<Number>(*count, numbers->front()));
}

void infer_tile(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  const std::vector<Number>* repeats = numbers_of(l, node, 1);
  if (dims == nullptr || repeats == nullptr || repeats->size() != dims->size()) return;
  Extents result = *dims;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = result[i] * (*repeats)[i];
  l.set_dims(l.output(node), std::move(result));
}

void infer_constant_of_shape(Lowering& l, NodeIndex node) {
  const std::vector<Number>* target = numbers_of(l, node, 0);
  if (target == nullptr || target->size() > 64) return;
  const AttributeText* a = l.attribute(node, "value");
  const bool has_value = a != nullptr && a->tensor && a->tensor->values && !a->tensor->values->empty();
  const ValueIndex out = l.output(node);
  l.set_dims(out, *target);
  if (out != kAbsent) l.graph.value(out).type = has_value ? a->tensor->type : kFloat;
  const auto count = small_count(*target);
  if (!count) return;
  const Number element{has_value ? a->tensor->values->front() : 0.0};
  l.set_numbers(out, std::vector<Number>(*count, element));
}

void infer_range(Lowering& l, NodeIndex node) {
  std::array<Number, 3> given;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::vector<Number>* numbers = numbers_of(l, node, i);
    given[i] = numbers != nullptr && numbers->size() == 1 ? numbers->front() : kUnknownNumber;
  }
  const Number steps = quotient(given[1] - given[0], given[2], false);
  const Number count = steps.known ? Number{std::max(0.0, std::ceil(steps.value)), steps.batch} : kUnknownNumber;
  const ValueIndex out = l.output(node);
  if (out == kAbsent) return;
  l.set_dims(out, {count});
  l.graph.value(out).type = kInt64;
  const auto kept = small_count({count});
  if (!kept) return;
  std::vector<Number> numbers;
  for (std::size_t i = 0; i < *kept; ++i) numbers.push_back(given[0] + Number{static_cast<double>(i)} * given[2]);
  l.set_numbers(out, std::move(numbers));
}

void infer_reduce(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  if (dims == nullptr) return;
  const bool one_axis = l.type(node) == "ArgMax" || l.type(node) == "ArgMin";
  const bool keeps = l.integer(node, "keepdims", 1) != 0;
  std::vector<std::size_t> axes;
  if (one_axis) {
    const auto axis = axis_of(l.integer(node, "axis", 0), dims->size());
    if (!axis) return;
    axes = {*axis};
  } else if (l.attribute(node, "axes") != nullptr || l.has_input(node, 1)) {
    const auto given = axes_of(l, node, 1, dims->size());
    if (!given) return;
    axes = *given;
  }
  if (axes.empty() && l.integer(node, "noop_with_empty_axes", 0) == 0)
    for (std::size_t i = 0; i < dims->size(); ++i) axes.push_back(i);
  Extents result;
  for (std::size_t i = 0; i < dims->size(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!gone || keeps) result.push_back(gone ? Number{1.0} : (*dims)[i]);
  }
  l.set_dims(l.output(node), std::move(result));
  const std::vector<Number>* numbers = numbers_of(l, node, 0);
  if (numbers == nullptr || dims->size() != 1 || axes.size() != 1 || l.output(node) == kAbsent) return;
  l.graph.value(l.output(node)).type = l.graph.value(l.input(node, 0)).type;
  Number sum{l.type(node) == "ReduceProd" ? 1.0 : 0.0};
  for (const Number& n : *numbers) sum = l.type(node) == "ReduceProd" ? sum * n : sum + n;
  if (l.type(node) == "ReduceProd" || l.type(node) == "ReduceSum") l.set_numbers(l.output(node), {sum});
}

void infer_matmul(Lowering& l, NodeIndex node) {
  const Extents *a = dims_of(l, node, 0), *b = dims_of(l, node, 1);
  if (a == nullptr || b == nullptr || a->empty() || b->empty()) return;
  const Extents stack_a(a->begin(), a->size() > 1 ? a->end() - 2 : a->begin());
  const Extents stack_b(b->begin(), b->size() > 1 ? b->end() - 2 : b->begin());
  Extents result = broadcast(stack_a, stack_b);
  if (a->size() > 1) result.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) result.push_back(b->back());
  l.set_dims(l.output(node), std::move(result));
}

void infer_gemm(Lowering& l, NodeIndex node) {
  const Extents *a = dims_of(l, node, 0), *b = dims_of(l, node, 1);
  if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) return;
  const std::size_t row = l.integer(node, "transA", 0) != 0 ? 1 : 0, column = l.integer(node, "transB", 0) != 0 ? 0 : 1;
  l.set_dims(l.output(node), {(*a)[row], (*b)[column]});
}

void infer_pad(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  const auto pads = l.list(node, "pads", 1);
  if (dims == nullptr || !pads || pads->size() != 2 * dims->size()) return;
  Extents result = *dims;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Number added = (*pads)[i] + (*pads)[i + result.size()];
    if (!(added == Number{0.0})) result[i] = result[i] + added;
  }
  l.set_dims(l.output(node), std::move(result));
}

}  // namespace tbdsim::onnx
