// Long because every option is read into one configuration, in the order in which they depend on each other.
#include "model/configuration/read_configuration.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "model/configuration/choose_attention.hpp"
#include "model/configuration/choose_devices.hpp"
#include "model/configuration/choose_input.hpp"
#include "model/configuration/choose_layout.hpp"
#include "model/configuration/choose_offload.hpp"
#include "model/configuration/choose_stages.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/cost/library_age.hpp"
#include "model/hardware/plain_host.hpp"
#include "model/memory/footprint.hpp"
#include "model/memory/mxnet_graph.hpp"
#include "model/schedule/exchange/check_exchange.hpp"
#include "model/schedule/exchange/node_traffic.hpp"
#include "model/support/enum_table.hpp"
#include "model/support/find_named.hpp"

namespace tbdsim {
namespace {

/// Of SGD with momentum where each of its steps is a kernel.
constexpr double kMomentumPasses = 11.0;

/// Passes: SGD reads weight and gradient and writes the weight (3), momentum adds 2, Adam's second moment 2 more; LARS
/// and LAMB read weights and gradients (and states) once more for their norms. NovoGrad keeps one scalar per array.
/// Unfused, against SGD with momentum in 4 kernels and 11 passes (torch/optim/sgd.py: weight decay added 3, momentum scaled 2,
/// gradient added 3, step 3): torch/optim/adam.py of 1.4 runs both moments, square root, bias correction, epsilon and step in 7
/// groups of kernels and 20 passes without its weight decay (2.x, over lists of arrays: 18);
/// LAMB (DeepLearningExamples, lamb.py) adds two norms, their ratio and the scaled step: 16 kernels, 32 passes. Where a compiler
/// fuses that script (JITLamb of the same file, since PyTorch 1.7), moments and step are one kernel of 7 passes, two norms
/// follow, their ratio in two small kernels, and the scaled step in 3 passes: 6 kernels, 12 passes. BertAdam (the same examples,
/// BERT/optimization.py: fine-tuning without 16 bits) clips every array's gradient by its norm, which the host reads back (4
/// passes), then works on copies: 14 kernels, 34 passes, in a loop over arrays whatever the framework's own optimisers fuse;
/// three products of its formula read variables alone: both moments and the weights, each with its decay rate
/// (google-research/bert optimization.py, AdamWeightDecayOptimizer). Adam with 8-bit moments (Dettmers et al., arXiv:2110.02861)
/// keeps two bytes a parameter and is one kernel everywhere. "none" is a script that only makes gradients, and sets them to zero.
const std::array<Optimizer, 10> kOptimizers{
    {{"none", 0, 0, 0, 0},
     {"sgd", 0, 3.0 / 5.0, 3.0 / kMomentumPasses, 1.0 / 4.0},
     {"sgd-momentum", 1, 1.0, 1.0, 1.0},
     {"adam", 2, 7.0 / 5.0, 20.0 / kMomentumPasses, 7.0 / 4.0, false, 0, true, false, 18.0 / kMomentumPasses},
     {"adam-8bit", 0.5, 5.0 / 5.0, 5.0 / kMomentumPasses, 1.0 / 4.0, false, 0, false, true},
     {"bert-adam", 2, 8.0 / 5.0, 34.0 / kMomentumPasses, 14.0 / 4.0, true, 3},
     {"lamb", 2, 10.0 / 5.0, 32.0 / kMomentumPasses, 16.0 / 4.0},
     {"lamb-compiled", 2, 10.0 / 5.0, 12.0 / kMomentumPasses, 6.0 / 4.0},
     {"lars", 1, 7.0 / 5.0, 16.0 / kMomentumPasses, 8.0 / 4.0},
     {"novograd", 1, 6.0 / 5.0, 14.0 / kMomentumPasses, 8.0 / 4.0}}};

/// Ten times the largest job that is foreseen (10^5 GPUs); products with it stay exact.
constexpr std::int64_t kMostGpus = 1'000'000;

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  if (const auto near = nearest(word, candidates)) return fmt::format(", did you mean \"{}\"?", *near);
  return fmt::format("; there are {}", fmt::join(candidates, ", "));
}

Result<Optimizer> choose_optimizer(const std::string& name) {
  if (name.empty()) return kOptimizers[2];
  return find_named(kOptimizers, "optimizer", name);
}

/// Passes over a parameter against those of SGD with momentum. Lists of arrays in several kernels ("foreach") are the same
/// formulas; only one kernel is a fused one.
double passes_of(const Optimizer& optimizer, const Stack& stack, bool unfused) {
  const bool listed = unfused && stack.update.kind == UpdateKind::multi_tensor && optimizer.listed_passes > 0.0;
  return listed ? optimizer.listed_passes : unfused ? optimizer.unfused_passes : optimizer.relative_passes;
}

/// The stack states the passes and kernels of SGD with momentum; other optimisers are counted against it. Bytes of a step that is
/// simulated layer by layer are those of Adam, with which such networks are trained.
void scale_update(const Optimizer& optimizer, Precision precision, Stack& stack) {
  if (optimizer.unfused_kernels == 0.0) {
    stack.update.kernels_per_array = 0;
    stack.update.passes_sgd_momentum = stack.update.extra_passes = 0.0;
    stack.parallel.update.moves = Bytes(0.0);
    stack.parallel.update.clips = false;
    return;
  }
  const bool loops = stack.host.eager && optimizer.loops_over_arrays && !stack.update.fuses_loops;
  if (stack.update.checks_overflow && precision == Precision::amp) stack.update.wait = UpdateWait::once;
  if (loops) {
    // SGD with momentum as a loop (torch.optim.SGD before 1.13), whatever the framework makes of it.
    constexpr int kKernels = 4;
    stack.update.kind = UpdateKind::per_array;
    stack.update.passes_sgd_momentum = kMomentumPasses;
    stack.update.kernels_per_array = kKernels;
    stack.update.wait = UpdateWait::each_array;
  }
  const bool unfused = stack.host.eager && (stack.update.kind == UpdateKind::per_array || stack.update.kernels_per_array > 1);
  const double passes = passes_of(optimizer, stack, unfused);
  stack.update.passes_sgd_momentum *= passes;
  const Result<Optimizer> adam = choose_optimizer("adam");
  stack.parallel.update.moves = passes / passes_of(*adam, stack, unfused) * stack.parallel.update.moves;
  if (unfused)
    stack.update.kernels_per_array =
        std::max(1, static_cast<int>(std::lround(stack.update.kernels_per_array * optimizer.unfused_kernels)));
}

Result<Precision> choose_precision(const std::string& name) {
  if (name.empty()) return Precision::fp32;
  if (const auto precision = parse_precision(name)) return *precision;
  constexpr std::array<std::string_view, 4> kNarrower{"fp4", "nvfp4", "mxfp4", "mxfp6"};
  if (std::find(kNarrower.begin(), kNarrower.end(), fold_name(name)) != kNarrower.end())
    return fail(
        fmt::format("precision {}: no samples of such products stand behind a rate; the narrowest are fp8 and mxfp8", name));
  const auto known = precision_names();
  return fail(fmt::format("unknown precision \"{}\"{}", name, suggestion(name, {known.begin(), known.end()})));
}

/// Whether the stack has it is the plan's to say.
Result<Exchange> choose_exchange(const std::string& name) {
  if (name.empty()) return Exchange::allreduce;
  if (const auto exchange = parse_exchange(name)) return *exchange;
  if (fold_name(name) == "pipeline")
    return fail(
        "--exchange pipeline: stages are a layout of the network, no way to exchange gradients; write --pipeline-parallel N, "
        "with "
        "--accumulate micro-batches an update");
  return fail(fmt::format("unknown exchange \"{}\"{}", name, suggestion(name, row_names(exchanges()))));
}

void choose_savings(const PredictOptions& options, Configuration& configuration, Errors& errors) {
  const std::string word = fold_name(options.recompute);
  const Recompute selective =
      configuration.stack.parallel.selective == SelectiveRecompute::attention ? Recompute::attention : Recompute::operators;
  const std::array kKinds{Recompute::none, selective, Recompute::block, Recompute::layer, Recompute::full, Recompute::mirror};
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(), [&](Recompute k) { return name(k) == word; });
  if (kind != kKinds.end())
    configuration.recompute = *kind;
  else if (!word.empty())
    errors.push_back({fmt::format("unknown recomputation \"{}\"{}", options.recompute,
                                  suggestion(options.recompute, {"none", "selective", "block", "layer", "full", "mirror"}))});
  const MemoryPlan plan = configuration.stack.memory.plan;
  if (configuration.recompute == Recompute::mirror && plan != MemoryPlan::mxnet)
    errors.push_back({fmt::format("--recompute mirror: that is MXNet's (MXNET_BACKWARD_DO_MIRROR), not {}'s",
                                  name(configuration.stack.framework))});
  else if (configuration.recompute != Recompute::none && configuration.recompute != Recompute::mirror &&
           !allocates_as_it_runs(configuration.stack))
    errors.push_back(
        {fmt::format("--recompute: modelled for frameworks that allocate as they run (PyTorch, TensorFlow), not for {}",
                     plan == MemoryPlan::mxnet ? "MXNet, which has --recompute mirror" : "Caffe2")});
  configuration.zero = options.zero.value_or(0);
  if (configuration.zero < 0 || configuration.zero > 3)
    errors.push_back({fmt::format("--zero {}: expected a stage from 0 to 3", configuration.zero)});
  configuration.accumulate = options.accumulate.value_or(1);
  if (configuration.accumulate < 1)
    errors.push_back({fmt::format("--accumulate {}: expected at least 1 micro-batch per update", configuration.accumulate)});
}

