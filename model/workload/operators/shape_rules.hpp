#pragma once
#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "model/workload/op_graph.hpp"

namespace tbdsim {

using InferredShape = tl::expected<Shape, std::string>;

template <class... Args>
[[nodiscard]] tl::unexpected<std::string> refuse_shape(fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(fmt::format(format, std::forward<Args>(args)...));
}

[[nodiscard]] inline tl::unexpected<std::string> wants_image(const Shape& x) {
  return refuse_shape("expects an image (CxHxW), got {}", to_text(x));
}

[[nodiscard]] inline tl::unexpected<std::string> wants_sequence(const Shape& x) {
  return refuse_shape("expects a sequence (TxH), got {}", to_text(x));
}

using ShapeInputs = std::vector<const Shape*>;

}  // namespace tbdsim
