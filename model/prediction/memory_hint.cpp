#include "model/prediction/memory_hint.hpp"

#include <fmt/format.h>

#include "model/configuration/configure.hpp"
#include "model/prediction/max_batch.hpp"

namespace tbdsim {
namespace {

bool fits(Session& session, const PredictOptions& options) {
  auto configured = configure(session, options);
  if (!configured) return false;  // not of this stack or exchange
  auto estimator = MemoryEstimator::make(*configured);
  return estimator && memory_verdict(*configured, estimator->at(configured->batch)).fits;
}

/// One way to make room, from the change that costs least to the one that gains most.
struct Way {
  std::string flag;
  std::vector<std::string> values;
  void (*apply)(PredictOptions& options, const std::string& value);
};

/// The first change of a way that fits, as an option; empty where none does.
std::string room_by(Session& session, const PredictOptions& options, const Way& way) {
  for (const std::string& value : way.values) {
    PredictOptions changed = options;
    way.apply(changed, value);
    if (fits(session, changed)) return fmt::format("{} {}", way.flag, value);
  }
  return "";
}

/// Batch and micro-batches that make the update of a batch that does not fit.
std::string micro_batches(Session& session, PredictOptions options, int batch, int largest) {
  const int parts = (batch + largest - 1) / largest;
  options.batch = (batch + parts - 1) / parts;
  options.accumulate = options.accumulate.value_or(1) * parts;
  if (!fits(session, options)) return "";
  return fmt::format(" (--batch {} --accumulate {} for as large an update)", *options.batch, *options.accumulate);
}

}  // namespace

std::string memory_hint(Session& session, const PredictOptions& options, const Prediction& prediction) {
  if (prediction.memory.fits) return "";
  const auto largest = largest_batch(session, options);
  if (!largest) return "";
  std::string hint = fmt::format("batch {} does not fit; ", prediction.batch_per_gpu);
  hint += largest->batch > 0 ? fmt::format("batch {} is the largest that does{}", largest->batch,
                                           micro_batches(session, options, prediction.batch_per_gpu, largest->batch))
                             : "no batch does";
  if (options.recompute.empty()) {
    const std::string kept = room_by(
        session, options,
        {"--recompute", {"mirror", "block", "layer", "full"}, [](PredictOptions& o, const std::string& v) { o.recompute = v; }});
    if (!kept.empty()) hint += fmt::format("; with {} it does", kept);
  }
  Way split{"--tensor-parallel", {}, [](PredictOptions& o, const std::string& v) { o.tensor_parallel = std::stoi(v); }};
  for (int ways = 2; ways <= prediction.gpus / prediction.nodes; ways *= 2) split.values.push_back(std::to_string(ways));
  Way shard{"--zero", {}, [](PredictOptions& o, const std::string& v) { o.zero = std::stoi(v); }};
  if (prediction.gpus > 1) shard.values = {"1", "2", "3"};
  std::string there;
  for (const Way& way : {shard, split}) {
    const std::string option = room_by(session, options, way);
    if (!option.empty()) there += fmt::format("{}{}", there.empty() ? "" : " or ", option);
  }
  if (!there.empty()) hint += fmt::format("; there is room with {}", there);
  return hint + "; `memory --max-batch` tells more";
}

}  // namespace tbdsim
