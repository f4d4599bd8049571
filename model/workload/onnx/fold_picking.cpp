// Dimensions of the nodes that pick and join, and the elements of small constants that go through them.
#include <algorithm>
#include <cmath>

#include "model/workload/onnx/fold_access.hpp"

namespace tbdsim::onnx {
namespace {

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
  if (static_cast<double>(before) * static_cast<double>(after) * static_cast<double>(picks.size()) > kMostKept) return result;
  for (std::size_t b = 0; b < before; ++b)
    for (const std::int64_t pick : picks)
      for (std::size_t a = 0; a < after; ++a)
        result.push_back(numbers[(b * extent + static_cast<std::size_t>(pick)) * after + a]);
  return result;
}

}  // namespace

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
    if (numbers == nullptr || dims->size() != 1 || count > kMostKept) continue;
    kept.emplace();
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
      kept->push_back((*numbers)[static_cast<std::size_t>(first + static_cast<double>(k) * static_cast<double>(step))]);
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
    elements_known = elements_known && more != nullptr && static_cast<double>(numbers.size()) <= kMostKept;
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
    part[*axis] = extent.known && !extent.batch && size >= 0.0 ? Number{size} : kUnknownNumber;
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

}  // namespace tbdsim::onnx
