// Long because values of the axes, their order and what is kept of them belong together.
#include "model/plan/search.hpp"

#include <fmt/format.h>

#ifdef _OPENMP  // the web page has one thread
#include <omp.h>
#endif

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "model/configuration/choose_layout.hpp"
#include "model/prediction/memory_estimate.hpp"
#include "model/prediction/step_prediction.hpp"
#include "model/workload/shard.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim::plan {
namespace {

using pipeline::ScheduleKind;

/// `FastMemory::held` leaves out what the allocator keeps, and is seldom more than a twentieth too high: beyond, a layout does
/// not fit, up to there `predict` decides.
constexpr double kSurelyTooMuch = 1.05;
/// Families are tried first, so many at once, to learn which time the others have to beat, until it falls by less than 5 %.
/// Both are chosen for speed. What is found does not depend on them.
constexpr std::size_t kSeedFamilies = 16;
constexpr double kSettled = 0.95;
/// Of what a sample takes in the largest micro-batch of a family, what it takes at least in a smaller one. Larger ones share
/// launches, weights and latencies among more samples; where tiles fill the multiprocessors unevenly, a smaller one may gain.
/// Assumed; a test holds it over several networks and boards.
constexpr double kEvenTiles = 0.8;
const Seconds kNoLimit(HUGE_VAL);

std::size_t most_threads() {
#ifdef _OPENMP
  return static_cast<std::size_t>(omp_get_max_threads());
#else
  return 1;
#endif
}

std::vector<int> divisors(int number) {
  std::vector<int> all;
  for (int i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    all.push_back(i);
    if (i != number / i) all.push_back(number / i);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<int> kept_or(const std::optional<int>& kept, std::vector<int> values) {
  return kept ? std::vector<int>{*kept} : std::move(values);
}

std::vector<int> kept_or_divisors(const std::optional<int>& kept, int number) {
  return kept ? std::vector<int>{*kept} : divisors(number);
}

/// Experts of a layer; 1: the network has none.
int experts_of(const OpGraph& graph) {
  for (const Op& op : graph.ops)
    if (const auto* experts = std::get_if<GroupedLinearAttributes>(&op.attributes)) return static_cast<int>(experts->experts);
  return 1;
}

/// Numbers of parts of the network on each rank of a pipeline.
std::vector<int> virtual_stages(ScheduleKind kind, int layers, int ranks, const std::optional<int>& kept) {
  const int fixed = pipeline::info(kind).chunks;
  if (fixed > 0) return kept && *kept != fixed ? std::vector<int>{} : std::vector<int>{fixed};
  if (kept) return {*kept};
  std::vector<int> values;
  for (const int v : divisors((layers + ranks - 1) / ranks))
    if (v > 1 && v <= pipeline::kMostChunks && v * ranks <= layers) values.push_back(v);
  return values;
}

}  // namespace

/// Tries the layouts of one unit after the other, for one thread.
class Search::Worker {
 public:
  explicit Worker(const Search& search)
      : search_(search),
        configuration_(search.base_),
        options_(search.job_),
        step_(search.base_, search.kernels_),
        memory_(search.base_, search.kernels_.at(0)) {}

  struct Result {
    std::vector<Candidate> nearest;
    Front front;
    PlanCounts counts;
    std::optional<Candidate> smallest;
    Errors refusals;

    /// As what unit number `unit` has found.
    [[nodiscard]] Found as_found(std::size_t unit) && {
      Found found{std::move(nearest), std::move(front), counts, std::move(smallest), std::move(refusals)};
      found.refused_at.second = unit;
      return found;
    }
  };

  /// Time that no layout of a family goes below; 0: not known.
  Seconds bound(const Layout& family) {
    move_to(family);
    for (auto batch = search_.batches_.rbegin(); batch != search_.batches_.rend(); ++batch) {
      const Unit unit{family, *batch};
      set(unit);
      options_.schedule.clear();
      options_.virtual_stages.reset();
      for (const int ranks : search_.pipelines_) {
        if (!divides(unit, ranks) || surely_refused(unit, ranks)) continue;
        options_.pipeline_parallel = ranks;
        const auto whole = bound_at(search_.zeros_.front());
        if (!whole) continue;
        // Where ranks divide gradients, fewer are added, unless the stack says how many.
        const bool alike = search_.base_.stack.parallel.gradients.sum > Bytes(0.0) || search_.zeros_.size() == 1;
        if (alike || *whole == Seconds(0.0)) return *whole;
        return std::min(*whole, bound_at(search_.zeros_.back()).value_or(*whole));
      }
    }
    return Seconds(0.0);
  }

  /// The same of the options at hand at a ZeRO stage; nothing where they are refused.
  std::optional<Seconds> bound_at(int zero) {
    options_.zero = zero;
    if (!choose_division(options_, configuration_).empty()) return std::nullopt;
    const auto& share = step_.share(configuration_.layout);
    if (!share) return std::nullopt;
    configuration_.recompute = search_.recomputes_.front();  // the one that computes least again
    const bool pairs = searched(pipeline::info(ScheduleKind::dualpipe));
    return configuration_.by_layers() ? kEvenTiles * step_.least(configuration_, *share, pairs) : Seconds(0.0);
  }

  /// Tries the layouts of a unit. `limit`: slower ones are not kept; 0: all are only counted. `told`: why a layout was refused is
  /// known of an earlier unit, and not asked of this one.
  [[nodiscard]] Result run(const Unit& unit, std::size_t most, Seconds limit, bool told) {
    Result result;
    move_to(unit.layout);
    set(unit);
    limit_ = limit;
    for (const int ranks : search_.pipelines_) {
      if (!divides(unit, ranks)) continue;
      // The reasons of many refusals take longer to put in words than layouts take to try.
      if ((told || !result.refusals.empty()) && surely_refused(unit, ranks)) continue;
      try_pipeline(ranks, most, result);
    }
    keep_fastest(result.nearest, most, search_.capacity_);
    return result;
  }

  /// The recurrence of a layout.
  void refine(Candidate& candidate) {
    set({candidate.layout, candidate.batch});
    options_.pipeline_parallel = candidate.layout.pipeline;
    options_.virtual_stages = candidate.layout.virtual_stages;
    options_.schedule = candidate.layout.pipeline > 1 ? std::string(name(candidate.schedule)) : "";
    options_.zero = candidate.zero;
    if (!choose_division(options_, configuration_).empty()) return;
    configuration_.recompute = candidate.recompute;
    if (!configuration_.by_layers()) return;
    if (const auto time = step_.time(configuration_, Depth::recurrence)) candidate.time = *time;
  }

 private:
  void move_to(const Layout& layout) {
    if (layout.tensor == at_.tensor && layout.context == at_.context && layout.expert == at_.expert &&
        layout.expert_tensor == at_.expert_tensor)
      return;
    step_.forget();
    memory_.forget();
    at_ = layout;
  }

  /// Whether copies of so many ranks use all GPUs and whole micro-batches.
  [[nodiscard]] bool divides(const Unit& unit, int ranks) const {
    if (unit.layout.tensor < 1 || unit.layout.context < 1 || unit.batch < 1 || ranks < 1) return false;
    const std::int64_t replica = std::int64_t{unit.layout.tensor} * unit.layout.context * ranks;
    if (replica > search_.base_.gpus || search_.base_.gpus % replica != 0) return false;
    return *options_.global_batch % (search_.base_.gpus / replica * unit.batch) == 0;
  }

  /// Whether no schedule and no sharding makes a layout of this: experts, heads or positions that do not divide, or more ranks
  /// than layers. Expects a unit that is set and that so many ranks divide.
  [[nodiscard]] bool surely_refused(const Unit& unit, int ranks) {
    const Layout& layout = unit.layout;
    if (layout.expert > 1 && search_.base_.gpus / ranks % (std::int64_t{layout.expert} * layout.expert_tensor) != 0) return true;
    const auto& share = family_share();
    return !share || ranks > share->stage_layers();
  }

  void set(const Unit& unit) {
    options_.tensor_parallel = unit.layout.tensor;
    options_.context_parallel = unit.layout.context;
    options_.expert_parallel = unit.layout.expert;
    options_.expert_tensor_parallel.reset();
    if (unit.layout.expert > 1) options_.expert_tensor_parallel = unit.layout.expert_tensor;
    options_.batch = unit.batch;
    // Of a job without tensor parallelism there is nothing to divide.
    options_.sequence_parallel = unit.layout.tensor > 1 ? search_.job_.sequence_parallel : "";
  }

  void try_pipeline(int ranks, std::size_t most, Result& result) {
    options_.pipeline_parallel = ranks;
    options_.schedule.clear();
    options_.virtual_stages.reset();
    if (ranks == 1) {
      if (search_.job_.virtual_stages.value_or(1) > 1 || !search_.job_.schedule.empty()) return;
      try_sharding(most, result);
      return;
    }
    for (const pipeline::ScheduleInfo& schedule : pipeline::schedules()) {
      if (!searched(schedule)) continue;
      if (schedule.kind == ScheduleKind::interleaved && search_.job_.virtual_stages.value_or(2) == 1) continue;
      // Layers of the network, whatever the share.
      for (const int v : virtual_stages(schedule.kind, layers(result), ranks, search_.job_.virtual_stages)) {
        options_.schedule = schedule.name;
        options_.virtual_stages = v;
        try_sharding(most, result);
      }
    }
  }

  /// The schedule that is kept, else those that the framework has.
  [[nodiscard]] bool searched(const pipeline::ScheduleInfo& schedule) const {
    const std::string& kept = search_.job_.schedule;
    if (!kept.empty()) return pipeline::parse_schedule(kept) == schedule.kind;
    return search_.every_schedule_ || search_.base_.stack.parallel.pipeline.has(schedule.name);
  }

  /// What a rank of the family at hand computes.
  [[nodiscard]] const tbdsim::Result<RankShare>& family_share() { return step_.share(search_.as_divided(at_)); }

  [[nodiscard]] int layers(Result& result) {
    const auto& share = family_share();
    if (share) return share->stage_layers();
    refuse(share.error(), result);
    return 0;
  }

  static void refuse(const Errors& errors, Result& result) {
    if (result.refusals.empty()) result.refusals = errors;
  }

  void try_sharding(std::size_t most, Result& result) {
    for (const int zero : search_.zeros_) {
      options_.zero = zero;
      if (const Errors errors = choose_division(options_, configuration_); !errors.empty()) {
        refuse(errors, result);
        continue;
      }
      // Nothing is divided over one copy, and stages of a pipeline keep what is gathered at either stage of ZeRO.
      const Layout& layout = configuration_.layout;
      if (zero > 0 && !search_.job_.zero && layout.data * layout.context == 1) continue;
      if (zero == 2 && zero < search_.zeros_.back() && configuration_.gathers_by_layer() && layout.pipeline > 1 &&
          configuration_.stack.parallel.shards.beside_stages)
        continue;
      const auto& share = step_.share(configuration_.layout);
      if (!share) {
        refuse(share.error(), result);
        return;
      }
      if (configuration_.pipeline_stages() > share->stage_layers()) {
        refuse({{fmt::format("{} stages, and {} has {} layers", configuration_.pipeline_stages(), share->graph.name,
                             share->stage_layers())}},
               result);
        return;
      }
      const StagePlaces& stages = step_.places(configuration_, *share);
      for (const Recompute recompute : search_.recomputes_) {
        configuration_.recompute = recompute;
        try_one(*share, stages, most, result);
      }
    }
  }

  void try_one(const RankShare& share, const StagePlaces& stages, std::size_t most, Result& result) {
    ++result.counts.tried;
    const bool by_layers = configuration_.by_layers();
    const bool pairs = pipeline::info(configuration_.schedule).placement == pipeline::Placement::two_way;
    if (limit_ == Seconds(0.0) || (limit_ < kNoLimit && by_layers && step_.least(configuration_, share, pairs) > limit_)) return;
    const Bytes too_much = kSurelyTooMuch * search_.capacity_;
    if (const Bytes arrays = memory_.arrays(configuration_, share, stages);
        arrays > too_much && result.smallest && arrays >= result.smallest->memory) {
      ++result.counts.out_of_memory;
      return;
    }
    Candidate candidate{configuration_.layout,
                        configuration_.schedule,
                        configuration_.recompute,
                        configuration_.batch,
                        configuration_.zero,
                        Seconds(0.0),
                        Bytes(0.0)};
    // Where no time is known to beat, memory is the cheaper question.
    const auto fits = [&] {
      candidate.memory = memory_.held(configuration_, share, stages);
      if (candidate.memory <= too_much) return true;
      ++result.counts.out_of_memory;
      if (!result.smallest || candidate.memory < result.smallest->memory) result.smallest = candidate;
      return false;
    };
    const bool memory_first = limit_ == kNoLimit;
    if (memory_first && !fits()) return;
    if (by_layers) {
      const auto time = step_.time(configuration_, Depth::closed_form);
      if (!time) return refuse(time.error(), result);
      candidate.time = *time;
    } else {
      const auto prediction = predict_step(configuration_, false, nullptr);
      if (!prediction) return refuse(prediction.error(), result);
      candidate.time = prediction->step_time.value;
    }
    if (candidate.time > limit_ || (!memory_first && !fits())) return;
    ++result.counts.timed;
    result.front.add(candidate.time, candidate.memory);
    result.nearest.push_back(candidate);
    if (result.nearest.size() >= 4 * most) keep_fastest(result.nearest, most, search_.capacity_);
  }

  const Search& search_;
  Configuration configuration_;
  PredictOptions options_;
  FastStep step_;
  FastMemory memory_;
  Layout at_;
  Seconds limit_ = kNoLimit;
};

/// How far a search is. What units have found is joined as they end: there may be millions of them.
struct Search::Course {
  std::size_t shard, shards, most;
  const std::atomic<bool>* stop;
  Progress* progress;
  std::vector<Seconds> bounds{};  ///< of each family
  Seconds limit = kNoLimit;       ///< as many layouts as are kept are at least so fast
  Found found{};                  ///< by units of the shard
  std::atomic<bool> stopped{false};

  [[nodiscard]] bool of_shard(std::size_t unit) const { return unit % shards == shard; }
  [[nodiscard]] bool stops() {
    if (stop != nullptr && stop->load()) stopped = true;
    return stopped;
  }
};

Search::Search(const Configuration& base, const PredictOptions& job, const DrawnKernels& kernels, bool every_schedule)
    : base_(base),
      job_(job),
      kernels_(kernels),
      every_schedule_(every_schedule),
      capacity_(usable_capacity(base.hardware().device)) {
  const int gpus = base.gpus, samples = job.global_batch.value_or(1);
  const OpGraph& graph = base.network_graph().graph;
  const int experts = experts_of(graph);
  batches_ = kept_or_divisors(job.batch, samples);
  pipelines_ = kept_or_divisors(job.pipeline_parallel, gpus);
  zeros_ = job.zero ? std::vector{*job.zero} : zero_stages(base.stack);
  if (!job.recompute.empty() || !allocates_as_it_runs(base.stack))
    recomputes_ = {base.recompute};
  else if (has_attention(graph))
    recomputes_ = {Recompute::none,
                   base.stack.parallel.selective == SelectiveRecompute::attention ? Recompute::attention : Recompute::operators,
                   Recompute::layer};
  else
    recomputes_ = {Recompute::none, Recompute::block};
  std::map<int, bool> contexts;
  for (const int tensor : kept_or_divisors(job.tensor_parallel, gpus)) {
    if (!divides_network(tensor, 1)) continue;
    for (const int context : kept_or_divisors(job.context_parallel, gpus / std::clamp(tensor, 1, gpus))) {
      const auto known = contexts.find(context);
      if (known != contexts.end() ? !known->second : !(contexts[context] = divides_network(1, context))) continue;
      for (const int expert : kept_or_divisors(job.expert_parallel, experts)) {
        std::vector<int> shared{tensor};
        if (expert > 1 && tensor > 1) shared.push_back(1);
        for (const int expert_tensor : kept_or(job.expert_tensor_parallel, shared)) {
          Layout layout;
          layout.tensor = tensor;
          layout.context = context;
          layout.expert = expert;
          layout.expert_tensor = expert_tensor;
          // What is kept of sequences or experts asks for something to divide.
          const bool sequence = asked_sequence(job).value_or(false);
          if (sequence && tensor == 1) continue;
          if (sequence && !positions_divide(graph, layout)) {
            if (refused_.empty()) refused_ = {{"--sequence-parallel on: " + undivided_positions(graph, layout)}};
            continue;
          }
          if (expert == 1 && job.expert_tensor_parallel) continue;
          families_.push_back(layout);
        }
      }
    }
  }
}

/// A layout with how the stack and the job divide what its axes leave whole.
Layout Search::as_divided(Layout layout) const {
  const ParallelSettings& parallel = base_.stack.parallel;
  layout.sequence = wants_sequence(job_, base_.stack, layout.tensor) && positions_divide(base_.network_graph().graph, layout);
  layout.regathers = parallel.tensor.regathers;
  layout.by_heads = parallel.context == ContextExchange::all_to_all;
  return layout;
}

/// Whether the network divides over so many GPUs of one axis, as it must where the other axis divides it as well. Of a number
/// with hundreds of divisors, few divide heads or positions.
bool Search::divides_network(int tensor, int context) {
  if (tensor < 1 || context < 1) return true;  // refused with the options
  Layout layout;
  layout.tensor = layout.expert_tensor = tensor;
  layout.context = context;
  auto divided = shard(base_.network_graph().graph, as_divided(layout));
  if (!divided && refused_.empty()) refused_ = std::move(divided.error());
  return divided.has_value();
}

/// Fills the bounds of all families.
void Search::bound_families(Course& course) const {
  course.bounds.assign(families_.size(), Seconds(0.0));
#pragma omp parallel
  {
    Worker worker(*this);
#pragma omp for schedule(dynamic)
    for (std::size_t f = 0; f < families_.size(); ++f)
      if (!course.stops()) course.bounds[f] = worker.bound(families_[f]);
  }
}

/// Tries the units of families in order, those of the shard, or of all shards where `nearest` takes what they find. A thread
/// takes a whole family, whose layouts share tables, unless there are too few for all threads.
void Search::try_families(const std::vector<std::size_t>& families, Course& course, std::vector<Candidate>* nearest) const {
  const std::size_t threads = most_threads(), batches = batches_.size(), units = families.size() * batches;
  [[maybe_unused]] const std::size_t together =
      families.size() >= 4 * threads ? batches : std::max<std::size_t>(1, units / (8 * threads));
#pragma omp parallel
  {
    Worker worker(*this);
    Found found;
    std::vector<Candidate> every;
#pragma omp for schedule(dynamic, together)
    for (std::size_t i = 0; i < units; ++i) {
      const std::size_t family = families[i / batches], unit = family * batches + i % batches;
      const bool own = course.of_shard(unit);
      if ((!own && nearest == nullptr) || course.stops()) continue;
      const bool hopeless = course.bounds[family] > course.limit;
      const bool told = !found.refusals.empty() && found.refused_at.second < unit;
      Worker::Result one =
          worker.run({families_[family], batches_[i % batches]}, course.most, hopeless ? Seconds(0.0) : course.limit, told);
      if (nearest != nullptr) add_nearest(one.nearest, course.most, every);
      if (!own) continue;
      add_nearest(one.nearest, course.most, found.nearest);
      one.nearest.clear();
      found.add(std::move(one).as_found(unit));
      add_one(course.progress);
    }
#pragma omp critical
    {
      add_nearest(found.nearest, course.most, course.found.nearest);
      found.nearest.clear();
      course.found.add(std::move(found));
      if (nearest != nullptr) add_nearest(every, course.most, *nearest);
    }
  }
}

/// Adds candidates, of which few stay: the fastest of all are among the fastest of each part.
void Search::add_nearest(const std::vector<Candidate>& more, std::size_t most, std::vector<Candidate>& all) const {
  all.insert(all.end(), more.begin(), more.end());
  if (all.size() >= 4 * most) keep_fastest(all, most, capacity_);
}

/// Tries the most promising families until as many layouts as are kept may fit: others have to be as fast as these. Every shard
/// tries the same ones, so that all have one limit. Returns which families it has tried.
std::vector<bool> Search::seed(Course& course) const {
  std::vector<bool> tried(families_.size(), false);
  std::vector<std::size_t> order(families_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return course.bounds[a] < course.bounds[b]; });
  std::vector<Candidate> nearest;
  for (std::size_t next = 0; next < order.size() && !course.stopped; next += kSeedFamilies) {
    const std::vector<std::size_t> some(
        order.begin() + static_cast<std::ptrdiff_t>(next),
        order.begin() + static_cast<std::ptrdiff_t>(std::min(next + kSeedFamilies, order.size())));
    try_families(some, course, &nearest);
    for (const std::size_t family : some) tried[family] = true;
    if (!keep_fastest(nearest, course.most, capacity_)) continue;
    const bool settled = nearest.back().time > kSettled * course.limit;
    course.limit = nearest.back().time;
    if (settled) break;
  }
  return tried;
}

Found Search::run(std::size_t shard, std::size_t shards, std::size_t most, const std::atomic<bool>* stop,
                  Progress* progress) const {
  Course course{shard, shards, most, stop, progress};
  const std::size_t units = families_.size() * batches_.size();
  begin(progress, "groups of layouts", units > shard ? (units - shard + shards - 1) / shards : 0);
  bound_families(course);
  const std::vector<bool> tried = seed(course);
  std::vector<std::size_t> others;
  for (std::size_t family = 0; family < families_.size(); ++family)
    if (!tried[family]) others.push_back(family);
  try_families(others, course, nullptr);
  Found found = std::move(course.found);
  if (found.refusals.empty() && !refused_.empty()) {
    found.refusals = refused_;
    found.refused_at.second = units;
  }
  keep_fastest(found.nearest, most, capacity_);
  found.interrupted = course.stopped;
  return found;
}

void Search::refine(std::span<Candidate* const> candidates, const std::atomic<bool>* stop, Progress* progress) const {
  begin(progress, "layouts near the best", candidates.size());
#pragma omp parallel
  {
    Worker worker(*this);
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (stop == nullptr || !stop->load()) worker.refine(*candidates[i]);
      add_one(progress);
    }
  }
}

PredictOptions Search::options_of(const Candidate& candidate) const {
  const Layout& layout = candidate.layout;
  PredictOptions options = job_;
  const auto above_one = [](int value) { return value > 1 ? std::optional(value) : std::nullopt; };
  options.tensor_parallel = above_one(layout.tensor);
  options.context_parallel = above_one(layout.context);
  options.expert_parallel = above_one(layout.expert);
  options.expert_tensor_parallel = layout.expert > 1 ? std::optional(layout.expert_tensor) : std::nullopt;
  options.pipeline_parallel = above_one(layout.pipeline);
  options.virtual_stages = layout.pipeline > 1 ? above_one(layout.virtual_stages) : std::nullopt;
  options.schedule = layout.pipeline > 1 ? std::string(name(candidate.schedule)) : "";
  options.sequence_parallel = layout.tensor > 1 ? job_.sequence_parallel : "";
  options.batch = candidate.batch;
  options.zero = candidate.zero;
  options.recompute = candidate.recompute == Recompute::none ? "" : std::string(name(candidate.recompute));
  return options;
}

}  // namespace tbdsim::plan
