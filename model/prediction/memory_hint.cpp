#include "model/prediction/memory_hint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/choose_layout.hpp"
#include "model/configuration/configure.hpp"
#include "model/prediction/longest_sequence.hpp"
#include "model/prediction/max_batch.hpp"
#include "model/units/format.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim {
namespace {

bool fits(Session& session, const PredictOptions& options) {
  auto configured = configure_for_memory(session, options);
  if (!configured) return false;  // not of this stack or exchange
  auto estimator = MemoryEstimator::make(*configured, StagesLookedAt::unlike);
  return estimator && fits(estimator->at(configured->batch), usable_capacity(configured->hardware().device));
}

/// The largest batch below one that does not fit, of a network that is divided: halved until it fits, then whatever lies between.
/// Few replays, where the search for all that memory holds takes dozens of every stage. 0: none; absent: as `configure`.
std::optional<int> smaller_batch(Session& session, const PredictOptions& options, int misfit) {
  if (misfit <= 1) return 0;
  PredictOptions plain = options;
  // The update has fewer samples where that is all that changes.
  plain.global_batch.reset();
  auto configured = configure(session, plain);
  if (!configured) return std::nullopt;
  const Bytes capacity = usable_capacity(configured->hardware().device);
  auto estimator = MemoryEstimator::make(std::move(*configured), StagesLookedAt::unlike);
  if (!estimator) return std::nullopt;
  int good = 0;
  for (int probe = misfit / 2; probe > 0 && good == 0; probe /= 2) (fits(estimator->at(probe), capacity) ? good : misfit) = probe;
  while (good > 0 && misfit - good > 1) {
    const int probe = (good + misfit) / 2;
    (fits(estimator->at(probe), capacity) ? good : misfit) = probe;
  }
  return good;
}

/// Whether a GPU is too small for what neither the batch nor recomputation changes. Sparse gradients grow with the batch.
bool filled_without_samples(const MemoryVerdict& memory, bool sparse) {
  return std::any_of(memory.gpus.begin(), memory.gpus.end(), [&](const GpuMemory& gpu) {
    Bytes kept(0.0);
    for (const MemoryPart part : {MemoryPart::weights, MemoryPart::optimizer_state, MemoryPart::context}) kept += gpu.parts[part];
    if (!sparse) kept += gpu.parts[MemoryPart::gradients];
    return kept > memory.capacity;
  });
}

std::optional<int> largest_that_fits(Session& session, const PredictOptions& options, const Prediction& prediction) {
  if (prediction.division.layout.divides_network()) return smaller_batch(session, options, prediction.job.batch_per_gpu);
  const auto largest = largest_batch(session, options);
  return largest ? std::optional(largest->batch) : std::nullopt;
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

/// The stages of ZeRO that the job's framework has.
std::vector<int> stages_of_zero(Session& session, const PredictOptions& options) {
  const auto configured = configure(session, options);
  return configured ? zero_stages(configured->stack) : std::vector<int>{};
}

/// What the host's memory lacks, whatever the batch is of states.
std::string host_hint(const HostMemory& host) {
  return fmt::format(
      "a node's memory of {} does not hold the {} that its GPUs keep there; fewer GPUs of a node, a higher --zero over more "
      "nodes or "
      "a smaller --offload-share need less",
      format(*host.capacity), format(host.needed));
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
  if (const auto& host = prediction.memory.host; host && !host->fits) return host_hint(*host);
  const auto configured = configure(session, options);
  const bool sparse = configured && has_sparse_gradients(configured->network_graph().graph);
  const bool full = filled_without_samples(prediction.memory, sparse);
  const std::optional<int> largest = full ? 0 : largest_that_fits(session, options, prediction);
  if (!largest) return "";
  std::string hint = fmt::format("batch {} does not fit; ", prediction.job.batch_per_gpu);
  hint += *largest > 0 ? fmt::format("batch {} is the largest that does{}", *largest,
                                     micro_batches(session, options, prediction.job.batch_per_gpu, *largest))
                       : "no batch does";
  if (options.recompute.empty() && !full) {
    // What layers of transformers keep is what their blocks keep; of MXNet's own order none is divided.
    const std::vector<std::string> less_kept = prediction.division.layout.divides_network()
                                                   ? std::vector<std::string>{"selective", "layer", "full"}
                                                   : std::vector<std::string>{"mirror", "block", "layer", "full"};
    const std::string kept =
        room_by(session, options, {"--recompute", less_kept, [](PredictOptions& o, const std::string& v) { o.recompute = v; }});
    if (!kept.empty()) hint += fmt::format("; with {} it does", kept);
  }
  Way split{"--tensor-parallel", {}, [](PredictOptions& o, const std::string& v) { o.tensor_parallel = std::stoi(v); }};
  // Fewer ways than now, or a lower stage, need no less.
  for (int ways = 2 * prediction.division.layout.tensor; ways <= prediction.job.gpus / prediction.job.nodes; ways *= 2)
    split.values.push_back(std::to_string(ways));
  Way shard{"--zero", {}, [](PredictOptions& o, const std::string& v) { o.zero = std::stoi(v); }};
  const bool copies = prediction.division.layout.data * prediction.division.layout.context > 1;
  if (copies)
    for (const int stage : stages_of_zero(session, options))
      if (stage > prediction.division.zero) shard.values.push_back(std::to_string(stage));
  std::string there;
  const Way host{"--offload", {"states"}, [](PredictOptions& o, const std::string& v) { o.offload = v; }};
  for (const Way& way : {shard, split, host}) {
    if (way.flag == host.flag && !options.offload.empty()) continue;
    const std::string option = room_by(session, options, way);
    if (!option.empty()) there += fmt::format("{}{}", there.empty() ? "" : " or ", option);
  }
  if (!there.empty()) return fmt::format("{}; there is room with {}; `memory --max-batch` tells more", hint, there);
  if (configured)
    if (const std::string plan = plan_hint(*configured); !plan.empty()) return hint + "; " + plan;
  return hint + "; `memory --max-batch` tells more";
}

std::string plan_hint(const Configuration& configuration) {
  if (configuration.gpus < 2 || !has_attention(configuration.network_graph().graph)) return "";
  return fmt::format("`tbdsim plan --hw {} --gpus {} --model {} --global-batch {}` searches layouts that fit",
                     configuration.hardware().id, configuration.gpus, configuration.network_graph().graph.name,
                     configuration.samples_per_step());
}

}  // namespace tbdsim
