#pragma once
#include <span>
#include <string_view>

namespace tbdsim {

/// Which computation of an operator a node of the training step is.
enum class Pass { forward, backward_data, backward_weights, backward, gradient_sum, update };

/// A part of a step.
enum class Phase { forward, backward, update };
[[nodiscard]] std::string_view name(Phase phase);  ///< in JSON and tables: "backward"

/// One row of the table of passes.
struct PassInfo {
  Pass kind;
  std::string_view name;  ///< in JSON and traces: "backward_data"
  Phase phase;
  bool input_gradients, parameter_gradients;  ///< what it computes
};

/// Every pass, in the order of their enumerators.
[[nodiscard]] std::span<const PassInfo> passes();
[[nodiscard]] const PassInfo& info(Pass pass);
[[nodiscard]] inline std::string_view name(Pass pass) { return info(pass).name; }

}  // namespace tbdsim
