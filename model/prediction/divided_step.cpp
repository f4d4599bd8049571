// Long because passes, exchange and update of a step are put together over the same ranks.
#include "model/prediction/divided_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/configuration/choose_stages.hpp"
#include "model/prediction/block_times.hpp"
#include "model/prediction/data_exchange.hpp"
#include "model/prediction/divided_kernels.hpp"
#include "model/prediction/memory_estimator.hpp"
#include "model/schedule/divided/host_copies.hpp"
#include "model/schedule/divided/layer_times.hpp"
#include "model/schedule/pipeline/simulate_pipeline.hpp"
#include "model/workload/shard.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// A part of the network on one rank: layers that follow each other, for one micro-batch.
struct Chunk : ChunkPass {
  Elements arrays_of;  ///< of the rank
  int arrays = 0;
  ArraySizes sizes;
  Bytes boundary;  ///< of what the next chunk reads
};

/// What one rank does in a step, and what it needs for that.
struct Rank : RankStep {
  Seconds one_backward;  ///< of one micro-batch
  Elements arrays_of;
  int arrays = 0;
  ArraySizes sizes;
};

/// Puts layers together to a step.
class Composer {
 public:
  Composer(const Configuration& configuration, const KernelModel& kernels, const OpGraph& graph, const LayerClasses& layers,
           GroupPlans& plans, std::vector<Bytes> host_layers)
      : configuration_(configuration),
        stack_(configuration.stack),
        layout_(configuration.layout),
        kernels_(kernels),
        graph_(graph),
        layers_(layers),
        plans_(plans),
        data_(configuration, kernels, plans),
        host_layers_(std::move(host_layers)) {}