void append(const Errors& more, Errors& errors) { errors.insert(errors.end(), more.begin(), more.end()); }

template <class T>
bool take(Result<T> result, T& target, Errors& errors) {
  if (result) {
    target = std::move(*result);
    return true;
  }
  errors.insert(errors.end(), result.error().begin(), result.error().end());
  return false;
}

void choose_network(Session& session, const PredictOptions& options, Configuration& configuration, Errors& errors) {
  if (options.network.empty()) {
    configuration.network = configuration.hardware().network;
    return;
  }
  const auto network = session.network(options.network);
  if (!*network) {
    errors.insert(errors.end(), network->error().begin(), network->error().end());
    return;
  }
  configuration.network = **network;
}

/// One machine stands for two: its worker and its server exchange over the network that was named, else over PCIe.
void emulate(const PredictOptions& options, Configuration& configuration, Errors& errors) {
  if (!info(configuration.exchange).parameter_servers)
    errors.push_back(
        {fmt::format("--nodes 1 emulates a worker and a parameter server on one machine: expected --exchange ps or "
                     "ps-p3, got {}; use --nodes 2 or more for others",
                     name(configuration.exchange))});
  if (configuration.gpus != 1)
    errors.push_back({fmt::format("--nodes 1 emulates one worker with one GPU, got {}; add --gpus 1", configuration.gpus)});
  configuration.emulated = true;
  if (!options.network.empty() || !errors.empty()) return;
  auto network = pcie_network(configuration.hardware(), configuration.devices);
  if (!network) {
    errors.insert(errors.end(), network.error().begin(), network.error().end());
    return;
  }
  configuration.network = std::move(*network);
}

