#include "model/prediction/data_exchange.hpp"

#include <algorithm>
#include <cmath>

#include "model/configuration/choose_offload.hpp"
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

namespace {

/// Scales of blocks travel beside their numbers: 1 B for 32 of them, or 4 B for 128. A gradient that is cast once for each order
/// travels in both.
GatherWidths gather_widths(const Configuration& configuration) {
  const Bytes wide = map_element(configuration);
  const bool eight = configuration.precision == Precision::fp8 || configuration.precision == Precision::mxfp8;
  const auto stated = configuration.stack.operators.fp8.recipe;
  const EightBitGathers gathers = configuration.stack.parallel.tensor.eight_bit_gathers;
  if (!eight || !stated || gathers == EightBitGathers::none) return {wide, wide};
  const Fp8RecipeInfo& recipe = info(configuration.precision == Precision::mxfp8 ? Fp8Recipe::mxfp8 : *stated);
  if (recipe.turned != Turned::cast) return {Bytes(1.0), Bytes(1.0)};
  if (gathers == EightBitGathers::one_scale) return {wide, wide};
  constexpr Bytes kScaled(1.0 + 1.0 / 32.0);
  return {kScaled, 2.0 * kScaled};
}

}  // namespace

GradientSum gradient_sum(const Configuration& configuration) {
  const Stack& stack = configuration.stack;
  const GradientSums& gradients = stack.parallel.gradients;
  if (gradients.sum > Bytes(0.0)) return {gradients.sum, gradients.sum, 1.0};
  const int others = configuration.accumulate - 1;
  if (others == 0 || stack.update.gradient_kernels > 0) return {Bytes(0.0), Bytes(0.0), 0.0};
  constexpr double kPasses = 3.0;
  // Gradients that ranks divide after every micro-batch are added where they end up, as they are reduced.
  const bool divided = configuration.sharding() >= 2 && configuration.layout.pipeline == 1;
  const ShardRanks ranks = divided ? shard_ranks(configuration) : ShardRanks{};
  const Bytes made = is_whole_16_bit(configuration.precision) ? map_element(configuration) : kSingle;
  const auto moved = [&](int over) { return kPasses / over * (over > 1 && gradients.wide ? kSingle : made); };
  return {moved(ranks.dense), moved(ranks.experts), static_cast<double>(others) / configuration.accumulate};
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
          gather_widths(configuration),
          gradient_sum(configuration)};
}

ShardRanks shard_ranks(const Configuration& configuration) {
  const Layout& layout = configuration.layout;
  const int copies = group_of(layout, Axis::data).size, asked = configuration.stack.parallel.shards.ranks;
  const bool some = configuration.by_layers() && asked > 0 && asked < copies && copies % asked == 0;
  // Neighbours on the data axis share experts as the whole axis does.
  const int experts = layout.expert_data();
  return some ? ShardRanks{asked, std::max(1, asked * experts / copies)} : ShardRanks{copies, std::max(1, experts)};
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
  shards_ = shard_ranks(configuration);
  copies_ = group_of(layout_, Axis::data).size;
  copies_of_experts_ = layout_.expert_data();
  own_experts_ = layout_.expert > 1 || layout_.expert_tensor != layout_.tensor;
  sharded_ = configuration.gathers_by_layer() && layout_.pipeline == 1 && copies_ > 1;
}

PassTime DataExchange::pass(std::span<const LayerCost* const> layers, bool backward) {
  std::vector<ShardedLayer> order;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const LayerCost& own = *layers[layer];
    // What the last layer and the head gathered for forward is still there when backward begins (torchtitan,
    // parallelize_llama.py). At stage 2 all is: reshard_after_forward=False, SHARD_GRAD_OP.
    const bool stays = backward && (configuration_.zero == 2 || layer + 2 >= layers.size());
    ShardedLayer sharded{backward ? &own.backward : &own.forward, {}, {}};
    // Frozen arrays are gathered, and have no gradient.
    const Elements trained{own.parameters, own.expert_parameters};
    const Elements all{own.parameters + own.frozen, own.expert_parameters + own.expert_frozen};
    if (!stays) sharded.gather = call(CollectiveKind::all_gather, all, gathered_);
    if (configuration_.offload.weights) {
      const auto held = [&](const Elements& of) { return of.dense / shards_.dense + of.experts / shards_.experts; };
      if (!stays) sharded.copy_in = held(all) * stack_.parallel.offload.weight / configuration_.offload.copy;
      if (backward) sharded.copy_out = held(trained) * stack_.parallel.offload.gradient / configuration_.offload.copy;
    }
    if (backward) sharded.scatter = call(CollectiveKind::reduce_scatter, trained, gradient_);
    if (stack_.parallel.shards.copies) {
      const auto moved = [&](const Elements& of) {
        return (copies_ > 1 ? of.dense : 0.0) + (copies_of_experts_ > 1 ? of.experts : 0.0);
      };
      // Each is read and written once.
      const Bytes weight = stays ? Bytes(0.0) : 2.0 * gathered_, gradient = backward ? element_ + gradient_ : Bytes(0.0);
      sharded.moves = configuration_.compute_scale * kernels_.memory_kernel(moved(all) * weight + moved(trained) * gradient);
    }
    order.push_back(sharded);
  }
  if (backward) std::reverse(order.begin(), order.end());
  return sharded_pass(order);
}

