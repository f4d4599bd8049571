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

/// The makespan of a schedule by its closed form; `weights` is the part of backward that waits for nothing, of the slowest rank.
Seconds makespan(const Configuration& configuration, std::span<const pipeline::StageTime> ranks, Seconds weights) {
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
      return std::max(full + pipeline::bubble_zb_h1(p, forward, backward, weights), full);
    case ScheduleKind::zb_v:
      return full + pipeline::bubble_zb_v(p, 0.5 * forward);
    case ScheduleKind::dualpipe:
      break;
  }
  const Seconds bubble = pipeline::bubble_dualpipe(p, 0.5 * (forward + backward), 0.5 * backward, 0.5 * weights);
  return full + std::max(bubble, Seconds(0.0));
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

const Result<RankShare>& FastStep::share(const Layout& layout) {
  const ShareKey key{layout.tensor, layout.context, layout.expert, layout.expert_tensor, layout.sequence};
  const auto known = shares_.find(key);
  if (known != shares_.end()) return known->second;
  return shares_.emplace(key, rank_share(base_.network_graph().graph, layout)).first->second;
}

LayerTable& FastStep::table(const Configuration& configuration, const RankShare& share) {
  const Layout& layout = configuration.layout;
  const TableKey key{{layout.tensor, layout.context, layout.expert, layout.expert_tensor, layout.sequence},
                     configuration.batch,
                     in_time(configuration.recompute)};
  const auto known = tables_.find(key);
  if (known != tables_.end()) return known->second;
  return tables_.try_emplace(key, configuration, share, kernels_, plans_).first->second;
}

void FastStep::forget() {
  tables_.clear();
  shares_.clear();
}

Result<Seconds> FastStep::time(const Configuration& configuration, Depth depth) {
  const Result<RankShare>& divided = share(configuration.layout);
  if (!divided) return tl::make_unexpected(divided.error());
  const int stages = configuration.pipeline_stages();
  if (divided->stage_layers() < stages) return fail(fmt::format("{} stages of {} layers", stages, divided->stage_layers()));
  plans_.regroup(configuration.layout);
  LayerTable& layers = table(configuration, *divided);
  first_ = divided->first_layers(stages);
  DataExchange data(configuration, kernels_.at(0), plans_);
  const Step hurried = step(configuration, *divided, layers, data, {}, depth);
  const Step settled = step(configuration, *divided, layers, data, DrawPlace::of(power_share(hurried.busy, hurried.time)), depth);
  if (!plans_.errors().empty()) return tl::make_unexpected(plans_.errors());
  return settled.time + slowest_share_ * settled.kernels;
}

FastStep::Step FastStep::step(const Configuration& configuration, const RankShare& share, LayerTable& table, DataExchange& data,
                              DrawPlace draw, Depth depth) {
  const bool first_time = draw.level == 0 && draw.part <= 0.0;
  const int ranks = configuration.layout.pipeline;
  places_.shape = configuration.pipeline_shape();
  places_.placement = pipeline::info(configuration.schedule).placement;
  if (first_time) ranks_.assign(at(ranks), {});
  const int first_end = ranks == 1 ? 0 : places_.place_of(0).rank;
  const int last_end = ranks == 1 ? 0 : places_.place_of(configuration.pipeline_stages() - 1).rank;
  const double table_copy = first_end == last_end || data.sharded() ? 0.0 : share.table;
  const double passes = places_.placement == pipeline::Placement::two_way ? 0.5 : 1.0;
  for (int r = 0; r < ranks; ++r) {
    Rank& rank = ranks_[at(r)];
    rank.run = {};
    for (int c = 0; c < places_.shape.chunks; ++c) {
      const int stage = ranks == 1 ? 0 : places_.stage_of({r, c});
      const std::size_t begin = first_[at(stage)], end = first_[at(stage) + 1];
      rank.run += passes * (data.sharded() ? table.sharded_run(data, draw) : table.run(begin, end, draw));
      if (!first_time) continue;
      rank.arrays_of += share.elements(begin, end);
      rank.arrays += share.arrays(begin, end);
    }
    if (!first_time) continue;
    if (r == last_end) rank.arrays_of.dense += table_copy;
    const Rank* const like = r > 0 ? &ranks_[at(r - 1)] : nullptr;
    const bool same = like != nullptr && like->arrays_of == rank.arrays_of && like->arrays == rank.arrays;
    rank.calls = same ? like->calls : data.update(rank.arrays_of, rank.arrays);
  }
  pass_all(configuration, table, draw, depth);
  Seconds end(0.0), update(0.0);
  Step result{};
  Seconds most(-1.0);
  const double turns = configuration.accumulate;
  for (const Rank& rank : ranks_) {
    // Passes of a rank's chunks follow each other in both directions, where micro-batches come from both ends.
    PassBeside backward = rank.run.beside_backward();
    backward.time *= 1.0 / passes;
    const bool at_end = &rank == &ranks_[at(first_end)] || &rank == &ranks_[at(last_end)];
    const Seconds ends_sum = table_copy > 0.0 && at_end ? data.between_ends(table_copy).time : Seconds(0.0);
    end = std::max(end, rank.end + data.exposed(rank.calls, rank.run.beside_forward(), backward) + ends_sum);
    update = std::max(update, rank.calls.update);
    const Seconds busy = turns * (rank.run.forward + rank.run.backward) + rank.calls.update;
    if (busy <= most) continue;
    most = busy;
    result.kernels = turns * rank.run.kernels();
    result.busy = result.kernels + rank.calls.update;
  }
  result.time = end + update;
  return result;
}

