#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "model/workload/onnx/rules.hpp"

namespace tbdsim::onnx {

// What rules that infer read of a node's inputs.

constexpr double kMostKept = 4096.0;  ///< elements of a constant

inline const Extents* dims_of(const Lowering& l, NodeIndex node, std::size_t i) {
  const ValueIndex value = l.input(node, i);
  return value != kAbsent && l.dims(value) ? &*l.dims(value) : nullptr;
}

inline const std::vector<Number>* numbers_of(const Lowering& l, NodeIndex node, std::size_t i) {
  const ValueIndex value = l.input(node, i);
  return value != kAbsent && l.numbers(value) ? &*l.numbers(value) : nullptr;
}

/// How many elements a tensor without batch has; none when they are too many to keep, or some extent is no known size.
inline std::optional<std::size_t> small_count(const Extents& dims) {
  double count = 1.0;
  for (const Number& n : dims) {
    if (!n.known || n.batch || !(n.value >= 0.0) || n.value != std::floor(n.value)) return std::nullopt;
    count *= n.value;
  }
  // An empty one of otherwise huge extents is none: infinity times zero is no number.
  if (!(count <= kMostKept)) return std::nullopt;
  return static_cast<std::size_t>(count);
}

/// Passes type and elements on where the order of elements stays.
inline void keep_elements(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0), out = l.output(node);
  if (in == kAbsent || out == kAbsent) return;
  l.graph.value(out).type = l.graph.value(in).type;
  if (l.numbers(in)) l.set_numbers(out, *l.numbers(in));
}

/// Known integers without batch as positions.
inline std::optional<std::vector<std::int64_t>> plain(const std::optional<std::vector<Number>>& numbers) {
  if (!numbers) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const Number& n : *numbers) {
    if (!n.known || n.batch || std::isnan(n.value)) return std::nullopt;
    constexpr double kFar = 1e15;  // INT64_MAX stands for "to the end"
    result.push_back(static_cast<std::int64_t>(std::clamp(n.value, -kFar, kFar)));
  }
  return result;
}

inline std::optional<std::vector<std::size_t>> axes_of(const Lowering& l, NodeIndex node, std::size_t input, std::size_t rank) {
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

}  // namespace tbdsim::onnx
