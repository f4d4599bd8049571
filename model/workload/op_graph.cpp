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

}  // namespace tbdsim
