// Long because passes, exchange and update of a step are put together over the same ranks.
#include "model/prediction/divided_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/cost/issue.hpp"
#include "model/prediction/block_times.hpp"
#include "model/prediction/divided_kernels.hpp"
#include "model/schedule/divided/layer_times.hpp"
#include "model/schedule/divided/sharded_pass.hpp"
#include "model/schedule/pipeline/simulate_pipeline.hpp"
#include "model/workload/shard.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kSingle(4.0);

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Elements of arrays: those that every rank along the data axis has, and those of experts.
struct Elements {
  double dense = 0, experts = 0;
  [[nodiscard]] double all() const { return dense + experts; }
  Elements& operator+=(const Elements& more) {
    dense += more.dense;
    experts += more.experts;
    return *this;
  }
};

/// A part of the network on one rank: layers that follow each other, for one micro-batch.
struct Chunk : ChunkPass {
  Elements arrays_of;  ///< of the rank
  int arrays = 0;
  Bytes boundary;  ///< of what the next chunk reads
};

/// What one rank does in a step, and what it needs for that.
struct Rank : RankStep {
  Seconds last_backward;  ///< time of the last micro-batch's
  Elements arrays_of;
  int arrays = 0;
};

/// Puts layers together to a step.
class Composer {
 public:
  Composer(const Configuration& configuration, const KernelModel& kernels, const OpGraph& graph, const LayerClasses& layers,
           GroupPlans& plans)
      : configuration_(configuration),
        stack_(configuration.stack),
        layout_(configuration.layout),
        kernels_(kernels),
        graph_(graph),
        layers_(layers),
        plans_(plans) {
    const bool wide = configuration.precision == Precision::fp32 || configuration.precision == Precision::tf32;
    element_ = wide ? Bytes(4.0) : Bytes(2.0);
    const bool eight = configuration.precision == Precision::fp8 || configuration.precision == Precision::mxfp8;
    gathered_ = eight && stack_.parallel.gathers_8_bit ? Bytes(1.0) : element_;
    gradient_ = stack_.parallel.wide_gradients ? kSingle : element_;
    sharded_ = configuration.sharding() == 3 && group_of(layout_, Axis::data).size > 1;
  }

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
        Seconds& phase = one.pass == Pass::forward            ? of.forward
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
    const auto stage = even_stages(graph_, configuration_.pipeline_stages());
    if (!stage) return tl::make_unexpected(stage.error());
    costs_ = layer_costs(graph_, layers_, setting(), plans_);
    for (std::size_t layer = 0; layer < layers_.layers(); ++layer) {
      const int chunk = (*stage)[at(layers_.begins[layer].value)];
      if (at(chunk) >= first_layer_.size()) first_layer_.push_back(layer);
    }
    first_layer_.push_back(layers_.layers());
    for (int chunk = 0; chunk < configuration_.pipeline_stages(); ++chunk) chunks_.push_back(chunk_of(chunk));
    if (const auto played = run_micro_batches(); !played) return played;
    for (int r = 0; r < layout_.pipeline; ++r) exchange_and_update(ranks_[at(r)]);
    exchange_tied();
    tell_uneven(result);
    if (!plans_.errors().empty()) return tl::make_unexpected(plans_.errors());
    tell(result);
    return {};
  }

 private:
  [[nodiscard]] LayerSetting setting() const {
    return {kernels_,
            stack_,
            static_cast<double>(configuration_.batch),
            issue_scale(configuration_.hardware().host, stack_.host),
            configuration_.compute_scale,
            element_,
            configuration_.recompute};
  }
  [[nodiscard]] const LayerCost& cost(std::size_t layer) const { return costs_[at(layers_.class_of[layer])]; }

  /// That stages have unequal numbers of layers; the head is not counted.
  void tell_uneven(DividedStep& result) const {
    const std::size_t chunks = chunks_.size();
    const std::size_t layers = layers_.layers() - (layers_.layers() > 1 && is_loss(graph_.ops.back().kind) ? 1 : 0);
    if (chunks > 1 && layers % chunks != 0)
      result.notices.push_back(fmt::format("{} layers do not divide over {} stages: some have {}, some {}", layers, chunks,
                                           layers / chunks, layers / chunks + 1));
  }

  /// Weights of a layer whose copies are divided are gathered for a pass and their gradients divided after it.
  [[nodiscard]] PassTime pass_of(std::size_t begin, std::size_t end, bool backward) {
    if (!sharded_) {
      PassTime sum;
      for (std::size_t layer = begin; layer < end; ++layer) sum += backward ? cost(layer).backward : cost(layer).forward;
      return sum;
    }
    std::vector<ShardedLayer> order;
    for (std::size_t layer = begin; layer < end; ++layer) {
      const LayerCost& own = cost(layer);
      // What the last layer and the head gathered for forward is still there when backward begins (torchtitan,
      // parallelize_llama.py).
      const bool stays = backward && layer + 2 >= end;
      ShardedLayer sharded{backward ? &own.backward : &own.forward, {}, {}};
      if (!stays) sharded.gather = data_call(CollectiveKind::all_gather, {own.parameters, own.expert_parameters}, gathered_);
      if (backward)
        sharded.scatter = data_call(CollectiveKind::reduce_scatter, {own.parameters, own.expert_parameters}, gradient_);
      order.push_back(sharded);
    }
    if (backward) std::reverse(order.begin(), order.end());
    return sharded_pass(order);
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
    rank.last_backward += chunk.backward.time;
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
    hop_ = plans_.hop(chunks_.front().boundary);
    ends_ = {table->place_of(0).rank, table->place_of(table->stages() - 1).rank};
    if (ends_.first != ends_.second) {
      tied_ = tied_elements();
      ranks_[at(ends_.second)].arrays_of.dense += tied_;
    }
    const bool both_ways = table->placement == pipeline::Placement::two_way;
    for (int r = 0; r < layout_.pipeline; ++r)
      for (int c = 0; c < layout_.virtual_stages; ++c)
        add_chunk(ranks_[at(r)], table->stage_of({r, c}), (both_ways ? 0.5 : 1.0) * configuration_.accumulate);
    const std::vector<ChunkPass> passes(chunks_.begin(), chunks_.end());
    const pipeline::PipelineRun run = pipeline::simulate(*table, block_times(configuration_, *table, passes, hop_.time));
    for (int r = 0; r < layout_.pipeline; ++r) ranks_[at(r)].end = run.finished[at(r)].seconds();
    return {};
  }

  /// Gradients leave, weights are updated and, where the state is divided, gathered.
  void exchange_and_update(Rank& rank) {
    const int copies = group_of(layout_, Axis::data).size;
    const bool divides = configuration_.zero >= 1 && copies > 1;
    const int shards = shard_ranks();
    if (copies > 1 && !sharded_) {
      const Bytes gradients = rank.arrays_of.all() * gradient_;
      const CollectiveKind kind = divides ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
      const Bytes sent = sent_data_;
      auto [time, last, busy] = in_buckets(kind, rank.arrays_of, gradient_);
      // A rank that keeps its share of the gradients alone gives the others away after every micro-batch. Source: DeepSpeed,
      // stage_1_and_2.py, partition_gradients.
      const double times = configuration_.zero == 2 && layout_.pipeline == 1 ? configuration_.accumulate : 1.0;
      sent_data_ += (times - 1.0) * (sent_data_ - sent);
      if (divides && shards < copies)
        time += plans_.across_data(shards, CollectiveKind::all_reduce, (1.0 / shards) * gradients).time;
      rank.exchange += times * time;
      rank.exposed += times * (stack_.parallel.overlaps_gradients ? behind(time, last, busy, rank.last_backward) : time);
      exchanged_ = std::max(exchanged_, gradients);
      if (divides) {
        const auto [gather, first, busy_gather] = updated_weights(rank.arrays_of);
        const Seconds window = (1.0 / configuration_.accumulate) * rank.forward.time;
        rank.exchange += gather;
        // Where weights may be sharded layer by layer, they are also gathered so.
        const bool beside = stack_.parallel.overlaps_parameters || configuration_.zero == 3;
        rank.exposed += beside ? behind(gather, first, busy_gather, window) : gather;
      }
    }
    if (sharded_) exchanged_ = std::max(exchanged_, rank.arrays_of.all() * gradient_);
    rank.update = update_time(rank, divides ? 1.0 / shards : 1.0);
  }

  /// The last stage has a copy of the table of words where scores are products with it: its gradient is added to the first
  /// stage's. Source: Megatron-LM, finalize_model_grads.py, _allreduce_word_embedding_grads.
  void exchange_tied() {
    if (tied_ <= 0.0) return;
    const GroupCall call = plans_.ends(tied_ * gradient_);
    for (Rank* rank : {&ranks_[at(ends_.first)], &ranks_[at(ends_.second)]}) {
      rank->tied = call.time;
      rank->exchange += call.time;
      rank->exposed += call.time;
    }
    sent_tied_ = call.sent;
  }

  /// Elements of the rank's share of a table of words that is also the head's weights; 0: there is none.
  [[nodiscard]] double tied_elements() const {
    for (auto i = static_cast<std::size_t>(layers_.begins.back().value); i < graph_.ops.size(); ++i)
      if (const auto* linear = std::get_if<LinearAttributes>(&graph_.ops[i].attributes); linear != nullptr && linear->tied)
        return static_cast<double>(linear->out_features) * static_cast<double>(graph_.input_shape(graph_.ops[i]).back());
    return 0.0;
  }

  /// Copies over which the state is divided.
  [[nodiscard]] int shard_ranks() const {
    const int copies = group_of(layout_, Axis::data).size, asked = stack_.parallel.shard_ranks;
    return asked > 0 && asked < copies && copies % asked == 0 ? asked : copies;
  }
  /// Of the ranks that divide state, else of all copies.
  GroupCall data_call(CollectiveKind kind, Elements arrays, Bytes element) {
    GroupCall call = configuration_.zero >= 1 ? plans_.within_data(shard_ranks(), kind, arrays.dense * element)
                                              : plans_.call(Axis::data, kind, arrays.dense * element);
    if (arrays.experts <= 0.0) return call;
    const GroupCall experts =
        layout_.expert > 1 ? plans_.expert_data(kind, arrays.experts * element) : data_call(kind, {arrays.experts, 0.0}, element);
    call.time += experts.time;
    call.sent += experts.sent;
    call.busy_sms = std::max(call.busy_sms, experts.busy_sms);
    return call;
  }

  struct Calls {
    Seconds time, last;
    double busy = 0;
  };
  /// Calls for all arrays, by buckets: together, and the last one.
  [[nodiscard]] Calls in_buckets(CollectiveKind kind, Elements arrays, Bytes element) {
    const Bytes all = arrays.all() * element;
    const ParallelSettings& parallel = stack_.parallel;
    const Bytes bucket = std::max(parallel.bucket > Bytes(0.0) ? parallel.bucket : stack_.exchange.bucket,
                                  static_cast<double>(group_of(layout_, Axis::data).size) * parallel.bucket_per_rank);
    const double count = bucket > Bytes(0.0) ? std::max(1.0, std::ceil(all / bucket)) : 1.0;
    const GroupCall one = data_call(kind, {arrays.dense / count, arrays.experts / count}, element);
    sent_data_ += count * one.sent;
    return {count * one.time, one.time, one.busy_sms};
  }
  /// Weights of all parts, gathered or broadcast by their owners in turn.
  [[nodiscard]] Calls updated_weights(Elements arrays) {
    if (!stack_.parallel.broadcasts_parameters) return in_buckets(CollectiveKind::all_gather, arrays, element_);
    const double parts = shard_ranks();
    const GroupCall one = data_call(CollectiveKind::broadcast, {arrays.dense / parts, arrays.experts / parts}, element_);
    sent_data_ += parts * one.sent;
    return {parts * one.time, one.time, one.busy_sms};
  }

  /// What calls beside a pass leave to wait for: the last one, those that the pass does not hide, and what it takes longer.
  [[nodiscard]] static Seconds behind(Seconds time, Seconds last, double busy, Seconds window) {
    const Seconds beside = std::min((1.0 - busy) * (time - last), window);
    const Seconds slower = busy / (1.0 - busy) * beside;
    return slower + last + std::max(Seconds(0.0), time - last - window - slower);
  }

  [[nodiscard]] Seconds update_time(const Rank& rank, double share) const {
    const double elements = share * rank.arrays_of.all();
    const NodeCost own = kernels_.update_cost(elements);
    Seconds kernel = stack_.parallel.update_moves > Bytes(0.0) ? kernels_.memory_kernel(elements * stack_.parallel.update_moves)
                                                               : own.kernel.time;
    constexpr double kClipPasses = 3.0;
    if (stack_.parallel.clips) kernel += kernels_.memory_kernel(elements * kClipPasses * gradient_);
    const double calls = own.host_operators * rank.arrays;
    const Seconds host = issue_scale(configuration_.hardware().host, stack_.host) * calls * stack_.host.update_dispatch;
    return configuration_.compute_scale * std::max(kernel, host);
  }

  void tell(DividedStep& result) {
    std::size_t slowest = 0;
    Seconds end(0.0), update(0.0);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      end = std::max(end, ranks_[r].end + ranks_[r].exposed);
      update = std::max(update, ranks_[r].update);
      const auto busy = [&](std::size_t i) { return ranks_[i].forward.time + ranks_[i].backward.time + ranks_[i].update; };
      if (busy(r) > busy(slowest)) slowest = r;
    }
    const Rank& rank = ranks_[slowest];
    StepTimes& times = result.times;
    times.step = end + update;
    times.rank = static_cast<std::int32_t>(slowest);
    Stages& stages = times.stages;
    stages.forward = rank.forward.kernels;
    stages.backward = rank.backward.kernels;
    stages.weight_update = stages.weight_update_total = rank.update;
    stages.host_forward = rank.forward.host;
    stages.host_backward = rank.backward.host;
    stages.host_exposed = rank.forward.host + rank.backward.host;
    stages.exchange_exposed = rank.forward.exposed_sum() + rank.backward.exposed_sum() + rank.exposed;
    stages.exchange_total = std::accumulate(rank.forward.exchange.begin(), rank.forward.exchange.end(), rank.exchange);
    stages.exchange_total = std::accumulate(rank.backward.exchange.begin(), rank.backward.exchange.end(), stages.exchange_total);
    // The schedule counts whole picoseconds.
    const Seconds idle = times.step - rank.update - rank.forward.time - rank.backward.time - rank.exposed;
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
    result.hop = hop_.time;
  }

  /// How gradients travel.
  [[nodiscard]] std::string exchange_text() const {
    return fmt::format(
        "gradients of {:.0f} bytes by {}, {}", gradient_.base(), kinds(Axis::data),
        sharded_ || stack_.parallel.overlaps_gradients ? "beside the last backward pass" : "after the last backward pass");
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
    for (const AxisInfo& axis : axes()) {
      const auto i = static_cast<std::size_t>(axis.kind);
      const AxisGroup group = group_of(layout_, axis.kind);
      if (group.size <= 1) continue;
      AxisTraffic traffic;
      traffic.axis = axis.kind;
      traffic.ranks = group.size;
      traffic.kind = kinds(axis.kind);
      traffic.bytes = rank.forward.bytes[i] + rank.backward.bytes[i];
      traffic.time = rank.forward.exchange[i] + rank.backward.exchange[i];
      traffic.exposed = rank.forward.exposed[i] + rank.backward.exposed[i];
      if (axis.kind == Axis::data) {
        traffic.bytes += (1.0 / layout_.pipeline) * sent_data_;
        traffic.time += rank.exchange - rank.tied;
        traffic.exposed += rank.exposed - rank.tied;
      }
      if (axis.kind == Axis::pipeline) {
        const double hops = 2.0 * configuration_.accumulate * layout_.virtual_stages;
        traffic.bytes += hops * hop_.sent;
        traffic.time += hops * hop_.time + rank.tied;
        traffic.exposed += rank.tied;
        if (rank.tied > Seconds(0.0)) traffic.bytes += sent_tied_;
      }
      traffic.leaves_node = span_of(group, static_cast<int>(configuration_.devices.size())).nodes > 1;
      result.communication.push_back(traffic);
    }
  }

  /// The collectives of an axis.
  [[nodiscard]] std::string kinds(Axis axis) const {
    const bool parts = axis == Axis::tensor ? layout_.sequence : axis == Axis::data ? configuration_.zero > 0 : true;
    if (axis == Axis::pipeline) return std::string(name(CollectiveKind::send_receive));
    if (axis == Axis::expert) return std::string(name(CollectiveKind::all_to_all));
    if (!parts) return std::string(name(CollectiveKind::all_reduce));
    return fmt::format("{}, {}", name(CollectiveKind::all_gather), name(CollectiveKind::reduce_scatter));
  }

  /// Shares of the step; waiting for other stages counts as what these compute.
  void tell_limits(const Rank& rank, DividedStep& result) {
    Seconds compute(0.0), memory(0.0);
    for (const NodeCost& cost : result.costs) (cost.kernel.bound == Bound::memory ? memory : compute) += cost.kernel.time;
    const StepTimes& times = result.times;
    const Seconds passes = times.stages.forward + times.stages.backward + times.stages.bubble;
    const double compute_share = compute / std::max(compute + memory, Seconds(1e-12));
    std::array<Seconds, kTaskResources> of{};
    const auto place = [&](Resource resource) -> Seconds& { return of[static_cast<std::size_t>(resource)]; };
    place(Resource::gpu_compute) = compute_share * passes;
    place(Resource::gpu_memory_bandwidth) = (1.0 - compute_share) * passes + rank.update;
    place(Resource::host) = times.stages.host_exposed;
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
  Bytes element_, gathered_, gradient_;
  bool sharded_ = false;
  std::vector<LayerCost> costs_;          ///< of each class
  std::vector<std::size_t> first_layer_;  ///< of each chunk, and the number of layers
  std::vector<Chunk> chunks_;
  std::vector<Rank> ranks_;
  GroupCall hop_;
  double tied_ = 0.0;         ///< elements that the last stage trains with the first
  std::pair<int, int> ends_;  ///< their ranks
  Bytes exchanged_, sent_data_, sent_tied_;
};

}  // namespace

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
  DividedStep hurried(std::move(*kernels));
  const auto composed = Composer(configuration, hurried.kernels, *graph, layers, plans).run(hurried);
  if (!composed) return tl::make_unexpected(composed.error());
  // A GPU that waits draws less than one that computes, and the limit is one of the mean over some 100 ms. So the products are
  // priced again, at the clock that the step's own waits allow.
  constexpr double kWaiting = 0.4;  // assumed
  const double busy = std::min<double>(1.0, hurried.times.busy / hurried.times.step);
  hurried.kernels.draw(busy + kWaiting * (1.0 - busy));
  DividedStep result(std::move(hurried.kernels));
  Composer composer(configuration, result.kernels, *graph, layers, plans);
  if (const auto settled = composer.run(result); !settled) return tl::make_unexpected(settled.error());
  if (detail) composer.describe(result);
  return result;
}

}  // namespace tbdsim
