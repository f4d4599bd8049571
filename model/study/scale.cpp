#include "model/study/scale.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "model/configuration/configure.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/prediction/epoch.hpp"
#include "model/study/speedup.hpp"
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

/// The least GPUs that hold a network: those of one copy, and as many copies as its experts are spread over.
std::int64_t least_gpus(const PredictOptions& job) {
  const auto ranks = [](const std::optional<int>& asked) { return std::max(1, asked.value_or(1)); };
  const std::int64_t shared = std::int64_t{ranks(job.tensor_parallel)} * ranks(job.context_parallel);
  const std::int64_t experts = ranks(job.expert_parallel) == 1
                                   ? 1
                                   : std::int64_t{ranks(job.expert_parallel)} *
                                         ranks(job.expert_tensor_parallel ? job.expert_tensor_parallel : job.tensor_parallel);
  return std::lcm(shared, experts) * ranks(job.pipeline_parallel);
}

/// What everything is held against: one GPU, or the least number that hold a divided network and fill nodes.
Size reference(Session& session, const PredictOptions& options) {
  const std::int64_t least = least_gpus(options);
  if (least <= 1) return {1, 1};
  constexpr std::int64_t kMostCopies = 8;
  for (std::int64_t copies = 1; copies <= kMostCopies; ++copies) {
    if (least * copies > std::numeric_limits<int>::max()) break;
    PredictOptions job = options;
    job.gpus = static_cast<int>(least * copies);
    job.nodes.reset();
    if (configure(session, job)) return {job.gpus, std::nullopt};
  }
  return {static_cast<int>(std::min<std::int64_t>(least, std::numeric_limits<int>::max())), std::nullopt};
}

/// Doublings of what is held against up to the whole machine; empty: it has no more GPUs, or is not known.
std::vector<int> sizes_of_machine(Session& session, const PredictOptions& job, const Size& one) {
  const auto system = session.system(job.hardware, 1);
  const int least = one.gpus.value_or(1);
  if (!*system || (**system).gpu_count <= least) return {};
  std::vector<int> sizes;
  for (int gpus = least; gpus < (**system).gpu_count; gpus *= 2) sizes.push_back(gpus);
  if ((**system).gpu_count % least == 0) sizes.push_back((**system).gpu_count);
  return sizes;
}

/// What stays as the machine grows; nothing: the batch per GPU does.
struct Kept {
  std::optional<int> batch;         ///< of all GPUs, divided over them
  std::optional<int> global_batch;  ///< of one update: micro-batches are divided over the copies
};

Result<Prediction> predict_size(Session& session, PredictOptions job, const Size& size, const Kept& kept) {
  job.gpus = size.gpus;
  job.nodes = size.nodes;
  if (kept.global_batch) {
    job.global_batch = kept.global_batch;
    job.accumulate.reset();
  }
  if (const std::optional<int>& global_batch = kept.batch) {
    if (!size.gpus) return fail("--fixed-global-batch needs --gpus: it divides the batch by them");
    if (*size.gpus > 0 && *global_batch % *size.gpus != 0)
      return fail(fmt::format("a batch of {} does not divide over {} GPUs", *global_batch, *size.gpus));
    if (*size.gpus > 0) job.batch = *global_batch / *size.gpus;
  }
  return predict(session, job);
}

constexpr std::array kPhaseTimes{&PhaseTimes::forward,
                                 &PhaseTimes::backward,
                                 &PhaseTimes::weight_update,
                                 &PhaseTimes::metric,
                                 &PhaseTimes::exchange_total,
                                 &PhaseTimes::exchange_exposed,
                                 &PhaseTimes::input_exposed,
                                 &PhaseTimes::host_exposed,
                                 &PhaseTimes::bubble,
                                 &PhaseTimes::host_forward,
                                 &PhaseTimes::host_backward,
                                 &PhaseTimes::host_update,
                                 &PhaseTimes::weight_update_total,
                                 &PhaseTimes::offload,
                                 &PhaseTimes::exchange_in_backward};

PhaseTimes times(double count, PhaseTimes phases) {
  for (const auto time : kPhaseTimes) phases.*time = count * (phases.*time);
  return phases;
}