// Kernels compiled for an older generation: between two generations, efficiencies differ by about 20 %.
constexpr double kForeignGenerationSpread = 0.20;

/// Whether the stack runs on the device at all, and whether it knows it.
void check_support(const Device& device, Configuration& configuration, Errors& errors) {
  Stack& stack = configuration.stack;
  if (device.vendor && stack.vendor != *device.vendor) {
    errors.push_back(Error{
        fmt::format("stack {} runs on {} devices, {} is {}", stack.id, name(stack.vendor), device.id, name(device.vendor))});
    return;
  }
  const int has = capability_number(device.compute_capability);
  if (has == 0) return;
  if (has < capability_number(stack.minimum_compute_capability)) {
    errors.push_back(Error{fmt::format("stack {} needs compute capability {}, {} has {}", stack.id,
                                       stack.minimum_compute_capability, device.id, device.compute_capability)});
  } else if (!knows_family(stack.cuda, device.chip)) {
    const double share = young_library_share(device.chip, stack.cuda);
    const std::string taken =
        share == 1.0 ? "taken as if it knew the device, the range is wider"
                     : fmt::format(
                           "products on tensor cores are taken at {} of their rate, the range is wider; a build that "
                           "knows the device: --set stack.cuda={}",
                           share, device.chip.cuda);
    configuration.notices.push_back(
        fmt::format("stack {} (CUDA {}) is older than {}: {}", stack.id, stack.cuda, device.id, taken));
    stack.extra_spread = std::hypot(stack.extra_spread, kForeignGenerationSpread);
  }
}

