// Dimensions of the nodes that pick and arrange, and the elements of small constants that go through them.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/workload/onnx/rules.hpp"

namespace tbdsim::onnx {
namespace {

constexpr double kMostElements = 4096.0;

const Extents* dims_of(const Lowering& l, NodeIndex node, std::size_t i) {
  const ValueIndex value = l.input(node, i);
  return value != kAbsent && l.dims(value) ? &*l.dims(value) : nullptr;
}

const std::vector<Number>* numbers_of(const Lowering& l, NodeIndex node, std::size_t i) {
  const ValueIndex value = l.input(node, i);
  return value != kAbsent && l.numbers(value) ? &*l.numbers(value) : nullptr;
}

/// Passes type and elements on where the order of elements stays.
void keep_elements(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0), out = l.output(node);
  if (in == kAbsent || out == kAbsent) return;
  l.graph.value(out).type = l.graph.value(in).type;
  if (l.numbers(in)) l.set_numbers(out, *l.numbers(in));
}

/// Known integers without batch as positions.
std::optional<std::vector<std::int64_t>> plain(const std::optional<std::vector<Number>>& numbers) {
  if (!numbers) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const Number& n : *numbers) {
    if (!n.known || n.batch) return std::nullopt;
    constexpr double kFar = 1e15;  // INT64_MAX stands for "to the end"
    result.push_back(static_cast<std::int64_t>(std::clamp(n.value, -kFar, kFar)));
  }
  return result;
}

std::optional<std::vector<std::size_t>> axes_of(const Lowering& l, NodeIndex node, std::size_t input, std::size_t rank) {
  const auto numbers = plain(l.list(node, "axes", input));
  if (!numbers) return std::nullopt;
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : *numbers) {
    const auto found = axis_of(axis, rank);
    if (!found) return std::nullopt;
    axes.push_back(*found);
  }
  return axes;
}

/// Product of the extents before and after an axis, of small constants.
std::pair<std::size_t, std::size_t> around(const Extents& dims, std::size_t axis) {
  double before = 1.0, after = 1.0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (i != axis) (i < axis ? before : after) *= dims[i].value;
  return {static_cast<std::size_t>(before), static_cast<std::size_t>(after)};
}

/// Elements at `picks` of one axis.
std::vector<Number> picked(const std::vector<Number>& numbers, const Extents& dims, std::size_t axis,
                           const std::vector<std::int64_t>& picks) {
  const auto [before, after] = around(dims, axis);
  const auto extent = static_cast<std::size_t>(dims[axis].value);
  std::vector<Number> result;
  if (static_cast<double>(before) * static_cast<double>(after) * static_cast<double>(picks.size()) > kMostElements) return result;
  for (std::size_t b = 0; b < before; ++b)
    for (const std::int64_t pick : picks)
      for (std::size_t a = 0; a < after; ++a)
        result.push_back(numbers[(b * extent + static_cast<std::size_t>(pick)) * after + a]);
  return result;
}

}  // namespace

std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
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

void infer_slice(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  const auto starts = plain(l.list(node, "starts", 1));
  const auto ends = l.list(node, "ends", 2);
  if (dims == nullptr || !starts || !ends || starts->size() != ends->size()) return;
  auto axes = plain(l.list(node, "axes", 3));
  const auto steps = plain(l.list(node, "steps", 4));
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  if (axes->size() != starts->size() || (steps && steps->size() != starts->size())) return;
  Extents result = *dims;
  const std::vector<Number>* numbers = numbers_of(l, node, 0);
  std::optional<std::vector<Number>> kept;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const auto axis = axis_of((*axes)[i], dims->size());
    if (!axis) return;
    const Number extent = (*dims)[*axis];
    const std::int64_t step = steps ? (*steps)[i] : 1;
    const Number& end = (*ends)[i];
    // To the end of a batch: all of it.
    const bool whole_batch = extent.batch && (*starts)[i] == 0 && step == 1 && end.known && (end == extent || end.value > 1e9);
    if (whole_batch) continue;
    if (!extent.known || extent.batch || !end.known || end.batch || step == 0) {
      result[*axis] = kUnknownNumber;
      continue;
    }
    const double from_end = step > 0 ? extent.value : extent.value - 1.0, low = step > 0 ? 0.0 : -1.0;
    const auto place = [&](double position) {
      return std::clamp(position < 0.0 ? position + extent.value : position, low, from_end);
    };
    const double first = place(static_cast<double>((*starts)[i]));
    const double last = step < 0 && end.value < -extent.value ? -1.0 : place(end.value);
    const double count = std::max(0.0, std::ceil((last - first) / static_cast<double>(step)));
    result[*axis] = {count};
    if (numbers == nullptr || dims->size() != 1 || count > kMostElements) continue;
    kept.emplace();
    for (double k = 0.0; k < count; k += 1.0)
      kept->push_back((*numbers)[static_cast<std::size_t>(first + k * static_cast<double>(step))]);
  }
  l.set_dims(l.output(node), std::move(result));
  l.graph.value(l.output(node)).type = l.graph.value(l.input(node, 0)).type;
  if (kept) l.set_numbers(l.output(node), std::move(*kept));
}