/// Of one epoch over the same samples.
PhaseSpeedups phase_speedups(const PhaseTimes& alone, const PhaseTimes& here) {
  const auto ratio = [&](Seconds PhaseTimes::*phase) {
    const bool both = alone.*phase > Seconds(0.0) && here.*phase > Seconds(0.0);
    return both ? std::optional<double>(alone.*phase / (here.*phase)) : std::nullopt;
  };
  return {ratio(&PhaseTimes::forward),     ratio(&PhaseTimes::backward),         ratio(&PhaseTimes::weight_update_total),
          ratio(&PhaseTimes::metric),      ratio(&PhaseTimes::exchange_exposed), ratio(&PhaseTimes::input_exposed),
          ratio(&PhaseTimes::host_exposed)};
}

/// How many times as many GPUs as are held against.
double times_as_many(const Prediction& p, const Prediction& one) { return static_cast<double>(p.job.gpus) / one.job.gpus; }

/// What an epoch of `samples` on one GPU is at this size; `grows`: the row's own has as many times as many samples as GPUs.
void tell_epoch(const Prediction& p, const Prediction& one, std::int64_t samples, bool grows, ScaleRow& row) {
  const std::int64_t all = samples * p.job.gpus / one.job.gpus;
  const EpochEstimate alone = estimate_epochs(one, samples, 1), strong = estimate_epochs(p, samples, 1),
                      weak = estimate_epochs(p, all, 1), own = grows ? weak : strong;
  row.epoch_time = own.epoch;
  row.start_up = own.start_up;
  row.batches = own.steps;
  const auto steps = static_cast<double>(own.steps);
  row.epoch_phases = times(steps, p.phases);
  row.phase_speedups =
      phase_speedups(times(static_cast<double>(alone.steps), one.phases), times(static_cast<double>(strong.steps), p.phases));
  row.strong_epoch = strong.epoch.value;
  row.weak_epoch = weak.epoch.value;
  row.weak_saving = 1.0 - weak.epoch.value / (times_as_many(p, one) * strong.epoch.value);
  row.gradients = p.exchanged.bytes;
  row.epoch_gradients = steps * p.exchanged.bytes;
}

void tell_memory(const Prediction& p, ScaleRow& row) {
  row.first_gpu_peak = row.least_peak = p.memory.gpus.front().peak;
  for (const GpuMemory& gpu : p.memory.gpus) row.least_peak = std::min(row.least_peak, gpu.peak);
}

/// Sizes that need more memory than a GPU, or than the host of a node.
struct Misfits {
  std::vector<std::string> gpus, hosts;
};

/// A size whose memory does not hold its batch: the time is told all the same, as predict does.
void tell_misfit(const Prediction& p, const Size& size, Misfits& misfits) {
  if (p.memory.fits) return;
  if (p.memory.host && !p.memory.host->fits) {
    misfits.hosts.push_back(fmt::format("{} (batch {}, {})", words(size), p.job.batch_per_gpu, format(p.memory.host->needed)));
    return;
  }
  const auto fullest = std::max_element(p.memory.gpus.begin(), p.memory.gpus.end(),
                                        [](const GpuMemory& a, const GpuMemory& b) { return a.peak < b.peak; });
  misfits.gpus.push_back(fmt::format("{} (batch {}, {})", words(size), p.job.batch_per_gpu, format(fullest->peak)));
}

/// What of the options no machine could answer.
Errors impossible(const ScaleOptions& options) {
  constexpr std::size_t kMostSizes = 10'000;
  const std::size_t asked = std::max<std::size_t>(options.gpus.size(), 1) * std::max<std::size_t>(options.nodes.size(), 1);
  if (asked > kMostSizes) return {Error{fmt::format("{} sizes: scale takes at most {}, sweep any number", asked, kMostSizes)}};
  if (options.job.global_batch && options.scaling == Scaling::weak)
    return {Error{"--weak: the batch of an update grows with the GPUs; leave out --global-batch, or --weak"}};
  return {};
}

