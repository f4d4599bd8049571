#include "model/prediction/memory_report.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <map>

#include "model/configuration/choose_layout.hpp"
#include "model/configuration/choose_offload.hpp"
#include "model/configuration/configure.hpp"
#include "model/prediction/longest_sequence.hpp"
#include "model/prediction/memory_hint.hpp"
#include "model/prediction/optimizer_state.hpp"
#include "model/workload/attention_ops.hpp"

#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

/// What a rank holds beside the arrays of the step.
Bytes beside(const StepMemory& memory, const RankMemory& rank, MemoryPart part) {
  return std::max(Bytes(0.0), rank.parts[part] - memory.profile.at_peak[part]);
}
Bytes beside(const StepMemory& memory, const RankMemory& rank) {
  return beside(memory, rank, MemoryPart::optimizer_state) + beside(memory, rank, MemoryPart::exchange);
}

std::vector<LayerMemory> layers_of(const OpGraph& graph, const StepMemory& memory) {
  std::vector<LayerMemory> layers(graph.ops.size());
  const RankMemory& rank = fullest(memory);
  // Of a pipeline only one stage's layers are here.
  std::vector<bool> here(graph.ops.size(), false);
  for (const Lifetime& array : memory.arrays)
    if (array.op.value >= 0 && array.part == MemoryPart::weights) here[static_cast<std::size_t>(array.op.value)] = true;
  double parameters = 0.0;
  for (const Parameter& p : graph.parameters)
    if (here[static_cast<std::size_t>(p.op.value)]) parameters += static_cast<double>(elements(p.shape));
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    layers[i] = {op.name, std::string(info(op.kind).name), to_text(graph.output_shape(op)), {}};
    double own = 0.0;
    for (const ParameterId id : op.parameters) own += static_cast<double>(elements(graph.parameter(id).shape));
    if (own > 0.0 && here[i])
      for (const MemoryPart part : {MemoryPart::optimizer_state, MemoryPart::exchange})
        layers[i].parts[part] = beside(memory, rank, part) * (own / parameters);
  }
  for (const std::int32_t held : memory.held) {
    const Lifetime& array = memory.arrays[static_cast<std::size_t>(held)];
    if (array.op.value >= 0) layers[static_cast<std::size_t>(array.op.value)].parts[array.part] += array.bytes;
  }
  return layers;
}

/// Layers by type; `layers` before they are sorted.
std::vector<TypeMemory> types_of(const OpGraph& graph, const std::vector<LayerMemory>& layers, const RankMemory& rank) {
  const std::vector<bool> attends = attention_ops(graph);
  std::vector<TypeMemory> types;
  TypeMemory rest{"no layer", 0, rank.parts};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string type = attends[i] ? "attention" : layers[i].kind;
    const auto same = std::find_if(types.begin(), types.end(), [&](const TypeMemory& t) { return t.type == type; });
    TypeMemory& into = same == types.end() ? types.emplace_back(TypeMemory{type, 0, {}}) : *same;
    ++into.layers;
    for (std::size_t part = 0; part < kMemoryPartCount; ++part) {
      into.parts.bytes[part] += layers[i].parts.bytes[part];
      rest.parts.bytes[part] -= layers[i].parts.bytes[part];
    }
  }
  // Sums in another order leave a rounding.
  for (Bytes& bytes : rest.parts.bytes) bytes = std::max(bytes, Bytes(0.0));
  std::erase_if(types, [](const TypeMemory& type) { return type.parts.total() <= Bytes(0.0); });
  types.push_back(std::move(rest));
  std::stable_sort(types.begin(), types.end(),
                   [](const TypeMemory& a, const TypeMemory& b) { return a.parts.total() > b.parts.total(); });
  return types;
}

std::vector<MemoryMoment> moments_of(const OpGraph& graph, const StepMemory& memory) {
  std::vector<MemoryMoment> moments;
  moments.reserve(memory.ops.size());
  const Bytes always = beside(memory, fullest(memory));
  for (std::size_t i = 0; i < memory.ops.size(); ++i)
    moments.push_back({graph.op(memory.ops[i]).name, info(memory.passes[i]).phase, memory.profile.live[i] + always});
  return moments;
}