  /// Time of every operator, of all micro-batches.
  void describe(DividedStep& result) const {
    result.layers.resize(graph_.ops.size());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const Op& op = graph_.ops[i];
      LayerTime& layer = result.layers[i];
      layer.name = op.name;
      layer.kind = info(op.kind).name;
      layer.shape = to_text(graph_.output_shape(op));
      for (const ParameterId id : op.parameters) layer.parameters += elements(graph_.parameter(id).shape);
    }
    const double times = configuration_.accumulate;
    for (std::size_t layer = 0; layer < layers_.layers(); ++layer) {
      const LayerCost& own = cost(layer);
      const std::int32_t shift =
          layers_.begins[layer].value - layers_.begins[at(layers_.example[at(layers_.class_of[layer])])].value;
      for (const OperatorTime& one : own.operators) {
        LayerTime& of = result.layers[at(one.op.value + shift)];
        Seconds& phase = one.again                            ? of.backward_data
                         : one.pass == Pass::forward          ? of.forward
                         : one.pass == Pass::backward_weights ? of.backward_weights
                                                              : of.backward_data;
        phase += times * one.time;
        of.flop += times * one.flop;
        of.tensor_core |= one.tensor_core;
      }
    }
    RankWork work = rank_work({configuration_, kernels_, graph_, layers_, costs_, first_layer_}, ranks_[at(result.times.rank)]);
    result.kernel_times = std::move(work.kernels);
    result.host = std::move(work.host);
  }

  Result<void> run(DividedStep& result) {
    const auto stage = stages_of(graph_, configuration_.pipeline_stages(), layout_.stage_layers, ranks_of_stages(configuration_));
    if (!stage) return tl::make_unexpected(stage.error());
    costs_ = layer_costs(graph_, layers_, layer_setting(configuration_, kernels_, stack_), plans_);
    for (std::size_t layer = 0; layer < layers_.layers(); ++layer) {
      const int chunk = (*stage)[at(layers_.begins[layer].value)];
      if (at(chunk) >= first_layer_.size()) first_layer_.push_back(layer);
    }
    first_layer_.push_back(layers_.layers());
    for (int chunk = 0; chunk < configuration_.pipeline_stages(); ++chunk) chunks_.push_back(chunk_of(chunk));
    if (auto played = run_micro_batches(); !played) return played;
    for (int r = 0; r < layout_.pipeline; ++r) exchange_and_update(ranks_[at(r)]);
    exchange_table();
    tell_uneven(result);
    if (!plans_.errors().empty()) return tl::make_unexpected(plans_.errors());
    tell(result);
    return {};
  }

 private:
  [[nodiscard]] const LayerCost& cost(std::size_t layer) const { return costs_[at(layers_.class_of[layer])]; }

  /// That stages have unequal numbers of layers; the head is not counted.
  void tell_uneven(DividedStep& result) const {
    const std::size_t chunks = chunks_.size();
    const std::size_t layers = layers_.layers() - (layers_.layers() > 1 && is_loss(graph_.ops.back().kind) ? 1 : 0);
    if (chunks > 1 && layers % chunks != 0 && layout_.stage_layers.empty())
      result.notices.push_back(fmt::format("{} layers do not divide over {} stages: some have {}, some {}", layers, chunks,
                                           layers / chunks, layers / chunks + 1));
  }

  /// Weights of a layer whose copies are divided are gathered for a pass and their gradients divided after it.
  [[nodiscard]] PassTime pass_of(std::size_t begin, std::size_t end, bool backward) {
    if (data_.sharded()) {
      std::vector<const LayerCost*> layers;
      for (std::size_t layer = begin; layer < end; ++layer) layers.push_back(&cost(layer));
      return data_.pass(layers, backward);
    }
    PassTime sum;
    for (std::size_t layer = begin; layer < end; ++layer) {
      const PassTime& pass = backward ? cost(layer).backward : cost(layer).forward;
      sum += pass;
      if (layer >= host_layers_.size()) continue;
      const Seconds wait = copy_wait(host_layers_[layer], configuration_.offload.copy, pass.time);
      sum.time += wait;
      sum.offload += wait;
    }
    return sum;
  }

  Chunk chunk_of(int which) {
    const std::size_t begin = first_layer_[at(which)], end = first_layer_[at(which) + 1];
    Chunk chunk;
    chunk.forward = pass_of(begin, end, false);
    chunk.backward = pass_of(begin, end, true);
    for (std::size_t layer = begin; layer < end; ++layer) {
      chunk.weights += cost(layer).weights;
      chunk.again += cost(layer).again;
      chunk.arrays_of += {cost(layer).parameters, cost(layer).expert_parameters};
      chunk.arrays += cost(layer).arrays;
      chunk.sizes.add(cost(layer).sizes);
    }
    chunk.boundary = cost(end - 1).boundary;
    return chunk;
  }

  /// What a rank does for all micro-batches, without waiting for others.
  void add_chunk(Rank& rank, int which, double micro_batches) {
    const Chunk& chunk = chunks_[at(which)];
    rank.runs.emplace_back(which, micro_batches);
    rank.again += micro_batches * chunk.again;
    rank.forward += micro_batches * chunk.forward;
    rank.backward += micro_batches * chunk.backward;
    rank.arrays_of += chunk.arrays_of;
    rank.arrays += chunk.arrays;
    rank.sizes.add(chunk.sizes);
    rank.one_backward += chunk.backward.time;
  }

  /// Passes of all micro-batches in the order of the schedule.
  Result<void> run_micro_batches() {
    ranks_.resize(at(layout_.pipeline));
    if (layout_.pipeline == 1) {
      add_chunk(ranks_.front(), 0, configuration_.accumulate);
      ranks_.front().end = ranks_.front().forward.time + ranks_.front().backward.time;
      return {};
    }
    const auto table = configured_schedule(configuration_);
    if (!table) return tl::make_unexpected(table.error());
    hop_ = plans_.hop(chunks_.front().boundary, stack_.parallel.pipeline.scatters_hops);
    ends_ = {table->place_of(0).rank, table->place_of(table->stages() - 1).rank};
    if (ends_.first != ends_.second && !data_.sharded()) {
      table_ = copied_table(graph_);
      ranks_[at(ends_.second)].arrays_of.dense += table_;
      ranks_[at(ends_.second)].sizes.add(table_);
    }
    const bool both_ways = table->placement == pipeline::Placement::two_way;
    for (int r = 0; r < layout_.pipeline; ++r)
      for (int c = 0; c < layout_.virtual_stages; ++c)
        add_chunk(ranks_[at(r)], table->stage_of({r, c}), (both_ways ? 0.5 : 1.0) * configuration_.accumulate);
    const std::vector<ChunkPass> passes(chunks_.begin(), chunks_.end());
    const pipeline::PipelineRun run = pipeline::simulate(*table, block_times(configuration_, *table, passes, hop_.time()));
    const std::vector<PairSaving> saved = pair_savings(*table, passes);
    for (int r = 0; r < layout_.pipeline; ++r) {
      ranks_[at(r)].end = run.finished[at(r)].seconds();
      if (!saved.empty()) hide_in_pairs(ranks_[at(r)], joined_pairs(*table, r), saved[at(r)]);
    }
    return {};
  }

  /// Joined passes hide each other's calls of experts.
  static void hide_in_pairs(Rank& rank, double pairs, PairSaving saved) {
    const auto hide = [&](PassTime& pass, Seconds hidden) {
      pass.time -= pairs * hidden;
      pass.exposed[static_cast<std::size_t>(Axis::expert)] -= pairs * hidden;
    };
    hide(rank.forward, saved.forward);
    hide(rank.backward, saved.backward);
  }

  /// Gradients leave, weights are updated and, where the state is divided, gathered.
  void exchange_and_update(Rank& rank) {
    const UpdateCalls calls = data_.update(rank.arrays_of, rank.arrays, rank.sizes);
    rank.exchange = calls.exchange();
    rank.exposed = data_.exposed(calls, {(1.0 / configuration_.accumulate) * rank.forward.time, memory_share(rank.forward)},
                                 {rank.one_backward, memory_share(rank.backward)});
    rank.update = calls.update;
    rank.host_update = calls.host.update;
    rank.offload = data_.offload_wait(calls, {rank.one_backward, memory_share(rank.backward)});
    exchanged_ = std::max(exchanged_, calls.exchanged);
    sent_data_ += calls.sent;
    sent_experts_ += calls.of_experts;
  }

  /// The gradient of the last stage's copy of the table of words is added to the first stage's. Source: Megatron-LM,
  /// finalize_model_grads.py, _allreduce_word_embedding_grads.
  void exchange_table() {
    if (table_ <= 0.0) return;
    const GroupCall call = data_.between_ends(table_);
    for (Rank* rank : {&ranks_[at(ends_.first)], &ranks_[at(ends_.second)]}) {
      rank->tied = call.time;
      rank->exchange += call.time;
      rank->exposed += call.time;
    }
    sent_table_ = call.sent;
  }

  void tell(DividedStep& result) {
    std::size_t slowest = 0;
    Seconds end(0.0), update(0.0);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      end = std::max(end, ranks_[r].end + ranks_[r].exposed);
      update = std::max(update, ranks_[r].update + ranks_[r].offload);
      const auto busy = [&](std::size_t i) { return ranks_[i].forward.time + ranks_[i].backward.time + ranks_[i].update; };
      if (busy(r) > busy(slowest)) slowest = r;
    }
    const Rank& rank = ranks_[slowest];
    StepTimes& times = result.times;
    times.step = end + update;
    times.rank = static_cast<std::int32_t>(slowest);
    PhaseTimes& stages = times.phases;
    stages.forward = rank.forward.kernels;
    stages.backward = rank.backward.kernels;
    stages.weight_update = stages.weight_update_total = rank.update;
    stages.host_forward = rank.forward.host;
    stages.host_backward = rank.backward.host;
    stages.host_exposed = rank.forward.host + rank.backward.host;
    stages.exchange_exposed = rank.forward.exposed_sum() + rank.backward.exposed_sum() + rank.exposed;
    stages.offload = rank.forward.offload + rank.backward.offload + rank.offload;
    stages.exchange_total = std::accumulate(rank.forward.exchange.begin(), rank.forward.exchange.end(), rank.exchange);
    stages.exchange_total = std::accumulate(rank.backward.exchange.begin(), rank.backward.exchange.end(), stages.exchange_total);
    // The schedule counts whole picoseconds.
    const Seconds idle = times.step - rank.update - rank.offload - rank.forward.time - rank.backward.time - rank.exposed;
    stages.bubble = layout_.pipeline == 1 || idle < 1e-9 * times.step ? Seconds(0.0) : idle;
    times.busy = stages.forward + stages.backward + stages.weight_update;
    Seconds busy(0.0);
    for (const Rank& each : ranks_) busy += each.forward.kernels + each.backward.kernels + each.update;
    times.mean_busy = (1.0 / layout_.pipeline) * busy;
    times.host_busy = rank.forward.issue + rank.backward.issue;
    tell_work(result);
    tell_traffic(rank, result);
    tell_limits(rank, result);
    result.exchanged = exchanged_;
    result.exchange_text = exchange_text();
    result.chunks.assign(chunks_.begin(), chunks_.end());
    result.ranks.assign(ranks_.begin(), ranks_.end());
    result.hop = hop_.time();
  }

  /// How gradients travel.
  [[nodiscard]] std::string exchange_text() const {
    return fmt::format(
        "gradients of {:.0f} bytes by {}, {}", data_.gradient().base(), kinds(Axis::data),
        data_.sharded() || stack_.parallel.gradients.overlap ? "beside the last backward pass" : "after the last backward pass");
  }

  /// FLOP, and the kernels of a step.
  void tell_work(DividedStep& result) {
    StepTimes& times = result.times;
    const double share = static_cast<double>(configuration_.accumulate) / layout_.pipeline;
    std::vector<int> count(layers_.classes(), 0);
    for (const int of : layers_.class_of) ++count[at(of)];
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      const double weight = share * count[i];
      times.useful_flop += weight * costs_[i].flop;
      result.again_flop += weight * costs_[i].again_flop;
      for (const NodeCost& cost : costs_[i].costs) {
        result.costs.push_back(cost);
        result.costs.back().kernel.time *= weight;
        (cost.tensor_core ? times.tensor_flop : times.flop) += weight * cost.kernel.flop;
        (cost.tensor_core ? times.tensor_executing : times.executing) += weight * cost.kernel.executing;
      }
    }
  }

  void tell_traffic(const Rank& rank, DividedStep& result) {
    const double hops = 2.0 * configuration_.accumulate * layout_.virtual_stages;
    for (const AxisInfo& axis : axes()) {
      const auto i = static_cast<std::size_t>(axis.kind);
      const AxisGroup group = group_of(layout_, axis.kind);
      // Of experts there may be copies where there are none of the rest.
      const int ranks = axis.kind == Axis::data ? std::max(group.size, layout_.expert_data()) : group.size;
      if (ranks <= 1) continue;
      AxisTraffic traffic;
      traffic.axis = axis.kind;
      traffic.ranks = ranks;
      traffic.kind = kinds(axis.kind);
      traffic.bytes = rank.forward.bytes[i] + rank.backward.bytes[i];
      traffic.time = rank.forward.exchange[i] + rank.backward.exchange[i];
      traffic.exposed = rank.forward.exposed[i] + rank.backward.exposed[i];
      if (axis.kind == Axis::data) {
        traffic.bytes += (1.0 / layout_.pipeline) * sent_data_;
        traffic.of_experts = rank.forward.of_experts + rank.backward.of_experts + (1.0 / layout_.pipeline) * sent_experts_;
        traffic.time += rank.exchange - rank.tied;
        traffic.exposed += rank.exposed - rank.tied;
      }
      if (axis.kind == Axis::tensor && hop_.gathered.sent > Bytes(0.0)) {
        traffic.kind = fmt::format("{}, {}", name(CollectiveKind::all_gather), traffic.kind);
        traffic.bytes += hops * hop_.gathered.sent;
        traffic.time += hops * hop_.gathered.time;
      }
      if (axis.kind == Axis::pipeline) {
        traffic.bytes += hops * hop_.sent.sent;
        traffic.time += hops * hop_.sent.time + rank.tied;
        traffic.exposed += rank.tied;
        if (rank.tied > Seconds(0.0)) traffic.bytes += sent_table_;
      }
      const auto leaves = [&](const AxisGroup& of) {
        return span_of(of, static_cast<int>(configuration_.devices.size())).nodes > 1;
      };
      traffic.leaves_node = leaves(group) || (traffic.of_experts > Bytes(0.0) && leaves(expert_copies(layout_)));
      result.communication.push_back(traffic);
    }
  }

  /// The collectives of an axis.
  [[nodiscard]] std::string kinds(Axis axis) const {
    const bool divides = configuration_.zero > 0;
    const bool parts = axis == Axis::tensor ? layout_.sequence : axis == Axis::data ? divides : true;
    if (axis == Axis::data && divides && !data_.sharded()) {
      const auto gradients =
          stack_.parallel.gradients.reduced_everywhere ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter;
      const auto weights = stack_.parallel.update.broadcasts ? CollectiveKind::broadcast : CollectiveKind::all_gather;
      if (gradients == CollectiveKind::all_reduce) return fmt::format("{}, {}", name(gradients), name(weights));
      return fmt::format("{}, {}", name(weights), name(gradients));
    }
    if (axis == Axis::pipeline) return std::string(name(CollectiveKind::send_receive));
    if (axis == Axis::expert || (axis == Axis::context && layout_.by_heads)) return std::string(name(CollectiveKind::all_to_all));
    if (!parts) return std::string(name(CollectiveKind::all_reduce));
    return fmt::format("{}, {}", name(CollectiveKind::all_gather), name(CollectiveKind::reduce_scatter));
  }

  /// Shares of the step; waiting for other stages counts as what these compute.
  void tell_limits(const Rank& rank, DividedStep& result) {
    Seconds compute(0.0), memory(0.0);
    for (const NodeCost& cost : result.costs) (cost.kernel.bound == Bound::memory ? memory : compute) += cost.kernel.time;
    const StepTimes& times = result.times;
    const Seconds passes = times.phases.forward + times.phases.backward + times.phases.bubble;
    const double compute_share = compute / std::max(compute + memory, Seconds(1e-12));
    std::vector<Seconds> of(resources().size(), Seconds(0.0));
    const auto place = [&](Resource resource) -> Seconds& { return of[static_cast<std::size_t>(resource)]; };
    place(Resource::gpu_compute) = compute_share * passes;
    place(Resource::gpu_memory_bandwidth) = (1.0 - compute_share) * passes + rank.update;
    const Seconds updating = std::min(rank.offload, rank.host_update);
    place(Resource::host) = times.phases.host_exposed;
    place(Resource::host_memory_bandwidth) = updating;
    place(Resource::host_link) = times.phases.offload - updating;
    for (const AxisTraffic& traffic : result.communication)
      place(traffic.leaves_node ? Resource::network : Resource::intra_node_link) += traffic.exposed;
    std::vector<std::size_t> order(of.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return of[a] > of[b]; });
    const Seconds total = std::accumulate(of.begin(), of.end(), Seconds(0.0));
    for (const std::size_t i : order) {
      if (of[i] <= Seconds(0.0)) continue;
      result.times.limits.push_back({resources()[i].kind, of[i] / total, {}});
      result.times.launch_shares.push_back(0.0);
    }
  }

  const Configuration& configuration_;
  const Stack& stack_;
  const Layout& layout_;
  const KernelModel& kernels_;
  const OpGraph& graph_;
  const LayerClasses& layers_;
  GroupPlans& plans_;
  DataExchange data_;
  std::vector<Bytes> host_layers_;        ///< of each layer, activations that leave for the host
  std::vector<LayerCost> costs_;          ///< of each class
  std::vector<std::size_t> first_layer_;  ///< of each chunk, and the number of layers
  std::vector<Chunk> chunks_;
  std::vector<Rank> ranks_;
  StageHop hop_;
  Bytes exchanged_, sent_data_, sent_experts_, sent_table_;
  double table_ = 0;          ///< elements of a table that the first and the last stage both hold
  std::pair<int, int> ends_;  ///< the ranks of these
};

}  // namespace

