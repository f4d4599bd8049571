// Arithmetic on the elements of small constants, with NumPy's broadcasting.
#include <algorithm>
#include <cmath>

#include "model/workload/onnx/fold_access.hpp"

namespace tbdsim::onnx {
namespace {

Number truth(bool value) { return {value ? 1.0 : 0.0}; }

/// Of two numbers of one kind; N is larger than any number that is not a multiple of it.
template <class Compare>
Number compared(const Number& a, const Number& b, const Compare& compare) {
  if (!a.known || !b.known || a.batch != b.batch) return kUnknownNumber;
  return truth(compare(a.value, b.value));
}

Number power(const Number& a, const Number& b) {
  if (!a.known || !b.known || a.batch || b.batch) return kUnknownNumber;
  return {std::pow(a.value, b.value)};
}

Number remainder(const Number& a, const Number& b) {
  if (!a.known || !b.known || a.batch || b.batch || b.value == 0.0) return kUnknownNumber;
  return {a.value - b.value * std::floor(a.value / b.value)};
}

Number chosen(const Number& a, const Number& b, bool larger) {
  if (!a.known || !b.known || a.batch != b.batch) return kUnknownNumber;
  return (a.value > b.value) == larger ? a : b;
}

Number equality(const Number& a, const Number& b) {
  if (!a.known || !b.known) return kUnknownNumber;
  return truth(a == b);  // a batch is never a fixed number such as -1
}

Number combine(std::string_view type, const Number& a, const Number& b, bool integers) {
  if (type == "Add" || type == "Sum") return a + b;
  if (type == "Sub") return a - b;
  if (type == "Mul") return a * b;
  if (type == "Div") return quotient(a, b, integers);
  if (type == "Pow") return power(a, b);
  if (type == "Mod") return remainder(a, b);
  if (type == "Min") return chosen(a, b, false);
  if (type == "Max") return chosen(a, b, true);
  if (type == "Equal") return equality(a, b);
  if (type == "Greater") return compared(a, b, [](double x, double y) { return x > y; });
  if (type == "Less") return compared(a, b, [](double x, double y) { return x < y; });
  if (type == "GreaterOrEqual") return compared(a, b, [](double x, double y) { return x >= y; });
  if (type == "LessOrEqual") return compared(a, b, [](double x, double y) { return x <= y; });
  if (type == "And") return compared(a, b, [](double x, double y) { return x != 0.0 && y != 0.0; });
  if (type == "Or") return compared(a, b, [](double x, double y) { return x != 0.0 || y != 0.0; });
  return kUnknownNumber;
}

/// Element of `value` that stands at `index` (row by row) of the broadcast dimensions `dims`.
const Number& element(const Value& value, const Extents& dims, std::size_t index) {
  std::size_t position = 0, stride = 1;
  for (std::size_t k = 0; k < value.dims->size(); ++k) {
    const std::size_t from_end = value.dims->size() - 1 - k;
    const auto extent = static_cast<std::size_t>((*value.dims)[from_end].value);
    const auto whole = static_cast<std::size_t>(dims[dims.size() - 1 - k].value);
    position += (extent == 1 ? 0 : index % whole) * stride;
    stride *= extent;
    index /= whole;
  }
  return (*value.numbers)[position];
}

bool is_integer(const Value& value) { return value.type == kInt64 || value.type == kInt32; }

}  // namespace

void infer_elementwise(Lowering& l, NodeIndex node) {
  const auto& inputs = l.graph.node(node).inputs;
  std::optional<Extents> dims;
  bool elements_known = !inputs.empty();
  for (const ValueIndex input : inputs) {
    if (input == kAbsent) continue;
    const Value& value = l.graph.value(input);
    if (!value.dims) return;
    dims = dims ? broadcast(*dims, *value.dims) : *value.dims;
    elements_known = elements_known && value.numbers.has_value();
  }
  if (!dims) return;
  const ValueIndex out = l.output(node);
  l.set_dims(out, *dims);
  Value& first = l.graph.value(inputs.front());
  const bool selects = l.type(node) == "Where";
  l.graph.value(out).type = selects && inputs.size() > 1 ? l.graph.value(inputs[1]).type : first.type;
  const auto count = small_count(*dims);
  if (!elements_known || !count || (selects && inputs.size() != 3)) return;
  std::vector<Number> numbers(*count);
  for (std::size_t i = 0; i < *count; ++i) {
    Number result = element(first, *dims, i);
    if (selects) {
      const Number condition = result;
      result = condition.known ? element(l.graph.value(inputs[condition.value != 0.0 ? 1 : 2]), *dims, i) : kUnknownNumber;
    } else {
      for (std::size_t k = 1; k < inputs.size(); ++k)
        result = combine(l.type(node), result, element(l.graph.value(inputs[k]), *dims, i), is_integer(first));
    }
    numbers[i] = result;
  }
  l.set_numbers(out, std::move(numbers));
}

void infer_unary(Lowering& l, NodeIndex node) {
  infer_same(l, node);
  const ValueIndex in = l.input(node, 0);
  if (in == kAbsent || !l.numbers(in)) return;
  std::vector<Number> numbers = *l.numbers(in);
  const std::string_view type = l.type(node);
  for (Number& n : numbers) {
    const Number before = n;
    n = kUnknownNumber;
    if (!before.known) continue;
    if (type == "Neg") n = {-before.value, before.batch};
    if (before.batch) {
      if (type == "Floor" || type == "Ceil" || type == "Round" || type == "Abs") n = before;
      continue;
    }
    if (type == "Floor") n = {std::floor(before.value)};
    if (type == "Ceil") n = {std::ceil(before.value)};
    if (type == "Sqrt") n = {std::sqrt(before.value)};
    if (type == "Abs") n = {std::abs(before.value)};
    if (type == "Not") n = truth(before.value == 0.0);
    if (type == "Reciprocal" && before.value != 0.0) n = {1.0 / before.value};
    if (n.known && !std::isfinite(n.value)) n = kUnknownNumber;
  }
  l.set_numbers(l.output(node), std::move(numbers));
}

void infer_cast(Lowering& l, NodeIndex node) {
  infer_same(l, node);
  const ValueIndex in = l.input(node, 0), out = l.output(node);
  if (in == kAbsent || out == kAbsent) return;
  const auto type = static_cast<int>(l.integer(node, "to", kUndefined));
  l.graph.value(out).type = type;
  if (!l.numbers(in)) return;
  std::vector<Number> numbers = *l.numbers(in);
  if (type == kInt64 || type == kInt32)
    for (Number& n : numbers)
      if (!n.batch) n.value = std::trunc(n.value);
  l.set_numbers(out, std::move(numbers));
}

}  // namespace tbdsim::onnx