/// The memory of a changed configuration; nothing where the change makes no sense.
std::optional<StepMemory> memory_with(Configuration changed) {
  const int batch = changed.batch;
  // What is computed again is not kept on the host.
  if (changed.recompute != Recompute::none) changed.offload.layers = 0;
  auto estimator = MemoryEstimator::make(std::move(changed));
  if (!estimator) return std::nullopt;
  return estimator->at(batch);
}

/// Whether layers are something else than blocks.
bool has_layers(const Configuration& configuration) {
  const OpGraph& graph = configuration.network_graph().graph;
  return recompute_segments(graph, Recompute::layer).size() < recompute_segments(graph, Recompute::block).size();
}

/// Of the changes whose names start so, all do the same in other portions: a larger portion that gains no more than a
/// smaller one before it goes.
void keep_best(std::vector<MemoryReduction>& reductions, std::string_view start) {
  Bytes most;
  std::erase_if(reductions, [&](const MemoryReduction& reduction) {
    if (!reduction.name.starts_with(start)) return false;
    const bool worse = reduction.gain <= most;
    most = std::max(most, reduction.gain);
    return worse;
  });
}

std::vector<MemoryReduction> reductions_of(const Configuration& configuration, Bytes peak, Bytes capacity) {
  std::vector<MemoryReduction> reductions;
  const auto consider = [&](std::string name, std::string what, Configuration changed) {
    const auto memory = memory_with(std::move(changed));
    if (!memory) return;
    if (const Bytes smaller = fullest(*memory).peak; smaller < peak)
      reductions.push_back({std::move(name), std::move(what), smaller, peak - smaller, fits(*memory, capacity)});
  };
  const auto changed = [&](const auto& change) {
    Configuration copy = configuration;
    change(copy);
    return copy;
  };
  if (configuration.recompute == Recompute::none && allocates_as_it_runs(configuration.stack)) {
    consider("recompute block", "--recompute block: feature maps of each block computed again in backward",
             changed([](Configuration& c) { c.recompute = Recompute::block; }));
    if (has_layers(configuration))
      consider("recompute layer", "--recompute layer: feature maps of each layer computed again in backward",
               changed([](Configuration& c) { c.recompute = Recompute::layer; }));
    consider("recompute full", "--recompute full: feature maps of groups of blocks computed again in backward",
             changed([](Configuration& c) { c.recompute = Recompute::full; }));
    keep_best(reductions, "recompute ");
  }
  if (configuration.recompute == Recompute::none && configuration.stack.memory.plan == MemoryPlan::mxnet)
    consider("recompute mirror", "--recompute mirror: cheap operators computed again in backward",
             changed([](Configuration& c) { c.recompute = Recompute::mirror; }));
  if (!configuration.stack.operators.inplace_activation)
    consider("in-place activations", "a framework version whose ReLU needs its output only",
             changed([](Configuration& c) { c.stack.operators.inplace_activation = true; }));
  const bool fp32 = !is_narrow(configuration.precision);
  if (fp32 && configuration.stack.features.amp)
    consider("16-bit feature maps", "--precision amp: fp32 master weights, 16-bit feature maps",
             changed([](Configuration& c) { c.precision = Precision::amp; }));
  consider("smaller workspace", "convolution workspaces of at most 64 MiB (kernels may be slower)", changed([](Configuration& c) {
             constexpr Bytes kSmall(64.0 * 1048576.0);
             c.stack.convolution.workspace_limit = std::min(c.stack.convolution.workspace_limit.value_or(kSmall), kSmall);
           }));
  const std::vector<int> stages = zero_stages(configuration.stack);
  if (configuration.data_parallel() > 1 && configuration.zero == 0 && info(configuration.exchange).collective() &&
      stages.size() > 1) {
    const bool units = configuration.stack.parallel.shards.units, copies = configuration.stack.exchange.copies_all;
    consider("sharded optimiser",
             units    ? "--zero 2: optimiser state and gradients divided over the GPUs"
             : copies ? "--zero 1: optimiser state divided over the GPUs, gradients sent bucket by bucket (DeepSpeed), not from "
                        "copies of all"
                      : "--zero 1: optimiser state divided over the GPUs",
             changed([&](Configuration& c) { c.zero = stages[1]; }));
  }
  const OffloadSettings& offload = configuration.stack.parallel.offload;
  const bool copies = configuration.layout.data * configuration.layout.context > 1;
  if (configuration.offload.states <= 0.0 && offload.states && configuration.optimizer.name == kHostOptimizer &&
      (offload.weights ? copies && configuration.sharding() == 3 : !copies || configuration.zero > 0))
    consider("states on the host", "--offload states: optimiser state and fp32 weights on the host, which updates them",
             changed([&](Configuration& c) {
               c.offload.states = 1.0;
               c.offload.weights = offload.weights;
             }));
  std::stable_sort(reductions.begin(), reductions.end(),
                   [](const MemoryReduction& a, const MemoryReduction& b) { return a.gain > b.gain; });
  return reductions;
}

