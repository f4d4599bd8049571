#include "model/workload/operator_limits.hpp"

#include <fmt/format.h>

#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

// Assumed: far beyond the operators of the largest networks (GPT-3, feed-forward: 6e8 weights, 1.2e12 multiply-adds).
constexpr double kMostElements = 1e12;  // of one array
constexpr double kMostMacs = 1e14;      // multiply-adds of a sample

double product(const Shape& shape) {
  double p = 1.0;
  for (const std::int64_t extent : shape) p *= static_cast<double>(extent);
  return p;
}

double weight_elements(OpKind kind, const OpAttributes& attributes, const Shape& input) {
  double weights = 0.0;
  for (const ParameterSpec& spec : parameters_of(kind, attributes, input, false)) weights += product(spec.shape);
  return weights;
}

}  // namespace

double rough_macs(OpKind kind, const OpAttributes& attributes, const Shape& input, const Shape& output) {
  // A weight works once at every position of an image, every step of a sequence.
  const auto features = static_cast<double>(output.size() == 3 ? output.front() : output.back());
  const OperatorRow& row = info(kind);
  const double per_element = row.family == OpFamily::attention ? 2.0 * static_cast<double>(input.front())
                             : row.family == OpFamily::experts || row.multiplies_activations
                                 ? static_cast<double>(input.back())
                                 : weight_elements(kind, attributes, input) / features;
  return per_element * product(output);
}

std::optional<std::string> too_large(OpKind kind, const OpAttributes& attributes, const Shape& input, const Shape& output) {
  const double weights = weight_elements(kind, attributes, input);
  if (weights <= kMostElements && product(output) <= kMostElements && rough_macs(kind, attributes, input, output) <= kMostMacs)
    return std::nullopt;
  return fmt::format("too large to simulate: output {}, {:.3g} weights", to_text(output), weights);
}

}  // namespace tbdsim
