#include "model/plan/nothing_found.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/choose_layout.hpp"
#include "model/plan/plan_jobs.hpp"
#include "model/plan/predict_command.hpp"
#include "model/prediction/memory_estimate.hpp"
#include "model/units/format.hpp"

namespace tbdsim::plan {
namespace {

/// Why there is no layout at all: what `predict` says of the axes that are kept, else of the first layout that was refused.
Errors no_layout(const Configuration& base, const PredictOptions& job, const Found& found) {
  PredictOptions kept = job;
  if (!kept.batch) kept.batch = 1;
  if (!kept.pipeline_parallel && (!kept.schedule.empty() || kept.virtual_stages.value_or(1) > 1)) kept.pipeline_parallel = 2;
  if (!kept.tensor_parallel && asked_sequence(kept).value_or(false)) kept.tensor_parallel = 2;
  if (kept.pipeline_parallel.value_or(1) > 1 && !kept.virtual_stages &&
      pipeline::parse_schedule(kept.schedule) == pipeline::ScheduleKind::interleaved)
    kept.virtual_stages = 2;  // the least that is searched
  Configuration tried = base;
  if (Errors errors = choose_layout(kept, tried); !errors.empty()) return errors;
  const bool all = job.tensor_parallel && job.context_parallel && job.pipeline_parallel && job.batch;
  if (Errors errors = choose_division(kept, tried); all && !errors.empty()) return errors;
  const std::string kept_axes = kept_text(job);
  std::string why = fmt::format("no layout of {} on {} GPUs{}{} makes updates of {} samples", base.network_graph().graph.name,
                                base.gpus, kept_axes.empty() ? "" : " with ", kept_axes, *job.global_batch);
  if (!found.refusals.empty()) why += fmt::format("; the first was refused: {}", found.refusals.front().message);
  return {{std::move(why)}};
}

/// Layouts near one that memory excluded which take less: a sample at a time, all layers computed again, all that is divided.
/// Where the job states one of these, it stays.
std::vector<Candidate> lesser(const Candidate& candidate, const Variant& variant) {
  std::vector<Candidate> all{candidate};
  const auto add = [&](auto change) {
    for (std::size_t i = all.size(); i-- > 0;) {
      all.push_back(all[i]);
      change(all.back());
    }
  };
  // Estimates of large batches are the least certain.
  if (!variant.job.batch) add([](Candidate& c) { c.batch = 1; });
  if (variant.job.recompute.empty() && allocates_as_it_runs(variant.base.stack))
    add([](Candidate& c) { c.recompute = Recompute::layer; });
  if (!variant.job.zero) add([&](Candidate& c) { c.zero = most_zero(variant.base.stack); });
  return all;
}

std::string too_much(const Misfit& misfit, const Device& device) {
  if (misfit.host && misfit.host->capacity)
    return fmt::format("keeps {} on a node's host of {}", format(misfit.host->needed), format(*misfit.host->capacity));
  const Bytes capacity = usable_capacity(device);
  return fmt::format("takes {} of the {} of {}, {} too much", format(misfit.peak), format(capacity), device.id,
                     format(std::max(Bytes(0.0), misfit.peak - capacity)));
}

}  // namespace

Bytes fullest_peak(const MemoryVerdict& memory) {
  Bytes most(0.0);
  for (const GpuMemory& gpu : memory.gpus) most = std::max(most, gpu.peak);
  return most;
}

Misfit Misfit::of(PredictOptions options, const MemoryVerdict& memory) {
  return {std::move(options), fullest_peak(memory), memory.host && !memory.host->fits ? memory.host : std::nullopt};
}

bool Misfit::smaller_than(const Misfit& other) const {
  const auto key = [](const Misfit& m) { return std::pair(m.peak, m.host ? m.host->needed : Bytes(0.0)); };
  return key(*this) < key(other);
}

Errors nothing_found(Session& session, const Variants& variants, const Found& found, std::optional<Misfit> smallest) {
  if (found.interrupted) return {{"plan: interrupted before a layout that fits was found"}};
  const Configuration& base = variants.first().base;
  if (found.counts.tried == 0) return no_layout(base, variants.first().job, found);
  if (found.smallest)
    for (const Candidate& candidate : lesser(*found.smallest, variants.of(*found.smallest))) {
      const PredictOptions options = variants.options_of(candidate);
      const auto exact = predict(session, options);
      const Misfit one = exact ? Misfit::of(options, exact->memory) : Misfit{options, candidate.memory};
      if (!smallest || (exact && one.smaller_than(*smallest))) smallest = one;
    }
  if (!smallest) return {{fmt::format("{} fits in none of {} layouts", base.network_graph().graph.name, found.counts.tried)}};
  // States take most of large networks, and may lie on the host.
  PredictOptions moved = smallest->options;
  moved.offload = "states";
  const auto on_host = smallest->options.offload.empty() ? predict(session, moved) : tl::make_unexpected(Errors{});
  const char* const host = on_host && on_host->memory.fits ? ", or keep states on the host: --offload states" : "";
  return {{fmt::format(
      "{} fits in none of {} layouts on {} GPUs: the smallest of those predicted {} ({}); take more GPUs, or {} with more "
      "memory{}",
      base.network_graph().graph.name, found.counts.tried, base.gpus, too_much(*smallest, base.hardware().device),
      predict_command(smallest->options), smallest->host ? "hosts" : "GPUs", host)}};
}

}  // namespace tbdsim::plan
