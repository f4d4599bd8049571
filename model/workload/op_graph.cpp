#include "model/workload/op_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tbdsim {

std::int64_t elements(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::string to_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

std::int64_t OpGraph::parameter_elements() const {
  std::int64_t sum = 0;
  for (const Parameter& parameter : parameters) sum += elements(parameter.shape);
  return sum;
}

double frozen_elements(const Op& op) {
  double sum = 0.0;
  for (const Shape& shape : op.frozen) sum += static_cast<double>(elements(shape));
  return sum;
}

double gradient_elements(const Parameter& parameter, double batch) {
  if (parameter.rows_read == 0) return static_cast<double>(elements(parameter.shape));
  return batch * static_cast<double>(parameter.rows_read * parameter.shape.back());
}

Bytes gradient_bytes(const Parameter& parameter, double batch, Bytes element) {
  constexpr Bytes kIndex{8.0};
  return gradient_elements(parameter, batch) * element + batch * static_cast<double>(parameter.rows_read) * kIndex;
}

bool has_sparse_gradients(const OpGraph& graph) {
  return std::any_of(graph.parameters.begin(), graph.parameters.end(),
                     [](const Parameter& parameter) { return parameter.rows_read > 0; });
}

ExpertChoice choice_of(const OpGraph& graph, const Op& route) {
  const auto& own = std::get<RouteAttributes>(route.attributes);
  return {graph.tensor(route.inputs[1]).shape.back(), own.per_token, own.groups, own.groups_per_token};
}

}  // namespace tbdsim
