#include "model/workload/onnx/extents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbdsim::onnx {
namespace {

constexpr double kMostElements = 1e12;

bool is_extent(const Number& n) {
  return n.known && n.value >= 1.0 && n.value <= kMostElements && n.value == std::floor(n.value);
}

std::optional<Shape> checked(const Extents& extents, std::optional<std::size_t> left_out) {
  Shape shape;
  double count = 1.0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (!is_extent(extents[i])) return std::nullopt;
    count *= extents[i].value;
    if (i != left_out) shape.push_back(static_cast<std::int64_t>(extents[i].value));
  }
  if (count > kMostElements) return std::nullopt;
  return shape;
}

}  // namespace

bool operator==(const Number& a, const Number& b) { return a.known && b.known && a.value == b.value && a.batch == b.batch; }

Number operator+(const Number& a, const Number& b) {
  if (!a.known || !b.known) return kUnknownNumber;
  if (a.batch != b.batch && a.value != 0.0 && b.value != 0.0) return kUnknownNumber;
  return {a.value + b.value, a.value == 0.0 ? b.batch : a.batch, true};
}

Number operator-(const Number& a, const Number& b) { return a + Number{-b.value, b.batch, b.known}; }

Number operator*(const Number& a, const Number& b) {
  if (!a.known || !b.known || (a.batch && b.batch)) return kUnknownNumber;
  return {a.value * b.value, a.batch || b.batch, true};
}

Number quotient(const Number& a, const Number& b, bool integers) {
  if (!a.known || !b.known || b.value == 0.0 || (b.batch && !a.batch)) return kUnknownNumber;
  const bool batch = a.batch && !b.batch;
  const double ratio = a.value / b.value;
  return {integers && !batch ? std::floor(ratio) : ratio, batch, true};
}

bool all_known(const Extents& extents) {
  return std::all_of(extents.begin(), extents.end(), [](const Number& n) { return n.known; });
}

Number product(const Extents& extents) {
  Number result{1.0};
  for (const Number& n : extents) result = result * n;
  return result;
}

std::string to_text(const Extents& extents) {
  std::string text = "[";
  for (const Number& n : extents) {
    if (text.size() > 1) text += ", ";
    if (!n.known)
      text += "?";
    else if (n.batch)
      text += n.value == 1.0 ? "N" : fmt::format("{}N", n.value);
    else
      text += fmt::format("{}", n.value);
  }
  return text + "]";
}

std::optional<std::size_t> batch_axis(const Extents& extents) {
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i].known || !extents[i].batch) continue;
    if (axis) return std::nullopt;
    axis = i;
  }
  return axis;
}

std::optional<Shape> per_sample(const Extents& extents) {
  const auto axis = batch_axis(extents);
  if (!axis) return std::nullopt;
  auto shape = checked(extents, extents[*axis].value == 1.0 ? axis : std::nullopt);
  if (shape && shape->empty()) shape->push_back(1);
  return shape;
}

std::optional<Shape> whole(const Extents& extents) {
  for (const Number& n : extents)
    if (n.batch) return std::nullopt;
  return checked(extents, std::nullopt);
}

Extents broadcast(const Extents& a, const Extents& b) {
  const Extents& longer = a.size() >= b.size() ? a : b;
  const Extents& shorter = a.size() >= b.size() ? b : a;
  Extents result = longer;
  const std::size_t skipped = longer.size() - shorter.size();
  const Number one{1.0};
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Number& n = result[skipped + i];
    if (n == shorter[i] || shorter[i] == one) continue;
    n = n == one ? shorter[i] : kUnknownNumber;
  }
  return result;
}

}  // namespace tbdsim::onnx
