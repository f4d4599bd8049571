#pragma once
#include <optional>
#include <string>

#include "model/prediction/epoch.hpp"
#include "model/prediction/memory_report.hpp"
#include "model/prediction/precision_gain.hpp"
#include "model/prediction/predict.hpp"
#include "model/prediction/profiling_cost.hpp"
#include "model/prediction/run/run_estimate.hpp"
#include "model/study/diagnose.hpp"
#include "model/study/explain.hpp"
#include "model/study/ownership.hpp"
#include "model/study/sweep_store.hpp"
#include "model/survey/network_change.hpp"
#include "model/survey/store_cost.hpp"
#include "model/validation/accuracy.hpp"
#include "model/validation/scenario_file.hpp"

namespace tbdsim {

/// What of a prediction a report shows beyond the step.
struct PredictParts {
  bool layers = false, kernels = false, links = false;  ///< expect a prediction made with `detail`
  std::optional<EpochEstimate> epochs;
  std::optional<ProfilingCost> profiling;
  bool host = false;                      ///< expects `detail` too
  std::optional<NetworkChange> change{};  ///< by values of the network that the user changed
  std::optional<RunEstimate> run{};
  std::optional<StoreCost> store{};
};

/// One object of schema "tbdsim.predict/1", indented, ending in a newline. Keys carry units; what is not known is null.
[[nodiscard]] std::string predict_json(const Prediction& prediction, const PredictParts& parts);

/// One object of schema "tbdsim.memory/1": the `memory` object of a prediction, layers, moments, reductions.
[[nodiscard]] std::string memory_json(const MemoryReport& report);

/// One object of schema "tbdsim.validate/1": every row, validation and fit groups apart, totals.
/// With the claims of scenarios, where there are any.
[[nodiscard]] std::string accuracy_json(const Accuracy& accuracy, const std::vector<AssessedClaim>& claims = {});

/// One object of schema "tbdsim.compare/1": for each candidate what `predict` says, with the varied options in `config`.
[[nodiscard]] std::string compare_json(const Comparison& comparison, const std::optional<CostTerms>& terms = {});

/// One object of schema "tbdsim.explain/1": limits, health checks, what-ifs by gain.
[[nodiscard]] std::string explain_json(const Explanation& explanation, const std::optional<PrecisionGain>& gain = std::nullopt,
                                       const std::optional<Diagnosis>& diagnosis = std::nullopt);

/// One row of a sweep as an object on one line, for the list of "tbdsim.sweep/1"; `config` are its options.
[[nodiscard]] std::string sweep_row_json(const SweepRow& row, const std::vector<std::pair<std::string, std::string>>& config,
                                         std::optional<Seconds> epoch = std::nullopt);

/// The kernels of one GPU as complete events of the Trace Event Format, which chrome://tracing and Perfetto load. Expects a
/// prediction made with `detail`.
[[nodiscard]] std::string chrome_trace(const Prediction& prediction);
/// How every such trace begins; those of profilers begin otherwise.
inline constexpr std::string_view kTraceMark = "{\n  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\"";

}  // namespace tbdsim
