#include "model/plan/fast_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/prediction/divided_step.hpp"
#include "model/prediction/rank_waits.hpp"

namespace tbdsim::plan {
namespace {

using pipeline::ScheduleKind;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Recomputation as it counts for time: what is computed again is all of a layer, or a part.
Recompute in_time(Recompute recompute) {
  return recompute == Recompute::block || recompute == Recompute::full ? Recompute::layer : recompute;
}

/// How much shorter a joined pair of a run's passes is (`PairSaving`).
Seconds saved_by_pair(const RunTimes& run) {
  return std::min(run.forward_experts, run.backward_kernels) + std::min(run.backward_experts, run.forward_kernels);
}

/// What the slowest rank of a pipeline has beside its times.
struct SlowestRank {
  Seconds weights;  ///< of backward, what waits for nothing
  Seconds saved;    ///< by a joined pair
};

/// The makespan of a schedule by its closed form.
Seconds makespan(const Configuration& configuration, std::span<const pipeline::StageTime> ranks, SlowestRank slowest) {
  const int m = configuration.accumulate, p = configuration.layout.pipeline, v = configuration.layout.virtual_stages;
  Seconds forward(0.0), backward(0.0), longest(0.0), hops(0.0);
  for (const pipeline::StageTime& rank : ranks) {
    forward += (1.0 / p) * rank.forward;
    backward += (1.0 / p) * rank.backward;
    longest = std::max(longest, rank.both());
    hops += 2.0 * rank.hop;
  }
  const Seconds full = m * longest + hops;
  switch (configuration.schedule) {
    case ScheduleKind::gpipe:
      return pipeline::gpipe_time(ranks, m);
    case ScheduleKind::one_f_one_b:
      return pipeline::fill_and_rate(ranks, m);
    case ScheduleKind::interleaved:
      return pipeline::interleaved_time(ranks, v, m);
    case ScheduleKind::zb_h1:
      return std::max(full + pipeline::bubble_zb_h1(p, forward, backward, slowest.weights), full);
    case ScheduleKind::zb_v:
      return full + pipeline::bubble_zb_v(p, 0.5 * forward);
    case ScheduleKind::dualpipe:
      break;
  }
  const Seconds bubble = pipeline::bubble_dualpipe(p, forward + backward - slowest.saved, backward, slowest.weights);
  // The middle ranks, whose first pair is apart.
  return full - std::max(0, m - p - 1) * slowest.saved + std::max(bubble, Seconds(0.0));
}

/// Whether ranks end one after the other from the last to the first, as backward passes arrive; else about together.
bool ends_in_turn(ScheduleKind kind) {
  return kind == ScheduleKind::gpipe || kind == ScheduleKind::one_f_one_b || kind == ScheduleKind::interleaved;
}

}  // namespace

FastStep::FastStep(const Configuration& base, const DrawnKernels& kernels)
    : base_(base),
      kernels_(kernels),
      plans_({base.hardware(), base.devices, base.network, **base.nccl}, base.layout),
      slowest_share_(slowest_rank_share(base)) {}

FastStep::ShareKey FastStep::key_of(const Layout& layout) {
  return {layout.tensor, layout.context, layout.expert, layout.expert_tensor, layout.sequence};
}

const Result<RankShare>& FastStep::share(const Layout& layout) {
  const ShareKey key = key_of(layout);
  const auto known = shares_.find(key);
  if (known != shares_.end()) return known->second;
  return shares_.emplace(key, rank_share(base_.network_graph().graph, layout)).first->second;
}

const StagePlaces& FastStep::places(const Configuration& configuration, const RankShare& share) {
  const Layout& layout = configuration.layout;
  const PlacesKey key{key_of(layout), layout.pipeline, layout.virtual_stages, pipeline::info(configuration.schedule).placement};
  const auto known = places_.find(key);
  if (known != places_.end()) return known->second;
  return places_.emplace(key, stage_places(configuration, share)).first->second;
}

LayerTable& FastStep::table(const Configuration& configuration, const RankShare& share) {
  const TableKey key{key_of(configuration.layout), configuration.batch, in_time(configuration.recompute),
                     gradient_sum(configuration)};
  const auto known = tables_.find(key);
  if (known != tables_.end()) return known->second;
  return tables_.try_emplace(key, configuration, share, kernels_, plans_).first->second;
}

void FastStep::forget() {
  tables_.clear();
  places_.clear();
  shares_.clear();
}

Result<Seconds> FastStep::time(const Configuration& configuration, Depth depth) {
  const Result<RankShare>& divided = share(configuration.layout);
  if (!divided) return tl::make_unexpected(divided.error());
  const int stages = configuration.pipeline_stages();
  if (divided->stage_layers() < stages) return fail(fmt::format("{} stages of {} layers", stages, divided->stage_layers()));
  plans_.regroup(configuration.layout);
  LayerTable& layers = table(configuration, *divided);
  DataExchange data(configuration, kernels_.at(0), plans_);
  const Case layout{configuration, *divided, places(configuration, *divided), layers, data, depth};
  ranks_.assign(layout.stages.kinds.size(), {});
  call_updates(layout);
  const Step hurried = step(layout, {});
  const Step settled = step(layout, DrawPlace::of(power_share(hurried.busy, hurried.time)));
  if (!plans_.errors().empty()) return tl::make_unexpected(plans_.errors());
  return settled.time + slowest_share_ * settled.kernels;
}

Seconds FastStep::least(const Configuration& configuration, const RankShare& share, bool pairs) {
  plans_.regroup(configuration.layout);
  const RunTimes all = table(configuration, share).run(0, share.layers.layers(), {});
  const Seconds full = all.forward + all.backward - (pairs ? saved_by_pair(all) : Seconds(0.0));
  const Seconds busy = std::min(all.kernels(), full);
  const Seconds settled = full - (1.0 - least_product_time(power_share(busy, full))) * busy;
  return static_cast<double>(configuration.accumulate) / configuration.layout.pipeline * settled;
}

/// Elements of a table of which both ends of the pipeline hold a copy.
double FastStep::table_copy(const Case& layout) {
  return layout.stages.first_end == layout.stages.last_end || layout.data.sharded() ? 0.0 : layout.share.table;
}

/// What follows the last micro-batch of each rank.
void FastStep::call_updates(const Case& layout) {
  for (std::size_t k = 0; k < ranks_.size(); ++k) {
    const RankKind& kind = layout.stages.kinds[k];
    Elements elements = kind.elements;
    ArraySizes sizes = kind.sizes;
    if (const double table = table_copy(layout); kind.way.last && table > 0.0) {
      elements.dense += table;
      sizes.add(table);
    }
    ranks_[k].calls = layout.data.update(elements, kind.arrays, sizes);
  }
}

FastStep::Step FastStep::step(const Case& layout, DrawPlace draw) {
  const StagePlaces& stages = layout.stages;
  const double passes = stages.places.placement == pipeline::Placement::two_way ? 0.5 : 1.0;
  for (std::size_t k = 0; k < ranks_.size(); ++k)
    ranks_[k].run = passes * (layout.data.sharded() ? layout.table.sharded_run(layout.data, draw)
                                                    : layout.table.run(stages.kinds[k].classes, draw));
  pass_all(layout, draw);
  Seconds end(0.0), update(0.0);
  Step result{};
  Seconds most(-1.0);
  const double turns = layout.configuration.accumulate, copy = table_copy(layout);
  for (std::size_t k = 0; k < ranks_.size(); ++k) {
    const Rank& rank = ranks_[k];
    // Passes of a rank's chunks follow each other in both directions, where micro-batches come from both ends.
    PassBeside backward = rank.run.beside_backward();
    backward.time *= 1.0 / passes;
    const bool at_end = stages.kinds[k].way.first || stages.kinds[k].way.last;
    const Seconds ends_sum = copy > 0.0 && at_end ? layout.data.between_ends(copy).time : Seconds(0.0);
    end = std::max(end, rank.end + layout.data.exposed(rank.calls, rank.run.beside_forward(), backward) + ends_sum);
    update = std::max(update, rank.calls.update + layout.data.offload_wait(rank.calls, backward));
    const Seconds busy = turns * (rank.run.forward + rank.run.backward) + rank.calls.update;
    if (busy <= most) continue;
    most = busy;
    result.kernels = turns * rank.run.kernels();
    result.busy = result.kernels + rank.calls.update;
  }
  result.time = end + update;
  return result;
}

/// Sets when the ranks of each kind end their last backward pass.
void FastStep::pass_all(const Case& layout, DrawPlace draw) {
  const Configuration& configuration = layout.configuration;
  if (configuration.layout.pipeline == 1) {
    ranks_.front().end = configuration.accumulate * (ranks_.front().run.forward + ranks_.front().run.backward);
    return;
  }
  const bool scatters = configuration.stack.parallel.pipeline.scatters_hops;
  const Seconds hop = plans_.hop(layout.table.boundary(layout.stages.first[1] - 1), scatters).time();
  if (layout.depth == Depth::recurrence) {
    simulate(layout, draw, hop);
    return;
  }
  times_.clear();
  for (const std::size_t kind : layout.stages.kind_of)
    times_.push_back({ranks_[kind].run.forward, ranks_[kind].run.backward, hop});
  SlowestRank slowest;
  Seconds longest(0.0);
  for (const Rank& rank : ranks_) {
    if (rank.run.forward + rank.run.backward <= longest) continue;
    longest = rank.run.forward + rank.run.backward;
    slowest = {rank.run.weights, saved_by_pair(rank.run)};
  }
  if (configuration.stack.parallel.pipeline.blocking_hops)
    for (pipeline::StageTime& rank : times_) rank = {rank.forward + hop, rank.backward + hop, hop};
  Seconds end = makespan(configuration, times_, slowest);
  const bool in_turn = ends_in_turn(configuration.schedule);
  for (Rank& rank : ranks_) rank.end = Seconds(0.0);
  for (std::size_t r = 0; r < times_.size(); ++r) {
    Seconds& latest = ranks_[layout.stages.kind_of[r]].end;
    latest = std::max(latest, end);
    if (in_turn) end -= (1.0 / configuration.layout.virtual_stages) * times_[r].backward + hop;
  }
}

/// The schedule's table, of all micro-batches or of 4 and 6 for each rank, between which every rank has its pace.
void FastStep::simulate(const Case& layout, DrawPlace draw, Seconds hop) {
  const Configuration& configuration = layout.configuration;
  const StagePlaces& stages = layout.stages;
  const int ranks = configuration.layout.pipeline, all = configuration.accumulate;
  pipeline::BlockTimes times;
  times.transfer =
      configuration.stack.parallel.pipeline.blocking_hops ? pipeline::Transfer::blocking : pipeline::Transfer::overlapped;
  for (int r = 0; r < ranks; ++r) {
    if (stages.places.placement == pipeline::Placement::two_way)
      times.saved.push_back(SimTime::from(saved_by_pair(ranks_[stages.kind_of[at(r)]].run)));
    for (int c = 0; c < configuration.layout.virtual_stages; ++c) {
      const int stage = stages.places.stage_of({r, c});
      const RunTimes run = layout.table.run(stages.first[at(stage)], stages.first[at(stage) + 1], draw);
      times.places.push_back({SimTime::from(run.forward), SimTime::from(run.backward - run.weights), SimTime::from(run.weights),
                              SimTime::from(hop)});
    }
  }
  const auto played = [&](int micro_batches) {
    pipeline::PipelineShape shape = configuration.pipeline_shape();
    shape.micro_batches = micro_batches;
    const auto schedule = pipeline::generate(configuration.schedule, shape);
    return pipeline::simulate(*schedule, times).finished;
  };
  const int few = 4 * ranks, more = 6 * ranks;
  const std::vector<SimTime> late = played(std::min(all, more));
  const std::vector<SimTime> early = all > more ? played(few) : late;
  for (Rank& rank : ranks_) rank.end = Seconds(0.0);
  for (int r = 0; r < ranks; ++r) {
    const Seconds pace = (1.0 / (more - few)) * (late[at(r)].seconds() - early[at(r)].seconds());
    Seconds& latest = ranks_[stages.kind_of[at(r)]].end;
    latest = std::max(latest, late[at(r)].seconds() + std::max(0.0, static_cast<double>(all - more)) * pace);
  }
}

}  // namespace tbdsim::plan
