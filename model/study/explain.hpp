#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/prediction/predict.hpp"
#include "model/study/layout_neighbours.hpp"
#include "model/support/progress.hpp"

namespace tbdsim {

/// Gain of throughput from which an option is worth to be set, and other hardware worth to be named (assumed).
inline constexpr double kWorthAChange = 0.005;

/// One rule of a healthy training run.
struct HealthCheck {
  std::string name;
  bool passed = true;
  std::string text;  ///< what was found, and what the rule asks
};

/// A change and what it is predicted to bring.
struct WhatIfOutcome {
  std::string name, text;  ///< as `--what-if` takes it, or the option that makes the change
  bool hardware = false;   ///< another machine; else a setting or software
  double gain = 0.0;       ///< throughput over that of the base, minus 1
  bool fits = true;
  Ranged<Seconds> step_time;
  Limit limit;               ///< what bounds the step then
  std::string problem;       ///< why it does not apply or cannot help here; reports then tell nothing else
  bool cannot_help = false;  ///< other hardware that changes the throughput by less than `kWorthAChange`
  std::string reason{};      ///< why the step does not change, where that is known
  std::string note{};        ///< what the change brings beside what its name says; empty: nothing
};

/// Settings that help together: from the one that gains most, each that still gains after those before it.
struct CombinedSettings {
  std::vector<std::string> options;  ///< as a command line takes them: "--what-if amp"
  double gain = 0.0;
  bool fits = true;
  Ranged<Seconds> step_time;
  Limit limit;
};

/// Why a step takes as long as it does, and what would help.
struct Explanation {
  Prediction base;
  std::vector<HealthCheck> checks;
  std::vector<WhatIfOutcome> what_ifs;         ///< by gain, largest first; those that do not apply or cannot help last
  std::vector<LayoutOutcome> layouts;          ///< of a step that is simulated layer by layer
  std::optional<CombinedSettings> combined{};  ///< absent: fewer than two settings help
};

/// Explains a configuration: predicts it, checks its health, and predicts every named change, the newest release of its framework
/// and of NCCL; of a step that is simulated layer by layer, every neighbour of its layout, too. Other hardware that
/// changes next to nothing is told apart. Errors: as `predict`.
///
/// Rules of health: GPUs busy at least 90 % of the time, memory of the GPU and of the CPU below 95 %, CPU, network and storage
/// below 90 %, and no more than 10 % of the step waiting for input, exchange, host or, in a pipeline, other stages. Source:
/// performance and profiling deck, check list.
[[nodiscard]] Result<Explanation> explain(Session& session, const PredictOptions& options, Progress* progress = nullptr);

}  // namespace tbdsim
