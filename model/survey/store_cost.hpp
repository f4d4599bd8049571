#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/prediction/predict.hpp"

namespace tbdsim {

/// What MXNet's NCCL store costs a step beside its collectives.
struct StoreCost {
  struct Part {
    std::string name, text;  ///< of JSON, for people
    Seconds time;            ///< by which the step is shorter without this part alone
  };
  std::vector<Part> parts;  ///< those that cost something, largest first
  Seconds together;         ///< by which the step is shorter without all of them
};

/// The costs of the store in a step that was predicted with `options`, each found by a prediction without it. They may overlap,
/// so they need not add up. Nullopt: another exchange, or a stack that knows of no such cost. Errors: as `predict`.
[[nodiscard]] Result<std::optional<StoreCost>> store_cost(Session& session, const PredictOptions& options,
                                                          const Prediction& step);

}  // namespace tbdsim