void infer_concat(Lowering& l, NodeIndex node) {
  const auto& inputs = l.graph.node(node).inputs;
  const Extents* first = dims_of(l, node, 0);
  if (first == nullptr) return;
  const auto axis = axis_of(l.integer(node, "axis", 0), first->size());
  if (!axis) return;
  Extents result = *first;
  std::vector<Number> numbers;
  bool elements_known = first->size() == 1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Extents* dims = dims_of(l, node, i);
    if (dims == nullptr || dims->size() != result.size()) return;
    if (i > 0) result[*axis] = result[*axis] + (*dims)[*axis];
    const std::vector<Number>* more = numbers_of(l, node, i);
    elements_known = elements_known && more != nullptr && static_cast<double>(numbers.size()) <= kMostElements;
    if (elements_known) numbers.insert(numbers.end(), more->begin(), more->end());
  }
  l.set_dims(l.output(node), std::move(result));
  l.graph.value(l.output(node)).type = l.graph.value(inputs.front()).type;
  if (elements_known) l.set_numbers(l.output(node), std::move(numbers));
}

void infer_split(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  if (dims == nullptr) return;
  const auto axis = axis_of(l.integer(node, "axis", 0), dims->size());
  const auto& outputs = l.graph.node(node).outputs;
  if (!axis || outputs.empty()) return;
  const auto sizes = plain(l.list(node, "split", 1));
  if (sizes && sizes->size() != outputs.size()) return;
  const Number extent = (*dims)[*axis];
  const double share = extent.known ? std::ceil(extent.value / static_cast<double>(outputs.size())) : 0.0;
  double at = 0.0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Extents part = *dims;
    const double size = sizes ? static_cast<double>((*sizes)[i]) : std::min(share, extent.value - at);
    part[*axis] = extent.known && !extent.batch ? Number{size} : kUnknownNumber;
    l.set_dims(outputs[i], std::move(part));
    const std::vector<Number>* numbers = numbers_of(l, node, 0);
    const bool inside = size >= 0.0 && at >= 0.0 && at + size <= extent.value;
    if (numbers != nullptr && dims->size() == 1 && inside && outputs[i] != kAbsent)
      l.set_numbers(outputs[i], {numbers->begin() + static_cast<std::ptrdiff_t>(at),
                                 numbers->begin() + static_cast<std::ptrdiff_t>(at + size)});
    at += size;
  }
}

void infer_gather(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  const Extents* where = dims_of(l, node, 1);
  if (dims == nullptr || where == nullptr) return;
  const auto axis = axis_of(l.integer(node, "axis", 0), dims->size());
  if (!axis || dims->size() + where->size() > 64) return;
  Extents result(dims->begin(), dims->begin() + static_cast<std::ptrdiff_t>(*axis));
  result.insert(result.end(), where->begin(), where->end());
  result.insert(result.end(), dims->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, dims->end());
  l.set_dims(l.output(node), std::move(result));
  if (l.output(node) != kAbsent) l.graph.value(l.output(node)).type = l.graph.value(l.input(node, 0)).type;
  const std::vector<Number>* numbers = numbers_of(l, node, 0);
  auto picks = plain(l.numbers(l.input(node, 1)));
  if (numbers == nullptr || !picks) return;
  for (std::int64_t& pick : *picks) {
    const auto found = axis_of(pick, static_cast<std::size_t>((*dims)[*axis].value));
    if (!found) return;
    pick = static_cast<std::int64_t>(*found);
  }
  if (picks->empty()) return;
  std::vector<Number> elements = picked(*numbers, *dims, *axis, *picks);
  if (!elements.empty()) l.set_numbers(l.output(node), std::move(elements));
}

void infer_expand(Lowering& l, NodeIndex node) {
  const Extents* dims = dims_of(l, node, 0);
  const std::vector<Number>* target = numbers_of(l, node, 1);
  if (dims == nullptr || target == nullptr || target->size() > 64) return;
  const Extents result = broadcast(*dims, *target);
  l.set_dims(l.output(node), result);
  const std::vector<Number>* numbers = numbers_of(l, node, 0);
  const Number count = product(result);
  if (numbers == nullptr || numbers->size() != 1 || !count.known || count.batch || count.value > kMostElements) return;
  l.set_numbers(l.output(node), std::vector<Number>(static_cast<std::size_t>(count.value), numbers->front()));
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
  const Number count = product(*target);
  if (!count.known || count.batch || count.value < 0.0 || count.value > kMostElements) return;
  const Number element{has_value ? a->tensor->values->front() : 0.0};
  l.set_numbers(out, std::vector<Number>(static_cast<std::size_t>(count.value), element));
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
  if (!count.known || count.batch || count.value > kMostElements) return;
  std::vector<Number> numbers;
  for (double i = 0.0; i < count.value; i += 1.0) numbers.push_back(given[0] + Number{i} * given[2]);
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