void identify(const Configuration& c, MemoryReport& report) {
  report.hardware = c.hardware().id;
  report.device = c.hardware().device.id;
  report.model = c.network_graph().graph.name;
  report.variant = c.network_graph().graph.variant;
  report.stack = c.stack.id;
  report.precision = name(c.precision);
  report.exchange = c.exchange;
  report.optimizer = c.optimizer.name;
  report.gpus = c.gpus;
  report.nodes = c.nodes;
  report.batch_per_gpu = c.batch;
  report.notices = c.notices;
  report.layout = c.layout;
  report.accumulate = c.accumulate;
  report.zero = c.zero;
  report.offload_states = c.offload.states;
  report.offload_layers = c.offload.layers;
  report.recompute = name(c.recompute);
  if (const std::string state = optimizer_state_text(c); !state.empty()) report.notices.push_back("optimiser state: " + state);
  const auto& ops = c.network_graph().graph.ops;
  const bool drops = std::any_of(ops.begin(), ops.end(), [](const Op& op) { return op.kind == OpKind::dropout; });
  if (c.stack.host.eager && c.stack.operators.loads.compiles_kernels && drops)
    report.notices.push_back("memory is that of an eager step; a compiled one draws masks of dropout again and may keep less");
  if (c.stack.memory.plan == MemoryPlan::bfc) {
    // JAX documentation, "GPU memory allocation"; TensorFlow's, "Limiting GPU memory growth".
    const bool jax = c.stack.framework == Framework::jax;
    report.notices.push_back(fmt::format("{} takes {}; shown is what it needs", info(c.stack.framework).title,
                                         jax ? "75 % of the GPU unless XLA_PYTHON_CLIENT_MEM_FRACTION is set"
                                             : "nearly the whole GPU unless allow_growth is set"));
  }
}

/// A layer's name around its time step.
struct StepName {
  std::string before, after;
  int step = 0;
};
std::optional<StepName> step_name(const std::string& name) {
  constexpr std::string_view kMark = "_t";
  for (std::size_t at = name.find(kMark); at != std::string::npos; at = name.find(kMark, at + 1)) {
    const char* const first = name.data() + at + kMark.size();
    StepName result;
    const auto [end, error] = std::from_chars(first, name.data() + name.size(), result.step);
    if (error != std::errc() || end == name.data() + name.size() || *end != '_') continue;
    result.before = name.substr(0, at + kMark.size());
    result.after = name.substr(static_cast<std::size_t>(end - name.data()));
    return result;
  }
  return std::nullopt;
}

}  // namespace

