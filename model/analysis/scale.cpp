#include "model/analysis/scale.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>

#include "model/analysis/configure.hpp"
#include "model/analysis/epoch.hpp"
#include "model/analysis/speedup.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 3> kScalings{"strong", "fixed-global-batch", "weak"};

struct Size {
  std::optional<int> gpus, nodes;
};

std::vector<Size> sizes(const ScaleOptions& options) {
  std::vector<Size> result;
  std::vector<std::optional<int>> gpus(options.gpus.begin(), options.gpus.end()),
      nodes(options.nodes.begin(), options.nodes.end());
  if (gpus.empty()) gpus.emplace_back();
  if (nodes.empty()) nodes.emplace_back();
  for (const auto& n : nodes)
    for (const auto& g : gpus) result.push_back({g, n});
  return result;
}

std::string words(const Size& size) {
  std::string text;
  if (size.gpus) text += fmt::format("{} GPU{}", *size.gpus, *size.gpus == 1 ? "" : "s");
  if (size.nodes) text += fmt::format("{}{} node{}", text.empty() ? "" : " on ", *size.nodes, *size.nodes == 1 ? "" : "s");
  return text;
}

Errors at_size(Errors errors, const Size& size) {
  for (Error& error : errors) error.message = fmt::format("{}: {}", words(size), error.message);
  return errors;
}

Result<Prediction> predict_size(Session& session, PredictOptions job, const Size& size, std::optional<int> global_batch) {
  job.gpus = size.gpus;
  job.nodes = size.nodes;
  if (global_batch) {
    if (!size.gpus) return fail("--fixed-global-batch needs --gpus: it divides the batch by them");
    if (*size.gpus > 0 && *global_batch % *size.gpus != 0)
      return fail(fmt::format("a batch of {} does not divide over {} GPUs", *global_batch, *size.gpus));
    if (*size.gpus > 0) job.batch = *global_batch / *size.gpus;
  }
  return predict(session, job);
}

/// A size whose memory does not hold its batch: the time is told all the same, as predict does.
void tell_misfit(const Prediction& p, const Size& size, std::vector<std::string>& misfits) {
  if (p.memory.fits) return;
  const auto fullest = std::max_element(p.memory.gpus.begin(), p.memory.gpus.end(),
                                        [](const GpuMemory& a, const GpuMemory& b) { return a.peak < b.peak; });
  misfits.push_back(fmt::format("{} (batch {}, {})", words(size), p.batch_per_gpu, format(fullest->peak)));
}

}  // namespace

std::string_view name(Scaling scaling) { return kScalings[static_cast<std::size_t>(scaling)]; }

Result<ScaleStudy> scale(Session& session, const ScaleOptions& options) {
  constexpr std::size_t kMostSizes = 10'000;
  const std::size_t asked = std::max<std::size_t>(options.gpus.size(), 1) * std::max<std::size_t>(options.nodes.size(), 1);
  if (asked > kMostSizes) return fail(fmt::format("{} sizes: scale takes at most {}, sweep any number", asked, kMostSizes));
  ScaleStudy study;
  study.samples = options.samples;
  study.scaling = options.scaling;
  const Size one{1, 1};
  auto alone = predict_size(session, options.job, one, std::nullopt);
  Errors errors;
  if (!alone) errors = at_size(alone.error(), one);
  if (options.samples < 1) errors.push_back({"how many samples has an epoch? name them with --samples, such as --samples 256K"});
  if (options.gpus.empty() && options.nodes.empty())
    errors.push_back({"no sizes named; use --gpus or --nodes, such as --gpus 1,2,4,8"});
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  study.one = std::move(*alone);
  study.one_epoch = estimate_epochs(study.one, options.samples, 1).total;
  const bool pipelined = study.one.exchange == "pipeline";
  if (pipelined && options.scaling == Scaling::weak)
    return fail("--weak: the stages of --exchange pipeline share one batch, so no data set grows with them; leave one out");
  std::optional<int> global_batch;
  // Every stage takes the whole batch, so nothing is to be divided.
  if (options.scaling == Scaling::fixed_global_batch && !pipelined) global_batch = study.one.batch_per_gpu;
  study.notices = study.one.notices;
  const bool several = std::any_of(options.nodes.begin(), options.nodes.end(), [](int nodes) { return nodes > 1; });
  if (several && study.one.exchange.rfind("ps", 0) == 0)
    study.notices.push_back(
        fmt::format("the GPU that all is held against has a server too (exchange {}); `network` holds nodes "
                    "against one that updates for itself where that is faster",
                    study.one.exchange));
  std::vector<std::string> misfits;
  tell_misfit(study.one, one, misfits);
  for (const Size& size : sizes(options)) {
    const auto p = predict_size(session, options.job, size, global_batch);
    if (!p) {
      const Errors here = at_size(p.error(), size);
      errors.insert(errors.end(), here.begin(), here.end());
      continue;
    }
    for (const std::string& notice : p->notices)
      if (std::find(study.notices.begin(), study.notices.end(), notice) == study.notices.end()) study.notices.push_back(notice);
    if (p->gpus > 1) tell_misfit(*p, {p->gpus, p->nodes}, misfits);
    const std::int64_t growth = options.scaling == Scaling::weak ? p->gpus : 1;
    ScaleRow row{p->gpus, p->nodes, p->batch_per_gpu, p->step_time, {}, {}, 1, p->stages, p->limit};
    row.epoch_time = estimate_epochs(*p, growth * options.samples, 1).total;
    row.speedup = speedup_range(*p, study.one, static_cast<double>(growth) * (study.one_epoch.value / row.epoch_time.value),
                                1.0 - p->start_up / row.epoch_time.value, 1.0 - study.one.start_up / study.one_epoch.value);
    row.efficiency = row.speedup.value / p->gpus;
    study.rows.push_back(std::move(row));
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  if (std::any_of(study.rows.begin(), study.rows.end(), [](const ScaleRow& row) { return row.nodes > 1; }))
    std::erase_if(study.notices, is_one_node_notice);
  if (!misfits.empty())
    study.notices.push_back(
        fmt::format("more memory than the {} of a GPU: {}", format(study.one.memory.capacity), fmt::join(misfits, "; ")));
  return study;
}

}  // namespace tbdsim