/// Sets when each rank ends its last backward pass.
void FastStep::pass_all(const Configuration& configuration, LayerTable& table, DrawPlace draw, Depth depth) {
  const int ranks = configuration.layout.pipeline;
  if (ranks == 1) {
    ranks_.front().end = configuration.accumulate * (ranks_.front().run.forward + ranks_.front().run.backward);
    return;
  }
  const Seconds hop = plans_.hop(table.boundary(first_[1] - 1)).time;
  if (depth == Depth::recurrence) {
    simulate(configuration, table, draw, hop);
    return;
  }
  times_.clear();
  Seconds weights(0.0), longest(0.0);
  for (const Rank& rank : ranks_) {
    times_.push_back({rank.run.forward, rank.run.backward, hop});
    if (rank.run.forward + rank.run.backward <= longest) continue;
    longest = rank.run.forward + rank.run.backward;
    weights = rank.run.weights;
  }
  if (configuration.stack.parallel.blocking_hops)
    for (pipeline::StageTime& rank : times_) rank = {rank.forward + hop, rank.backward + hop, hop};
  Seconds end = makespan(configuration, times_, weights);
  const bool in_turn = ends_in_turn(configuration.schedule);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    ranks_[r].end = end;
    if (in_turn) end -= (1.0 / places_.shape.chunks) * times_[r].backward + hop;
  }
}

/// The schedule's table, of all micro-batches or of 4 and 6 for each rank, between which every rank has its pace.
void FastStep::simulate(const Configuration& configuration, LayerTable& table, DrawPlace draw, Seconds hop) {
  const int ranks = configuration.layout.pipeline, all = configuration.accumulate;
  pipeline::BlockTimes times;
  times.transfer = configuration.stack.parallel.blocking_hops ? pipeline::Transfer::blocking : pipeline::Transfer::overlapped;
  for (int r = 0; r < ranks; ++r)
    for (int c = 0; c < places_.shape.chunks; ++c) {
      const int stage = places_.stage_of({r, c});
      const RunTimes run = table.run(first_[at(stage)], first_[at(stage) + 1], draw);
      times.places.push_back({SimTime::from(run.forward), SimTime::from(run.backward - run.weights), SimTime::from(run.weights),
                              SimTime::from(hop)});
    }
  const auto played = [&](int micro_batches) {
    pipeline::PipelineShape shape = places_.shape;
    shape.micro_batches = micro_batches;
    const auto schedule = pipeline::generate(configuration.schedule, shape);
    return pipeline::simulate(*schedule, times).finished;
  };
  const int few = 4 * ranks, more = 6 * ranks;
  const std::vector<SimTime> late = played(std::min(all, more));
  for (int r = 0; r < ranks; ++r) ranks_[at(r)].end = late[at(r)].seconds();
  if (all <= more) return;
  const std::vector<SimTime> early = played(few);
  for (int r = 0; r < ranks; ++r) {
    const Seconds pace = (1.0 / (more - few)) * (late[at(r)].seconds() - early[at(r)].seconds());
    ranks_[at(r)].end += static_cast<double>(all - more) * pace;
  }
}

}  // namespace tbdsim::plan