UpdateCalls DataExchange::update(Elements elements, int arrays, const ArraySizes& sizes) {
  UpdateCalls calls;
  // Where owners broadcast their weights, arrays are given to them whole, and the one that got most is waited for.
  std::vector<double> owners;
  if (divides() && stack_.parallel.update.broadcasts && !sharded_) owners = array_owners(sizes, shards_.dense);
  // An array of which there is one copy stays where it is.
  const Elements shared{copies_ > 1 ? elements.dense : 0.0, copies_of_experts_ > 1 ? elements.experts : 0.0};
  calls.exchanged = shared.all() * gradient_;
  if (shared.all() > 0.0 && !sharded_) {
    const bool scatters = divides() && !stack_.parallel.gradients.reduced_everywhere;
    const CollectiveKind kind = scatters ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    calls.gradients = in_buckets(kind, shared, gradient_, calls);
    // A rank that keeps its share of the gradients alone gives the others away after every micro-batch. Source: DeepSpeed,
    // stage_1_and_2.py, partition_gradients.
    if (configuration_.zero == 2 && !configuration_.gathers_by_layer() && layout_.pipeline == 1)
      calls.turns = configuration_.accumulate;
    calls.sent *= calls.turns;
    calls.of_experts *= calls.turns;
    if (scatters && shards_.dense < copies_)
      calls.gradients.time +=
          plans_.across_data(shards_.dense, CollectiveKind::all_reduce, (1.0 / shards_.dense) * calls.exchanged).time;
    if (stack_.parallel.gradients.bucket_copies > Bytes(0.0))
      calls.copies =
          configuration_.compute_scale * kernels_.memory_kernel(shared.all() * stack_.parallel.gradients.bucket_copies);
    if (divides()) calls.weights = updated_weights(shared, owners, calls);
  }
  if (configuration_.zero >= 1)
    elements = {owners.empty() ? elements.dense / shards_.dense : owners.front(), elements.experts / shards_.experts};
  calls.update = update_time(elements, arrays);
  if (const Offload& host = configuration_.offload; host.states > 0.0) {
    const OffloadSettings& offload = stack_.parallel.offload;
    const double held = host.states * elements.all();
    calls.host.update = held * offload.moves / host.update;
    // Copies of weights that are gathered layer by layer belong to the passes.
    if (!host.weights) {
      calls.host.to_host = held * offload.gradient / host.copy;
      calls.host.from_host = held * offload.weight / host.copy;
      if (gradients_leave_in_turns(configuration_)) calls.host.turns = configuration_.accumulate;
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
  const bool beside = stack_.parallel.update.overlaps_gather || configuration_.gathers_by_layer();
  wait += beside ? behind(calls.weights, forward) : calls.weights.time;
  return wait;
}

bool DataExchange::divides() const { return configuration_.zero >= 1 && std::max(copies_, copies_of_experts_) > 1; }

/// Of the ranks that divide state, else of all copies.
GroupCall DataExchange::call(CollectiveKind kind, Elements arrays, Bytes element) {
  const bool shards = configuration_.zero >= 1 && kind != CollectiveKind::all_reduce;
  GroupCall made = shards ? plans_.within_data(shards_.dense, kind, arrays.dense * element)
                          : plans_.call(Axis::data, kind, arrays.dense * element);
  if (arrays.experts <= 0.0) return made;
  const GroupCall experts =
      own_experts_ ? plans_.expert_data(kind, arrays.experts * element) : call(kind, {arrays.experts, 0.0}, element);
  made.time += experts.time;
  made.sent += experts.sent;
  if (own_experts_) made.of_experts = experts.sent;
  made.taken = {std::max(made.taken.sms, experts.taken.sms), std::max(made.taken.memory, experts.taken.memory)};
  return made;
}

/// Calls for all arrays, by buckets.
CallSeries DataExchange::in_buckets(CollectiveKind kind, Elements arrays, Bytes element, UpdateCalls& calls) {
  const Bytes all = arrays.all() * element;
  const ParallelSettings& parallel = stack_.parallel;
  const Bytes bucket = std::max(parallel.gradients.bucket > Bytes(0.0) ? parallel.gradients.bucket : stack_.exchange.bucket,
                                static_cast<double>(copies_) * parallel.gradients.bucket_per_rank);
  const double count = bucket > Bytes(0.0) ? std::max(1.0, std::ceil(all / bucket)) : 1.0;
  const GroupCall one = call(kind, {arrays.dense / count, arrays.experts / count}, element);
  calls.send(count, one);
  return {count * one.time, one.time, one.taken};
}

/// Weights of all parts, gathered or broadcast by their owners in turn.
CallSeries DataExchange::updated_weights(Elements arrays, std::span<const double> owners, UpdateCalls& calls) {
  if (!stack_.parallel.update.broadcasts) return in_buckets(CollectiveKind::all_gather, arrays, gathered_, calls);
  CallSeries series;
  const double parts = std::max(1.0, static_cast<double>(owners.size()));
  for (const double owned : owners) {
    const GroupCall one = call(CollectiveKind::broadcast, {owned, arrays.experts / parts}, element_);
    calls.send(1.0, one);
    series.time += one.time;
    series.last = one.time;
    series.taken = one.taken;
  }
  return series;
}

/// Of what a rank updates. What the host updates is still read for the norm of all gradients, unless these lie there.
Seconds DataExchange::update_time(Elements arrays, int count) const {
  const double held = arrays.all(), elements = (1.0 - configuration_.offload.states) * held;
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