double power_share(Seconds busy, Seconds step) {
  constexpr double kWaiting = 0.4;  // assumed
  const double share = std::min<double>(1.0, busy / step);
  return share + kWaiting * (1.0 - share);
}

Result<DividedStep> divided_step(const Configuration& configuration, bool detail) {
  auto kernels =
      KernelModel::make(configuration.hardware().device, configuration.precision, configuration.stack, **configuration.constants);
  if (!kernels) return tl::make_unexpected(kernels.error());
  if (!*configuration.nccl) return tl::make_unexpected(in_stack(configuration.stack, configuration.nccl->error()));
  const auto graph = shard(configuration.network_graph().graph, configuration.layout);
  if (!graph) return tl::make_unexpected(graph.error());
  const LayerClasses layers = fold_layers(*graph);
  GroupPlans plans({configuration.hardware(), configuration.devices, configuration.network, **configuration.nccl},
                   configuration.layout);
  std::vector<Bytes> host_layers;
  if (configuration.offload.layers > 0) {
    auto estimator = MemoryEstimator::make(configuration);
    if (!estimator) return tl::make_unexpected(estimator.error());
    host_layers = estimator->at(configuration.batch).host_layers;
  }
  DividedStep hurried(std::move(*kernels));
  const auto composed = Composer(configuration, hurried.kernels, *graph, layers, plans, host_layers).run(hurried);
  if (!composed) return tl::make_unexpected(composed.error());
  // Products are priced again, at the clock that the step's own waits allow.
  hurried.kernels.draw(power_share(hurried.times.busy, hurried.times.step));
  DividedStep result(std::move(hurried.kernels));
  Composer composer(configuration, result.kernels, *graph, layers, plans, std::move(host_layers));
  if (const auto settled = composer.run(result); !settled) return tl::make_unexpected(settled.error());
  if (detail) composer.describe(result);
  return result;
}

}  // namespace tbdsim
