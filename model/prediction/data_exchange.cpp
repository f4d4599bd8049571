#include "model/prediction/data_exchange.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/issue.hpp"
#include "model/schedule/divided/sharded_pass.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kSingle(4.0);

/// What calls beside a pass leave to wait for: the last one, those that the pass does not hide, and what it takes longer.
Seconds behind(const CallSeries& calls, PassBeside pass) {
  const double lost = lost_of_mix(calls.taken, pass.memory_share);
  const Seconds beside = std::min((1.0 - lost) * (calls.time - calls.last), pass.time);
  const Seconds slower = lost / (1.0 - lost) * beside;
  return slower + calls.last + std::max(Seconds(0.0), calls.time - calls.last - pass.time - slower);
}

}  // namespace

double copied_table(const OpGraph& graph) {
  for (const Op& op : graph.ops)
    if (const auto* linear = std::get_if<LinearAttributes>(&op.attributes); linear != nullptr && linear->tied)
      return static_cast<double>(linear->out_features) * static_cast<double>(graph.input_shape(op).back());
  return 0.0;
}

Bytes map_element(const Configuration& configuration) {
  const bool wide = configuration.precision == Precision::fp32 || configuration.precision == Precision::tf32;
  return wide ? Bytes(4.0) : Bytes(2.0);
}

LayerSetting layer_setting(const Configuration& configuration, const KernelModel& kernels, const Stack& stack) {
  return {kernels,
          stack,
          static_cast<double>(configuration.batch),
          issue_scale(configuration.hardware().host, stack.host),
          configuration.compute_scale,
          map_element(configuration),
          configuration.recompute,
          configuration.layout.expert,
          configuration.layout.tensor,
          !configuration.own_schedule && pipeline::info(configuration.schedule).placement == pipeline::Placement::two_way};
}

DataExchange::DataExchange(const Configuration& configuration, const KernelModel& kernels, GroupPlans& plans)
    : configuration_(configuration),
      stack_(configuration.stack),
      layout_(configuration.layout),
      kernels_(kernels),
      plans_(plans) {
  element_ = map_element(configuration);
  const bool eight = configuration.precision == Precision::fp8 || configuration.precision == Precision::mxfp8;
  gathered_ = eight && stack_.parallel.weights.gathers_8_bit ? Bytes(1.0) : element_;
  gradient_ = stack_.parallel.gradients.wide ? kSingle : element_;
  sharded_ = configuration.sharding() == 3 && group_of(layout_, Axis::data).size > 1;
}

PassTime DataExchange::pass(std::span<const LayerCost* const> layers, bool backward) {
  std::vector<ShardedLayer> order;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const LayerCost& own = *layers[layer];
    // What the last layer and the head gathered for forward is still there when backward begins (torchtitan,
    // parallelize_llama.py).
    const bool stays = backward && layer + 2 >= layers.size();
    ShardedLayer sharded{backward ? &own.backward : &own.forward, {}, {}};
    if (!stays) sharded.gather = call(CollectiveKind::all_gather, {own.parameters, own.expert_parameters}, gathered_);
    if (configuration_.offload.weights) {
      const double held = (own.parameters + own.expert_parameters) / shard_ranks();
      if (!stays) sharded.copy_in = held * stack_.parallel.offload.weight / configuration_.offload.copy;
      if (backward) sharded.copy_out = held * stack_.parallel.offload.gradient / configuration_.offload.copy;
    }
    if (backward) sharded.scatter = call(CollectiveKind::reduce_scatter, {own.parameters, own.expert_parameters}, gradient_);
    order.push_back(sharded);
  }
  if (backward) std::reverse(order.begin(), order.end());
  return sharded_pass(order);
}

UpdateCalls DataExchange::update(Elements elements, int arrays) {
  UpdateCalls calls;
  const int copies = group_of(layout_, Axis::data).size, shards = shard_ranks();
  if (copies > 1 && !sharded_) {
    calls.exchanged = elements.all() * gradient_;
    const bool scatters = divides() && !stack_.parallel.gradients.reduced_everywhere;
    const CollectiveKind kind = scatters ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    calls.gradients = in_buckets(kind, elements, gradient_, calls.sent);
    // A rank that keeps its share of the gradients alone gives the others away after every micro-batch. Source: DeepSpeed,
    // stage_1_and_2.py, partition_gradients.
    if (configuration_.zero == 2 && layout_.pipeline == 1) calls.turns = configuration_.accumulate;
    calls.sent *= calls.turns;
    if (scatters && shards < copies)
      calls.gradients.time += plans_.across_data(shards, CollectiveKind::all_reduce, (1.0 / shards) * calls.exchanged).time;
    if (stack_.parallel.gradients.bucket_copies > Bytes(0.0))
      calls.copies =
          configuration_.compute_scale * kernels_.memory_kernel(elements.all() * stack_.parallel.gradients.bucket_copies);
    if (divides()) calls.weights = updated_weights(elements, calls.sent);
  }
  if (sharded_) calls.exchanged = elements.all() * gradient_;
  calls.update = update_time(elements, arrays, divides() ? 1.0 / shards : 1.0);
  if (const Offload& host = configuration_.offload; host.states > 0.0) {
    const OffloadSettings& offload = stack_.parallel.offload;
    const double held = host.states * elements.all() / (divides() ? shards : 1);
    calls.host.update = held * offload.moves / host.update;
    // Copies of weights that are gathered layer by layer belong to the passes.
    if (!host.weights) {
      calls.host.to_host = held * offload.gradient / host.copy;
      calls.host.from_host = held * offload.weight / host.copy;
      // Gradients that are divided leave after every micro-batch, as DeepSpeed's do.
      if (configuration_.zero >= 2 && layout_.pipeline == 1) calls.host.turns = configuration_.accumulate;
    }
  }
  return calls;
}

