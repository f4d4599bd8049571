#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/workload/op_graph.hpp"

namespace tbdsim::onnx {

/// A number of a shape computation: `value`, times the batch size where `batch` is set. Unknown where the computation
/// depends on data or leaves that form (N + 1, N x N).
struct Number {
  double value = 0.0;
  bool batch = false;
  bool known = true;
};
inline constexpr Number kUnknownNumber{0.0, false, false};

[[nodiscard]] bool operator==(const Number& a, const Number& b);  ///< both known and the same
[[nodiscard]] Number operator+(const Number& a, const Number& b);
[[nodiscard]] Number operator-(const Number& a, const Number& b);
[[nodiscard]] Number operator*(const Number& a, const Number& b);
/// As ONNX divides integers: rounded down, except multiples of the batch, which stay exact.
[[nodiscard]] Number quotient(const Number& a, const Number& b, bool integers);

/// Dimensions of a tensor as ONNX has them, batch included.
using Extents = std::vector<Number>;

[[nodiscard]] bool all_known(const Extents& extents);
[[nodiscard]] Number product(const Extents& extents);
[[nodiscard]] std::string to_text(const Extents& extents);  ///< "[8N, 128, 64]"

/// The axis that holds the batch; empty when none or several do.
[[nodiscard]] std::optional<std::size_t> batch_axis(const Extents& extents);

/// Dimensions of one sample: the batch axis left out, or, where it is merged with others (8N), without its N. A scalar
/// per sample is one element. Empty when there is not exactly one batch axis, an extent is unknown, no whole number, or
/// less than 1, or the whole has more than 10^12 elements.
[[nodiscard]] std::optional<Shape> per_sample(const Extents& extents);

/// Dimensions without a batch, of a parameter or a constant. Empty as above.
[[nodiscard]] std::optional<Shape> whole(const Extents& extents);

/// As NumPy and ONNX broadcast; unknown extents where the two do not fit or are not known.
[[nodiscard]] Extents broadcast(const Extents& a, const Extents& b);

}  // namespace tbdsim::onnx