std::vector<LayerMemory> steps_joined(const std::vector<LayerMemory>& layers) {
  struct Steps {
    std::size_t row;
    int first, last;
  };
  std::vector<LayerMemory> joined;
  std::map<std::pair<std::string, std::string>, Steps> found;
  for (const LayerMemory& layer : layers) {
    const auto name = step_name(layer.name);
    if (!name) {
      joined.push_back(layer);
      continue;
    }
    const auto [at, fresh] = found.try_emplace({name->before, name->after}, Steps{joined.size(), name->step, name->step});
    Steps& steps = at->second;
    if (fresh) {
      joined.push_back(layer);
      continue;
    }
    steps = {steps.row, std::min(steps.first, name->step), std::max(steps.last, name->step)};
    LayerMemory& row = joined[steps.row];
    row.name = fmt::format("{}{}..{}{}", name->before, steps.first, steps.last, name->after);
    for (std::size_t part = 0; part < kMemoryPartCount; ++part) row.parts.bytes[part] += layer.parts.bytes[part];
  }
  std::stable_sort(joined.begin(), joined.end(),
                   [](const LayerMemory& a, const LayerMemory& b) { return a.parts.total() > b.parts.total(); });
  return joined;
}

namespace {

/// Options of a job on which the memory of its GPUs does not depend.
Errors idle_options(const PredictOptions& options) {
  Errors errors;
  const auto refuse = [&](bool given, std::string_view option, std::string_view why) {
    if (given) errors.push_back({fmt::format("{}: {}", option, why)});
  };
  constexpr std::string_view kLoading = "the memory of GPUs does not depend on how samples are loaded",
                             kResident = "samples take memory of GPUs only with --storage gpu-memory";
  const bool resident = fold_name(options.storage) == fold_name("gpu-memory");
  refuse(options.buckets, "--buckets", "memory is that of the longest sequences in any case; --seq-len names another length");
  refuse(!options.network.empty(), "--network", "the memory of GPUs does not depend on the network between nodes");
  refuse(!options.input.empty() && !resident, "--input", kResident);
  refuse(!options.storage.empty() && !resident, "--storage", kResident);
  refuse(options.workers.has_value(), "--workers", kLoading);
  refuse(options.input_hosts.has_value(), "--input-hosts", kLoading);
  refuse(options.mock_loader, "--mock-loader", kLoading);
  refuse(options.mock_trainer, "--mock-trainer", kLoading);
  return errors;
}

}  // namespace

Result<MemoryReport> report_memory(Session& session, const PredictOptions& options, const MemoryQuestions& questions) {
  if (Errors idle = idle_options(options); !idle.empty()) return tl::make_unexpected(std::move(idle));
  auto configured = configure_for_memory(session, options);
  if (!configured) return tl::make_unexpected(configured.error());
  auto estimator = MemoryEstimator::make(*configured);
  if (!estimator) return tl::make_unexpected(estimator.error());
  const StepMemory memory = estimator->at(configured->batch);
  const OpGraph graph = estimator->graph();
  MemoryReport report;
  identify(*configured, report);
  report.memory = memory_verdict(*configured, memory);
  if (std::string slower = reduced_workspaces(memory); !slower.empty()) report.notices.push_back(std::move(slower));
  report.lower_bound = memory.lower_bound + beside(memory, fullest(memory));
  const auto peak = static_cast<std::size_t>(memory.profile.peak);
  report.peak_layer = graph.op(memory.ops[peak]).name;
  report.peak_phase = info(memory.passes[peak]).phase;
  report.layers = layers_of(graph, memory);
  report.types = types_of(graph, report.layers, fullest(memory));
  std::stable_sort(report.layers.begin(), report.layers.end(),
                   [](const LayerMemory& a, const LayerMemory& b) { return a.parts.total() > b.parts.total(); });
  report.moments = moments_of(graph, memory);
  if (questions.reductions) report.reductions = reductions_of(*configured, fullest(memory).peak, report.memory.capacity);
  const auto room = [](const MemoryReduction& way) { return way.fits; };
  if (questions.reductions && !report.memory.fits && std::none_of(report.reductions.begin(), report.reductions.end(), room))
    if (std::string plan = plan_hint(*configured); !plan.empty()) report.notices.push_back(std::move(plan));
  if (questions.largest_batch) {
    auto largest = options.global_batch ? largest_batch(session, options) : find_largest_batch(*estimator);
    if (!largest) return tl::make_unexpected(largest.error());
    report.largest = *largest;
  }
  return report;
}

}  // namespace tbdsim
