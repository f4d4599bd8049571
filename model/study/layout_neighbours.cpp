#include "model/study/layout_neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/configuration/choose_layout.hpp"
#include "model/configuration/configure.hpp"
#include "model/schedule/pipeline/schedule_kind.hpp"

namespace tbdsim {
namespace {

struct Neighbour {
  std::string options, changes;
  PredictOptions job;
};

/// Makes the jobs that differ from one in one thing.
class Neighbours {
 public:
  /// `stages`: those of ZeRO that the framework has.
  Neighbours(const PredictOptions& options, const Prediction& base, std::vector<int> stages)
      : options_(options), base_(base), stages_(std::move(stages)) {
    // The update stays as large, whatever becomes of the number of copies.
    options_.global_batch = base.job.global_batch;
    options_.accumulate.reset();
    options_.detail = false;
  }

  [[nodiscard]] std::vector<Neighbour> all() {
    const Layout& l = base_.division.layout;
    axis(Axis::tensor, l.tensor, &PredictOptions::tensor_parallel);
    axis(Axis::context, l.context, &PredictOptions::context_parallel);
    axis(Axis::expert, l.expert, &PredictOptions::expert_parallel);
    axis(Axis::pipeline, l.pipeline, &PredictOptions::pipeline_parallel);
    sequence();
    if (l.pipeline > 1) {
      const auto own = pipeline::parse_schedule(base_.division.schedule);
      const bool fixed = own && pipeline::info(*own).chunks > 1;
      if (!fixed) widths(l.virtual_stages, [&](int n) { add_virtual(n); });
      schedules(own);
    }
    widths(base_.job.batch_per_gpu, [&](int n) {
      PredictOptions job = options_;
      job.batch = n;
      add(fmt::format("--batch {}", n), fmt::format("micro-batch {}", n), std::move(job));
    });
    words("--recompute", {"none", "selective", "layer"}, base_.division.recompute, &PredictOptions::recompute);
    if (l.data * l.context > 1)
      for (const int stage : stages_) {
        PredictOptions job = options_;
        job.zero = stage;
        if (stage != base_.division.zero) add(fmt::format("--zero {}", stage), fmt::format("ZeRO {}", stage), std::move(job));
      }
    return std::move(neighbours_);
  }

 private:
  void add(std::string options, std::string changes, PredictOptions job) {
    neighbours_.push_back({std::move(options), std::move(changes), std::move(job)});
  }

  /// Twice and half as many.
  template <class Make>
  void widths(int now, Make make) {
    if (now <= std::numeric_limits<int>::max() / 2) make(2 * now);
    if (now % 2 == 0) make(now / 2);
  }

  /// Numbers of layers by hand are of one number of stages.
  static void divide_evenly(PredictOptions& job) {
    job.first_stage_layers = job.last_stage_layers = std::nullopt;
    job.stage_layers.clear();
  }

  void axis(Axis axis, int now, std::optional<int> PredictOptions::*option) {
    widths(now, [&](int n) {
      if (n > base_.job.gpus) return;
      PredictOptions job = options_;
      job.*option = n;
      const bool follows = axis == Axis::tensor && n == 1;  // what the axis alone can have goes with it
      if (follows) job.sequence_parallel.clear();
      if (axis == Axis::pipeline && n == 1) {
        job.virtual_stages.reset();
        job.schedule.clear();
      }
      if (axis == Axis::pipeline) divide_evenly(job);
      if (axis == Axis::expert && n == 1) job.expert_tensor_parallel.reset();
      add(fmt::format("{} {}", info(axis).option, n), fmt::format("{} {}", name(axis), n), std::move(job));
    });
  }

  void sequence() {
    if (base_.division.layout.tensor == 1) return;
    PredictOptions job = options_;
    job.sequence_parallel = base_.division.layout.sequence ? "off" : "on";
    const std::string now = job.sequence_parallel;
    add("--sequence-parallel " + now, "sequence parallel " + now, std::move(job));
  }

  void add_virtual(int stages) {
    PredictOptions job = options_;
    job.virtual_stages = stages;
    divide_evenly(job);
    // The plain and the interleaved order are what the number of parts asks for.
    const auto own = pipeline::parse_schedule(base_.division.schedule);
    if (own == pipeline::ScheduleKind::one_f_one_b || own == pipeline::ScheduleKind::interleaved) job.schedule.clear();
    add(fmt::format("--virtual-stages {}", stages), fmt::format("{} parts a GPU", stages), std::move(job));
  }

  void schedules(std::optional<pipeline::ScheduleKind> own) {
    for (const pipeline::ScheduleInfo& schedule : pipeline::schedules()) {
      if (own == schedule.kind || schedule.kind == pipeline::ScheduleKind::interleaved) continue;
      PredictOptions job = options_;
      job.schedule = schedule.name;
      job.virtual_stages.reset();
      divide_evenly(job);
      add(fmt::format("--schedule {}", schedule.name), fmt::format("schedule {}", schedule.name), std::move(job));
    }
  }

  void words(const char* flag, std::initializer_list<const char*> values, const std::string& now,
             std::string PredictOptions::*option) {
    for (const char* value : values) {
      if (now == value) continue;
      PredictOptions job = options_;
      job.*option = value;
      add(fmt::format("{} {}", flag, value), fmt::format("recompute {}", value), std::move(job));
    }
  }

  PredictOptions options_;
  const Prediction& base_;
  std::vector<int> stages_;
  std::vector<Neighbour> neighbours_;
};

/// What a framework lacks for the schedule that a change brings; empty: nothing.
std::string lacking(const Stack& stack, const PredictOptions& now, const PredictOptions& changed) {
  const PipelineSettings& pipeline = stack.parallel.pipeline;
  const bool lacks = !changed.schedule.empty() && changed.schedule != now.schedule && !pipeline.has(changed.schedule);
  return lacks ? fmt::format("{} has {} alone", stack.id, pipeline.schedules) : "";
}

LayoutOutcome outcome_of(Session& session, const Neighbour& neighbour, const Prediction& base) {
  LayoutOutcome outcome;
  outcome.options = neighbour.options;
  outcome.changes = neighbour.changes;
  const auto p = predict(session, neighbour.job);
  if (!p) {
    outcome.problem = p.error().front().message;
    return outcome;
  }
  outcome.gain = p->throughput.value / base.throughput.value - 1.0;
  outcome.fits = p->memory.fits;
  outcome.step_time = p->step_time;
  for (const GpuMemory& gpu : p->memory.gpus) outcome.peak = std::max(outcome.peak, gpu.peak);
  return outcome;
}

}  // namespace

std::vector<LayoutOutcome> neighbouring_layouts(Session& session, const PredictOptions& options, const Prediction& base,
                                                Progress* progress) {
  const auto configured = configure(session, options);
  std::vector<int> stages = configured ? zero_stages(configured->stack) : std::vector{0};
  const std::vector<Neighbour> neighbours = Neighbours(options, base, std::move(stages)).all();
  std::vector<LayoutOutcome> outcomes(neighbours.size());
  begin(progress, "neighbouring layouts", neighbours.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    outcomes[i] = outcome_of(session, neighbours[i], base);
    if (configured) outcomes[i].note = lacking(configured->stack, options, neighbours[i].job);
    add_one(progress);
  }
  std::stable_sort(outcomes.begin(), outcomes.end(), [](const LayoutOutcome& a, const LayoutOutcome& b) {
    if (a.problem.empty() != b.problem.empty()) return a.problem.empty();
    if (a.fits != b.fits) return a.fits;
    return a.gain > b.gain;
  });
  return outcomes;
}

}  // namespace tbdsim
