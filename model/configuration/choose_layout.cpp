#include "model/configuration/choose_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/configuration/choose_offload.hpp"
#include "model/configuration/choose_stages.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/memory/footprint.hpp"
#include "model/schedule/pipeline/check_schedule.hpp"
#include "model/schedule/pipeline/schedule_file.hpp"
#include "model/support/enum_table.hpp"
#include "model/support/find_named.hpp"
#include "model/workload/shard.hpp"

namespace tbdsim {
namespace {

/// Adds a notice, once: searches choose many layouts for one configuration.
void tell(Configuration& configuration, std::string notice) {
  std::vector<std::string>& all = configuration.notices;
  if (std::find(all.begin(), all.end(), notice) == all.end()) all.push_back(std::move(notice));
}

/// Every micro-batch is simulated; no published recipe comes near (BERT-large: 128).
constexpr int kMostMicroBatches = 1024;
/// Where layers are simulated once, micro-batches only cost the blocks of a pipeline.
constexpr int kMostDividedMicroBatches = 65536;

/// The order of a pipeline's passes.
void choose_schedule(const PredictOptions& options, Configuration& configuration, Errors& errors) {
  Layout& layout = configuration.layout;
  if (options.schedule.empty()) {
    if (layout.virtual_stages > 1) configuration.schedule = pipeline::ScheduleKind::interleaved;
    return;
  }
  if (layout.pipeline == 1) {
    errors.push_back({fmt::format("--schedule {}: of a pipeline; add --pipeline-parallel 2 or more", options.schedule)});
    return;
  }
  if (options.schedule.ends_with(".toml")) {
    auto own = pipeline::read_schedule_file(options.schedule);
    if (!own) {
      errors.insert(errors.end(), own.error().begin(), own.error().end());
      return;
    }
    layout.virtual_stages = options.virtual_stages.value_or(own->shape.chunks);
    configuration.own_schedule = std::move(*own);
    return;
  }
  const auto kind = pipeline::parse_schedule(options.schedule);
  if (!kind) {
    Error unknown = unknown_name("schedule", options.schedule, row_names(pipeline::schedules())).value().front();
    unknown.message += "; a file of one's own ends in .toml";
    errors.push_back(std::move(unknown));
    return;
  }
  configuration.schedule = *kind;
  if (const PipelineSettings& known = configuration.stack.parallel.pipeline; !known.has(pipeline::name(*kind)))
    tell(configuration, fmt::format("--schedule {}: what it would bring; {} has {} alone", pipeline::name(*kind),
                                    configuration.stack.id, known.schedules));
  const int chunks = pipeline::info(*kind).chunks;
  if (chunks > 0 && options.virtual_stages.value_or(chunks) != chunks)
    errors.push_back({fmt::format("--schedule {} --virtual-stages {}: its GPUs have {} {} of the network each",
                                  pipeline::name(*kind), layout.virtual_stages, chunks, chunks == 1 ? "part" : "parts")});
  if (chunks > 0) layout.virtual_stages = chunks;
  if (*kind == pipeline::ScheduleKind::interleaved && layout.virtual_stages == 1)
    errors.push_back(
        {fmt::format("--schedule interleaved{}: its GPUs have several parts of the network each; {} --virtual-stages 2",
                     options.virtual_stages ? " --virtual-stages 1" : "", options.virtual_stages ? "say" : "add")});
}

}  // namespace

std::optional<bool> asked_sequence(const PredictOptions& options) {
  if (options.sequence_parallel == "on") return true;
  if (options.sequence_parallel == "off") return false;
  return std::nullopt;
}

bool wants_sequence(const PredictOptions& options, const Stack& stack, int tensor) {
  return tensor > 1 && asked_sequence(options).value_or(stack.parallel.tensor.sequence);
}

int most_zero(const Stack& stack) { return stack.features.shards_states ? stack.parallel.shards.most_zero : 0; }

std::vector<int> zero_stages(const Stack& stack) {
  std::vector<int> stages;
  for (int stage = 0; stage <= most_zero(stack); ++stage)
    if (stage != 1 || !stack.parallel.shards.units) stages.push_back(stage);
  return stages;
}

// Long because every axis has rules of its own, and later ones read the sizes of earlier ones.
Errors choose_layout(const PredictOptions& options, Configuration& configuration) {
  Errors errors;
  Layout& layout = configuration.layout;
  const Stack& stack = configuration.stack;
  const auto refuse = [&](std::string message) { errors.push_back({std::move(message)}); };
  struct Asked {
    const char* flag;
    std::optional<int> given;
    int& into;
  };
  layout.expert_tensor = std::max(1, options.tensor_parallel.value_or(1));
  const std::array<Asked, 6> asked{{{"--tensor-parallel", options.tensor_parallel, layout.tensor},
                                    {"--context-parallel", options.context_parallel, layout.context},
                                    {"--expert-parallel", options.expert_parallel, layout.expert},
                                    {"--expert-tensor-parallel", options.expert_tensor_parallel, layout.expert_tensor},
                                    {"--pipeline-parallel", options.pipeline_parallel, layout.pipeline},
                                    {"--virtual-stages", options.virtual_stages, layout.virtual_stages}}};
  bool sound = true;
  for (const Asked& axis : asked) {
    axis.into = axis.given.value_or(axis.into);
    if (axis.into >= 1) continue;
    refuse(fmt::format("{} {}: expected at least 1", axis.flag, axis.into));
    sound = false;
  }
  if (!sound) return errors;
  const std::optional<bool> asked_positions = asked_sequence(options);
  const bool on = asked_positions.value_or(false);
  if (!options.sequence_parallel.empty() && !asked_positions)
    refuse(fmt::format("--sequence-parallel {}: expected on or off", options.sequence_parallel));
  if (on && layout.tensor == 1)
    refuse("--sequence-parallel on: divides what --tensor-parallel leaves whole; add --tensor-parallel 2 or more");
  layout.sequence = wants_sequence(options, stack, layout.tensor);
  // A network that could not be read has no positions.
  if (layout.sequence && *configuration.workload && !positions_divide(configuration.network_graph().graph, layout)) {
    const std::string why = undivided_positions(configuration.network_graph().graph, layout);
    if (on)
      refuse(fmt::format("--sequence-parallel on: {}", why));
    else if (layout.expert > 1 && layout.expert_tensor == 1)
      refuse(fmt::format("--expert-tensor-parallel 1 beside --tensor-parallel: needs sequence parallelism, and {}", why));
    layout.sequence = false;
    tell(configuration, fmt::format("sequence parallelism is off: {}", why));
  }
  layout.regathers = stack.parallel.tensor.regathers;
  layout.by_heads = stack.parallel.context == ContextExchange::all_to_all;
  if (options.expert_tensor_parallel && layout.expert == 1)
    refuse("--expert-tensor-parallel divides experts that --expert-parallel spreads; add --expert-parallel 2 or more");
  if (layout.virtual_stages > 1 && layout.pipeline == 1)
    refuse(fmt::format("--virtual-stages {}: parts of a pipeline's stages; add --pipeline-parallel 2 or more",
                       layout.virtual_stages));
  choose_schedule(options, configuration, errors);
  if (configuration.gpus == 0) return errors;
  const std::int64_t replica = std::int64_t{layout.tensor} * layout.context * layout.pipeline;
  if (configuration.gpus % replica != 0) {
    refuse(
        fmt::format("--tensor-parallel {} --context-parallel {} --pipeline-parallel {}: one copy of the network takes {} GPUs, "
                    "which do not divide the {} of the job",
                    layout.tensor, layout.context, layout.pipeline, replica, configuration.gpus));
    return errors;
  }
  layout.data = static_cast<int>(configuration.gpus / replica);
  if (layout.expert > 1 && layout.tensor * layout.context * layout.data % (layout.expert * layout.expert_tensor) != 0)
    refuse(fmt::format(
        "--expert-parallel {} --expert-tensor-parallel {}: {} GPUs for a copy of the experts do not divide the {} "
        "that compute each stage",
        layout.expert, layout.expert_tensor, layout.expert * layout.expert_tensor, layout.tensor * layout.context * layout.data));
  if (!options.zero && stack.parallel.shards.zero > 0 && layout.data * layout.context > 1)
    configuration.zero = stack.parallel.shards.zero;
  if (configuration.zero == 3 && layout.pipeline > 1 && !stack.parallel.shards.beside_stages) {
    if (options.zero)
      refuse(fmt::format("--zero 3 with --pipeline-parallel: {} does not shard the weights of stages; at most --zero 2 there",
                         stack.id));
    configuration.zero = std::min(configuration.zero, 2);
  }
  if (configuration.zero == 1 && stack.parallel.shards.units)
    refuse(
        fmt::format("--zero 1: {} divides states with gradients and weights; --zero 2 keeps gathered weights from forward to "
                    "backward, --zero 3 gathers them again, --zero 0 divides nothing",
                    stack.id));
  const Errors offload = choose_offload(options, configuration);
  errors.insert(errors.end(), offload.begin(), offload.end());
  const bool by_stack = stack.parallel.every_job || (!options.zero && configuration.zero > 0);
  if ((layout.divides_network() || by_stack) && !info(configuration.exchange).collective())
    refuse(fmt::format("{} are exchanged by allreduce, not by {}",
                       layout.divides_network()
                           ? to_text(layout) + ": gradients of divided networks"
                           : fmt::format("stack {}: gradients of a step that is simulated layer by layer", stack.id),
                       name(configuration.exchange)));
  if (!layout.divides_network()) return errors;
  if (!allocates_as_it_runs(stack))
    refuse(fmt::format("{}: modelled for frameworks that allocate as they run (PyTorch, TensorFlow)", to_text(layout)));
  return errors;
}

Errors choose_micro_batches(const PredictOptions& options, Configuration& configuration) {
  Errors errors;
  const std::int64_t samples = std::int64_t{configuration.batch} * configuration.data_parallel();
  if (options.global_batch) {
    const int wanted = *options.global_batch;
    if (options.accumulate)
      errors.push_back({fmt::format("--global-batch {} --accumulate {}: give one of them", wanted, *options.accumulate)});
    else if (wanted < 1 || wanted % samples != 0)
      errors.push_back(
          {fmt::format("--global-batch {}: expected a multiple of {}, that is --batch {} on {} copies of the network", wanted,
                       samples, configuration.batch, configuration.data_parallel())});
    else
      configuration.accumulate = static_cast<int>(wanted / samples);
  }
  if (configuration.layout.pipeline > 1) {
    const pipeline::PipelineShape shape = configuration.pipeline_shape();
    const auto& own = configuration.own_schedule;
    if (auto why = own ? mismatch(*own, shape) : unmet_demand(configuration.schedule, shape))
      errors.push_back({fmt::format("--schedule {}{}", own ? options.schedule + ": " : "", *why)});
  }
  // What ZeRO 2 sends to the host after every micro-batch, ZeRO 1 sends once.
  const bool sends = gradients_leave_in_turns(configuration) && configuration.accumulate > 1;
  if (options.zero.value_or(0) > 0 && configuration.layout.data * configuration.layout.context == 1 && !sends)
    tell(configuration, one_copy_notice(*options.zero));
  const int most = configuration.by_layers() ? kMostDividedMicroBatches : kMostMicroBatches;
  if (configuration.accumulate > most && options.global_batch)
    errors.push_back({fmt::format("--global-batch {}: {} micro-batches of {} samples; at most {} are modelled",
                                  *options.global_batch, configuration.accumulate, samples, most)});
  else if (configuration.accumulate > most)
    errors.push_back({fmt::format("--accumulate {}: at most {} micro-batches are modelled", configuration.accumulate, most)});
  return errors;
}

Errors choose_division(const PredictOptions& options, Configuration& configuration) {
  configuration.layout = {};
  configuration.schedule = pipeline::ScheduleKind::one_f_one_b;
  configuration.own_schedule.reset();
  configuration.zero = options.zero.value_or(0);
  configuration.accumulate = options.accumulate.value_or(1);
  configuration.batch = options.batch.value_or(configuration.network_graph().graph.default_batch);
  Errors errors = choose_layout(options, configuration);
  if (errors.empty()) errors = choose_stages(options, configuration);
  if (errors.empty()) errors = choose_micro_batches(options, configuration);
  return errors;
}

}  // namespace tbdsim