void choose_stack(Session& session, const PredictOptions& options, Configuration& configuration, Errors& errors) {
  const Device& device = configuration.hardware().device;
  configuration.notices.insert(configuration.notices.end(), device.doubts.begin(), device.doubts.end());
  // As without a name, PyTorch without a version is the newest that runs here.
  const bool any = options.stack.empty() || parse_framework(options.stack) == Framework::pytorch;
  const auto stack = any ? session.default_stack(device) : session.stack(options.stack);
  if (!*stack) {
    errors.insert(errors.end(), stack->error().begin(), stack->error().end());
    return;
  }
  configuration.stack = **stack;
  configuration.notices.insert(configuration.notices.end(), configuration.stack.notices.begin(),
                               configuration.stack.notices.end());
  constexpr int kUsualThreads = 2048;  // of a multiprocessor
  configuration.stack.memory.context += device.multiprocessors * device.max_threads_per_multiprocessor.value_or(kUsualThreads) *
                                        configuration.stack.memory.context_per_thread;
  check_support(device, configuration, errors);
  if (configuration.stack.operators.order.channels_last)
    configuration.notices.push_back(
        "channels last: tensor cores read it as it lies, batch norm loads several 16-bit numbers at once; "
        "all else costs what it does with channels first");
  if (options.precision.empty() && device.peak.tf32_tensor && info(device.vendor.value_or(Vendor::nvidia)).defaults_to_tf32)
    configuration.notices.push_back(
        fmt::format("fp32 is IEEE arithmetic; frameworks may default to tf32 on {} (--precision tf32)", device.id));
}

/// A stack that plans memory for every operator of every cell takes time and memory for each of them.
void check_cells(const Configuration& configuration, Errors& errors) {
  constexpr std::int64_t kMostCells = 50'000;
  if (configuration.stack.memory.plan != MemoryPlan::mxnet) return;
  const OpGraph& graph = configuration.network_graph().graph;
  std::int64_t cells = 0;
  for (const Op& op : graph.ops)
    if (unrolled_cells(op)) cells += graph.output_shape(op).front();
  if (cells > kMostCells)
    errors.push_back({fmt::format("{}: {} unrolls its recurrent layers into {} cells; at most {} are modelled", graph.name,
                                  configuration.stack.id, cells, kMostCells)});
}

/// Whether a layer shares the array of a table whose gradient is sparse: a sum of both uses is dense.
bool shares_sparse_table(const OpGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) {
    const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
    const auto* table = std::get_if<EmbeddingAttributes>(&op.attributes);
    Shape shape;
    if (linear != nullptr && linear->tied) shape = {linear->out_features, graph.input_shape(op).back()};
    if (table != nullptr && table->tied) shape = {table->rows, table->width};
    const bool of_sparse = std::any_of(graph.parameters.begin(), graph.parameters.end(), [&](const Parameter& parameter) {
      return parameter.rows_read > 0 && parameter.shape == shape;
    });
    return of_sparse || (op.shares_weights && table != nullptr && table->sparse);
  });
}

/// Sparse gradients are made by PyTorch's tables, exchanged by none of the modelled ways, and taken by few optimisers.
Errors check_sparse_gradients(const Configuration& configuration) {
  const OpGraph& graph = configuration.network_graph().graph;
  Errors errors;
  if (!has_sparse_gradients(graph)) return errors;
  const auto refuse = [&](const std::string& what) {
    errors.push_back(
        {fmt::format("the tables of {} have sparse gradients, which hold only the rows read: {}", graph.name, what)});
  };
  if (shares_sparse_table(graph)) refuse("no other layer can share such a table; say sparse = false");
  if (configuration.stack.framework != Framework::pytorch)
    refuse(fmt::format("modelled for PyTorch, not for --stack {}", configuration.stack.id));
  const Stack& stack = configuration.stack;
  const bool copies =
      is_whole_16_bit(configuration.precision) && (stack.parallel.weights.masters || stack.features.casts_weights);
  if (configuration.by_layers())
    refuse(fmt::format("modelled for PyTorch's own loop over one copy of the weights, not for --stack {}", stack.id));
  else if (copies)
    refuse(fmt::format("--precision {} keeps a second copy of the weights, which is not modelled for them; use amp, tf32 or fp32",
                       name(configuration.precision)));
  if (configuration.gpus > 1)
    refuse(
        fmt::format("neither their exchange nor tables divided over {} GPUs is modelled; ask for one GPU", configuration.gpus));
  if (configuration.zero > 0) refuse(fmt::format("--zero {} does not divide them", configuration.zero));
  if (configuration.accumulate > 1)
    refuse(fmt::format("their sum over --accumulate {} micro-batches is not modelled", configuration.accumulate));
  const std::string_view optimizer = configuration.optimizer.name;
  if (optimizer != "sgd" && optimizer != "none")
    refuse(fmt::format("--optimizer {} is not modelled for them, only sgd, which has no momentum", optimizer));
  return errors;
}

