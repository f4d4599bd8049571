#pragma once
#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "model/workload/op.hpp"
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

/// `infer_shape` of the operators that arrange, pick and combine elements: transpose, reshape, concat, gather, reduce,
/// pairwise_add, learned_bias, prepend_token, upsample, proposals, roi_pool, group_norm, by_bytes. Expects the right number of
/// inputs and attributes of the kind.
[[nodiscard]] InferredShape infer_arranged(OpKind kind, const OpAttributes& attributes, const std::vector<const Shape*>& inputs);

}  // namespace tbdsim
