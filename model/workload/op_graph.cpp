#include "model/workload/op_graph.hpp"

#include <fmt/format.h>

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

ExpertChoice choice_of(const OpGraph& graph, const Op& route) {
  const auto& own = std::get<RouteAttributes>(route.attributes);
  return {graph.tensor(route.inputs[1]).shape.back(), own.per_token, own.groups, own.groups_per_token};
}

}  // namespace tbdsim