/// What no library of the stack's framework offers.
void refuse_missing(const Configuration& configuration, Errors& errors) {
  const Stack& stack = configuration.stack;
  if (configuration.zero > 0 && !stack.features.shards_states)
    errors.push_back({fmt::format("--zero {}: stacks of DeepSpeed and PyTorch shard so, {} is described without it",
                                  configuration.zero, stack.id)});
  if (configuration.optimizer.byte_states && !stack.features.byte_states)
    errors.push_back({fmt::format("--optimizer {}: its states of 8 bits are bitsandbytes', for PyTorch; {} has none",
                                  configuration.optimizer.name, stack.id)});
}

/// What is wrong with the other names of a job whose machine is not known: all are told at once.
Errors problems_beside_machine(Session& session, const PredictOptions& options) {
  Errors errors;
  std::string variant = "torchvision";
  if (!options.stack.empty() && parse_framework(options.stack) != Framework::pytorch) {
    const auto stack = session.stack(options.stack);
    if (*stack)
      variant = (**stack).zoo_variant;
    else
      append(stack->error(), errors);
  }
  if (!options.network.empty())
    if (const auto network = session.network(options.network); !*network) append(network->error(), errors);
  append(unknown_choices(options), errors);
  const auto network = session.workload(options.model, variant, {options.image, std::nullopt, options.seq_len, false});
  if (!*network) append(network->error(), errors);
  return errors;
}

}  // namespace

Errors unknown_choices(const PredictOptions& options) {
  Errors errors;
  const auto append_of = [&](const auto& chosen) {
    if (!chosen) append(chosen.error(), errors);
  };
  append_of(choose_precision(options.precision));
  append_of(choose_optimizer(options.optimizer));
  append_of(choose_exchange(options.exchange));
  return errors;
}

std::shared_ptr<const Result<NcclLibrary>> collective_library(Session& session, const Configuration& configuration) {
  const std::string& architecture = configuration.hardware().device.architecture;
  auto library = session.nccl(configuration.stack.nccl, architecture);
  if (*library && configuration.nodes > 1 && !(**library).release.between_nodes.empty())
    library = session.nccl((**library).release.between_nodes, architecture);
  return library;
}