Seconds DataExchange::offload_wait(const UpdateCalls& calls, PassBeside backward) const {
  return host_wait(calls.host, stack_.parallel.offload.overlap, backward.time, calls.update);
}

Seconds DataExchange::exposed(const UpdateCalls& calls, PassBeside forward, PassBeside backward) const {
  Seconds wait = calls.turns * (stack_.parallel.gradients.overlap ? behind(calls.gradients, backward) : calls.gradients.time);
  wait += calls.copies;
  // Where weights may be sharded layer by layer, they are also gathered so.
  const bool beside = stack_.parallel.update.overlaps_gather || configuration_.zero == 3;
  wait += beside ? behind(calls.weights, forward) : calls.weights.time;
  return wait;
}

bool DataExchange::divides() const { return configuration_.zero >= 1 && group_of(layout_, Axis::data).size > 1; }

/// Copies over which the state is divided.
int DataExchange::shard_ranks() const {
  const int copies = group_of(layout_, Axis::data).size, asked = stack_.parallel.shards.ranks;
  return asked > 0 && asked < copies && copies % asked == 0 ? asked : copies;
}

/// Of the ranks that divide state, else of all copies.
GroupCall DataExchange::call(CollectiveKind kind, Elements arrays, Bytes element) {
  const bool shards = configuration_.zero >= 1 && kind != CollectiveKind::all_reduce;
  GroupCall made = shards ? plans_.within_data(shard_ranks(), kind, arrays.dense * element)
                          : plans_.call(Axis::data, kind, arrays.dense * element);
  if (arrays.experts <= 0.0) return made;
  const GroupCall experts =
      layout_.expert > 1 ? plans_.expert_data(kind, arrays.experts * element) : call(kind, {arrays.experts, 0.0}, element);
  made.time += experts.time;
  made.sent += experts.sent;
  made.taken = {std::max(made.taken.sms, experts.taken.sms), std::max(made.taken.memory, experts.taken.memory)};
  return made;
}

/// Calls for all arrays, by buckets.
CallSeries DataExchange::in_buckets(CollectiveKind kind, Elements arrays, Bytes element, Bytes& sent) {
  const Bytes all = arrays.all() * element;
  const ParallelSettings& parallel = stack_.parallel;
  const Bytes bucket = std::max(parallel.gradients.bucket > Bytes(0.0) ? parallel.gradients.bucket : stack_.exchange.bucket,
                                static_cast<double>(group_of(layout_, Axis::data).size) * parallel.gradients.bucket_per_rank);
  const double count = bucket > Bytes(0.0) ? std::max(1.0, std::ceil(all / bucket)) : 1.0;
  const GroupCall one = call(kind, {arrays.dense / count, arrays.experts / count}, element);
  sent += count * one.sent;
  return {count * one.time, one.time, one.taken};
}

/// Weights of all parts, gathered or broadcast by their owners in turn.
CallSeries DataExchange::updated_weights(Elements arrays, Bytes& sent) {
  if (!stack_.parallel.update.broadcasts) return in_buckets(CollectiveKind::all_gather, arrays, gathered_, sent);
  const double parts = shard_ranks();
  const GroupCall one = call(CollectiveKind::broadcast, {arrays.dense / parts, arrays.experts / parts}, element_);
  sent += parts * one.sent;
  return {parts * one.time, one.time, one.taken};
}

Seconds DataExchange::update_time(Elements arrays, int count, double share) const {
  // What the host updates is still read for the norm of all gradients, unless these lie there.
  const double held = share * arrays.all(), elements = (1.0 - configuration_.offload.states) * held;
  const NodeCost own = kernels_.update_cost(elements);
  Seconds kernel = stack_.parallel.update.moves > Bytes(0.0) ? kernels_.memory_kernel(elements * stack_.parallel.update.moves)
                                                             : own.kernel.time;
  constexpr double kClipPasses = 3.0;
  if (stack_.parallel.update.clips)
    kernel += kernels_.memory_kernel((configuration_.offload.weights ? elements : held) * kClipPasses * gradient_);
  const double calls = (1.0 - configuration_.offload.states) * own.host_operators * count;
  const Seconds host = issue_scale(configuration_.hardware().host, stack_.host) * calls * stack_.host.update_dispatch;
  return configuration_.compute_scale * std::max(kernel, host);
}

}  // namespace tbdsim