/// A study without rows: `one` predicted, which all is held against.
Result<ScaleStudy> begun(Session& session, const ScaleOptions& options, const Size& one) {
  ScaleStudy study;
  study.samples = options.samples;
  study.scaling = options.scaling;
  auto alone = predict_size(session, options.job, one, {});
  Errors errors;
  if (!alone) errors = at_size(alone.error(), one);
  if (options.samples < 1) errors.push_back({"how many samples has an epoch? name them with --samples, such as --samples 256K"});
  if (alone && options.gpus.empty() && options.nodes.empty())
    errors.push_back(
        {fmt::format("no sizes named, and {} has no more GPUs than one copy of the network takes; use --gpus or "
                     "--nodes, such as --gpus 1,2,4,8",
                     options.job.hardware)});
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  study.one = std::move(*alone);
  study.one_epoch = estimate_epochs(study.one, options.samples, 1).epoch;
  study.notices = study.one.notices;
  std::erase(study.notices, study.one.cost.price.note);
  const bool several = std::any_of(options.nodes.begin(), options.nodes.end(), [](int nodes) { return nodes > 1; });
  if (several && info(study.one.job.exchange).parameter_servers)
    study.notices.push_back(
        fmt::format("the GPU that all is held against has a server too (exchange {}); `network` holds nodes "
                    "against one that updates for itself where that is faster",
                    name(study.one.job.exchange)));
  return study;
}

Kept kept_by(const ScaleStudy& study) {
  if (study.scaling != Scaling::fixed_global_batch) return {};
  if (study.one.division.layout.divides_network()) return {std::nullopt, study.one.job.global_batch};
  return {study.one.job.batch_per_gpu, std::nullopt};
}

ScaleRow row_of(const Prediction& p, const ScaleStudy& study) {
  const bool grows = study.scaling == Scaling::weak;
  ScaleRow row;
  row.gpus = p.job.gpus;
  row.nodes = p.job.nodes;
  row.batch_per_gpu = p.job.batch_per_gpu;
  row.copies = p.division.layout.data;
  row.micro_batches = p.division.micro_batches;
  row.step_time = p.step_time;
  row.phases = p.phases;
  row.limit = p.limit;
  tell_epoch(p, study.one, study.samples, grows, row);
  tell_memory(p, row);
  const double growth = grows ? times_as_many(p, study.one) : 1.0;
  row.speedup = speedup_range(p, study.one, growth * (study.one_epoch.value / row.epoch_time.value),
                              1.0 - p.start_up / row.epoch_time.value, 1.0 - study.one.start_up / study.one_epoch.value);
  row.efficiency = row.speedup.value / times_as_many(p, study.one);
  return row;
}

}  // namespace

std::string_view name(Scaling scaling) { return kScalings[static_cast<std::size_t>(scaling)]; }

Result<ScaleStudy> scale(Session& session, const ScaleOptions& asked) {
  if (Errors refused = impossible(asked); !refused.empty()) return tl::make_unexpected(std::move(refused));
  const Size one = reference(session, asked.job);
  ScaleOptions options = asked;
  if (options.gpus.empty() && options.nodes.empty()) options.gpus = sizes_of_machine(session, options.job, one);
  Result<ScaleStudy> made = begun(session, options, one);
  if (!made) return made;
  ScaleStudy& study = *made;
  const Kept kept = kept_by(study);
  Errors errors;
  Misfits misfits;
  tell_misfit(study.one, one, misfits);
  const std::vector<Size> all = sizes(options);
  begin(options.progress, "sizes", all.size());
  for (const Size& size : all) {
    const auto p = predict_size(session, options.job, size, kept);
    add_one(options.progress);
    if (!p) {
      const Errors here = at_size(p.error(), size);
      errors.insert(errors.end(), here.begin(), here.end());
      continue;
    }
    // What an hour costs is no part of the table.
    for (const std::string& notice : p->notices)
      if (notice != p->cost.price.note && std::find(study.notices.begin(), study.notices.end(), notice) == study.notices.end())
        study.notices.push_back(notice);
    if (p->job.gpus > study.one.job.gpus) tell_misfit(*p, {p->job.gpus, p->job.nodes}, misfits);
    study.rows.push_back(row_of(*p, study));
  }
  if (study.rows.empty()) return tl::make_unexpected(errors);
  for (const Error& error : errors) study.notices.push_back("left out: " + error.message);
  if (std::any_of(study.rows.begin(), study.rows.end(), [](const ScaleRow& row) { return row.nodes > 1; }))
    std::erase_if(study.notices, is_one_node_notice);
  if (std::any_of(study.rows.begin(), study.rows.end(), [](const ScaleRow& row) { return row.copies > 1; }))
    std::erase_if(study.notices, is_one_copy_notice);
  if (!misfits.gpus.empty())
    study.notices.push_back(
        fmt::format("more memory than the {} of a GPU: {}", format(study.one.memory.capacity), fmt::join(misfits.gpus, "; ")));
  if (!misfits.hosts.empty())
    study.notices.push_back(fmt::format("more memory than a node's host has: {}", fmt::join(misfits.hosts, "; ")));
  return made;
}