// Long because choices are made in the order in which their problems are reported.
Result<Configuration> read_configuration(Session& session, const PredictOptions& options) {
  Errors errors;
  Configuration configuration;
  if (options.hardware.empty()) return fail("no hardware named; use --hw, such as --hw dgx1.toml");
  if (options.model.empty()) return fail("no model named; use --model, such as --model resnet50");
  if (options.batch && *options.batch < 1)
    return fail(fmt::format("--batch {}: expected at least 1 sample per GPU", *options.batch));
  for (const auto& [flag, size, what] :
       {std::tuple{"--seq-len", options.seq_len, "a length"}, {"--image", options.image, "a size"}})
    if (size && *size < 1) return fail(fmt::format("{} {}: expected {} of at least 1", flag, *size, what));
  configuration.system =
      session.system(options.hardware, std::max(1, options.gpus.value_or(1) / std::max(1, options.nodes.value_or(1))));
  if (!*configuration.system) {
    Errors all = configuration.system->error();
    append(problems_beside_machine(session, options), all);
    return tl::make_unexpected(std::move(all));
  }
  configuration.constants = session.constants();
  configuration.compute_scale = options.compute_scale;
  if (!*configuration.constants) return tl::make_unexpected(configuration.constants->error());
  choose_stack(session, options, configuration, errors);
  choose_network(session, options, configuration, errors);
  choose_savings(options, configuration, errors);
  take(choose_precision(options.precision), configuration.precision, errors);
  take(choose_optimizer(options.optimizer), configuration.optimizer, errors);
  take(choose_exchange(options.exchange), configuration.exchange, errors);
  append(choose_attention(options, configuration), errors);
  refuse_missing(configuration, errors);
  if (configuration.zero > 0 && !info(configuration.exchange).collective())
    errors.push_back({fmt::format("--zero {}: shards over the ranks of an all-reduce, not with --exchange {}", configuration.zero,
                                  name(configuration.exchange))});
  std::pair<std::vector<int>, int> devices;
  const bool counted = take(choose_devices(options, configuration.hardware()), devices, errors);
  if (counted) {
    configuration.devices = std::move(devices.first);
    configuration.nodes = devices.second;
    const auto gpus = static_cast<std::int64_t>(configuration.devices.size()) * configuration.nodes;
    if (gpus > kMostGpus) errors.push_back({fmt::format("{} GPUs: at most {} are modelled", gpus, kMostGpus)});
    configuration.gpus = static_cast<int>(std::min(gpus, kMostGpus));
  }
  configuration.nccl = collective_library(session, configuration);
  if (options.emulated && configuration.nodes == 1) emulate(options, configuration, errors);
  if (std::string notice = network_notice(options, configuration); !notice.empty())
    configuration.notices.push_back(std::move(notice));
  if (!configuration.hardware().notice.empty()) configuration.notices.push_back(configuration.hardware().notice);
  if (std::string notice = wiring_notice(configuration.hardware(), configuration.devices); !notice.empty())
    configuration.notices.push_back(std::move(notice));
  const std::string variant = options.stack.empty() ? "torchvision" : configuration.stack.zoo_variant;
  configuration.workload = session.workload(
      options.model, variant,
      {options.image, std::nullopt, options.seq_len, configuration.stack.operators.attention.fused, !options.attention.empty()});
  if (!*configuration.workload)
    errors.insert(errors.end(), configuration.workload->error().begin(), configuration.workload->error().end());
  if (*configuration.workload) {
    const Workload& read = configuration.network_graph();
    configuration.notices.insert(configuration.notices.end(), read.notices.begin(), read.notices.end());
    if (options.precision.empty() && !read.stored_type.empty() && read.stored_type != "float32")
      configuration.notices.push_back(
          fmt::format("{}: keeps its weights in {}; training is predicted in {}, and --precision "
                      "says another",
                      options.model, read.stored_type, name(configuration.precision)));
    configuration.stack.extra_spread = std::hypot(configuration.stack.extra_spread, read.extra_spread);
    check_cells(configuration, errors);
    append(check_attention(options, read.graph), errors);
    if (std::string notice = attention_notice(options, configuration); !notice.empty())
      configuration.notices.push_back(std::move(notice));
    append(choose_input(session, options, configuration), errors);
    if (std::string notice = seed_notice(options, configuration); !notice.empty())
      configuration.notices.push_back(std::move(notice));
  }
  if (!counted) configuration.gpus = 0;
  append(choose_layout(options, configuration), errors);
  if (!errors.empty()) return tl::make_unexpected(errors);
  const Workload& network = configuration.network_graph();
  if (options.seq_len && !network.file.empty() && !network.takes_sizes)
    return fail(fmt::format("--seq-len {}: {} states its own sequence length", *options.seq_len, options.model));
  if (options.image && !network.file.empty() && !network.takes_sizes)
    return fail(fmt::format("--image {}: {} states its own input", *options.image, options.model));
  configuration.batch = options.batch.value_or(configuration.network_graph().graph.default_batch);
  append(choose_stages(options, configuration), errors);
  append(choose_micro_batches(options, configuration), errors);
  if (const auto can = check_exchange(
          configuration.exchange, {configuration.hardware(), configuration.stack, static_cast<int>(configuration.devices.size()),
                                   configuration.nodes, configuration.network.has_value(), configuration.accumulate});
      !can)
    append(can.error(), errors);
  if (!errors.empty()) return tl::make_unexpected(errors);
  if (configuration.samples_per_step() > std::numeric_limits<int>::max())
    return fail(
        fmt::format("batch {} on {} GPUs: more samples a step than can be counted", configuration.batch, configuration.gpus));
  if (options.optimizer.empty() && !take(choose_optimizer(network.graph.default_optimizer), configuration.optimizer, errors))
    return tl::make_unexpected(errors);
  if (Errors sparse = check_sparse_gradients(configuration); !sparse.empty()) return tl::make_unexpected(std::move(sparse));
  if (Errors update = check_offloaded_update(configuration); !update.empty()) return tl::make_unexpected(std::move(update));
  scale_update(configuration.optimizer, configuration.precision, configuration.stack);
  return configuration;
}

}  // namespace tbdsim
