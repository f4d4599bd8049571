#include "model/workload/shape_inference.hpp"

#include <fmt/format.h>

#include "model/workload/operators/operator_row.hpp"

namespace tbdsim {

tl::expected<Shape, std::string> infer_shape(OpKind kind, const OpAttributes& attributes,
                                             const std::vector<const Shape*>& inputs) {
  const OperatorRow& row = info(kind);
  const auto count = static_cast<int>(inputs.size());
  if (count < row.min_inputs || count > row.max_inputs) {
    const bool exact = row.min_inputs == row.max_inputs;
    const int wanted = count < row.min_inputs ? row.min_inputs : row.max_inputs;
    return tl::make_unexpected(fmt::format("{} takes {}{} input{}, got {}", row.name,
                                           exact            ? ""
                                           : count < wanted ? "at least "
                                                            : "at most ",
                                           wanted, wanted == 1 ? "" : "s", count));
  }
  if (row.shape == nullptr) return *inputs[0];
  return row.shape(attributes, inputs);
}

std::vector<ParameterSpec> parameters_of(OpKind kind, const OpAttributes& attributes, const Shape& input,
                                         bool keeps_fixed_gamma) {
  const OperatorRow& row = info(kind);
  if (!row.has_parameters()) return {};
  return row.parameters({kind, attributes, input, keeps_fixed_gamma});
}

}  // namespace tbdsim