namespace {

/// One study of a table: its options and what it is called there.
struct Case {
  ScaleOptions options;
  std::string label;
};

std::vector<Case> cases(const ScaleOptions& options, const ScaleLists& lists) {
  std::vector<Case> all{{options, ""}};
  const auto vary = [&](const auto& values, const auto& set, const auto& text) {
    if (values.empty()) return;
    std::vector<Case> next;
    for (const Case& each : all) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        next.push_back(each);
        set(next.back().options.job, i);
        if (values.size() > 1) next.back().label += (each.label.empty() ? "" : ", ") + text(values[i]);
      }
    }
    all = std::move(next);
  };
  const auto plain = [](const std::string& text) { return text; };
  vary(
      lists.models,
      [&](PredictOptions& job, std::size_t i) {
        job.model = lists.models[i];
        if (!lists.images.empty()) job.image = lists.images[lists.images.size() > 1 ? i : 0];
      },
      plain);
  vary(
      lists.batches, [&](PredictOptions& job, std::size_t i) { job.batch = lists.batches[i]; },
      [](int batch) { return fmt::format("batch {}", batch); });
  vary(
      lists.exchanges, [&](PredictOptions& job, std::size_t i) { job.exchange = lists.exchanges[i]; }, plain);
  return all;
}

/// Sets each study against that of the first exchange of the same network and batch. Expects `exchanges` studies of each.
void tell_overhead(std::vector<std::optional<ScaleStudy>>& studies, std::size_t exchanges) {
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const auto& first = studies[i - i % exchanges];
    if (!studies[i] || !first || i % exchanges == 0) continue;
    for (std::size_t row = 0; row < studies[i]->rows.size(); ++row) {
      ScaleRow& here = studies[i]->rows[row];
      const auto same = std::find_if(first->rows.begin(), first->rows.end(),
                                     [&](const ScaleRow& other) { return other.gpus == here.gpus && other.nodes == here.nodes; });
      if (same != first->rows.end()) here.overhead = here.epoch_time.value / same->epoch_time.value - 1.0;
    }
  }
}

}  // namespace

Result<ScaleTable> scale_table(Session& session, const ScaleOptions& options, const ScaleLists& lists) {
  if (lists.images.size() > 1 && lists.images.size() != lists.models.size())
    return fail(fmt::format("--image: {} sides for {} network{}: expected one for all, or one for each", lists.images.size(),
                            lists.models.size(), lists.models.size() == 1 ? "" : "s"));
  std::vector<Case> all = cases(options, lists);
  Progress* const progress = all.size() > 1 ? options.progress : nullptr;
  begin(progress, "studies", all.size());
  for (Case& one : all)
    if (progress != nullptr) one.options.progress = nullptr;
  std::vector<std::optional<ScaleStudy>> studies(all.size());
  std::vector<Errors> errors(all.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto made = scale(session, all[i].options);
    if (made)
      studies[i] = std::move(*made);
    else
      errors[i] = made.error();
    add_one(progress);
  }
  if (std::none_of(studies.begin(), studies.end(), [](const auto& s) { return s.has_value(); }))
    return tl::make_unexpected(errors.front());
  tell_overhead(studies, std::max<std::size_t>(lists.exchanges.size(), 1));
  ScaleTable table;
  std::set<std::pair<std::string, std::string>> told;  // network, message
  table.several_models = lists.models.size() > 1;
  table.several_batches = lists.batches.size() > 1;
  table.several_exchanges = lists.exchanges.size() > 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Error& error : errors[i])
      if (told.emplace(all[i].options.job.model, error.message).second) table.problems.push_back({all[i].label, error.message});
    if (!studies[i]) continue;
    for (const std::string& notice : studies[i]->notices)
      if (std::find(table.notices.begin(), table.notices.end(), notice) == table.notices.end()) table.notices.push_back(notice);
    table.studies.push_back(std::move(*studies[i]));
  }
  return table;
}

}  // namespace tbdsim
