#include "model/configuration/choose_input.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "model/schedule/data_path.hpp"
#include "model/support/edit_distance.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

// Places beside the catalogue's storage where samples may lie.
constexpr std::string_view kPageCache = "page-cache", kHostMemory = "host-memory", kGpuMemory = "gpu-memory";
/// Numbers reach the GPU as fp32.
constexpr Bytes kNumber{4.0};
/// What the page cache may take of a host's memory before programs run short. Assumed.
constexpr double kCacheShare = 0.8;

// Networks that learn from what they do take steps of environments, by default of this one.
constexpr std::string_view kEnvironmentStep = "environment step", kEnvironment = "atari";

constexpr std::string_view kSynthetic = "synthetic",
                           kNameInput = "; name what is loaded with --input, such as --input imagenet-records";

/// What an input must hold for this network.
std::string sample_unit(const OpGraph& graph) {
  return graph.part_unit == kEnvironmentStep ? std::string(kEnvironmentStep) : graph.input_unit;
}

/// Processes of a node that each load the samples of their own GPU. Where ranks have no loader of their own, one set of threads
/// feeds all GPUs of a node.
int loaders_of_node(const Configuration& configuration) {
  const bool ranks = configuration.stack.features.loader_per_rank && !info(configuration.exchange).one_process;
  return ranks ? static_cast<int>(configuration.devices.size()) : 1;
}

/// Other machines like a node's host decode in its place, each with as many threads, and send the node what the network takes;
/// programs that hand samples on (tf.data service, DALI servers) speak TCP. Neglects: one machine's share that is no whole number
/// of threads.
void prepare_elsewhere(const Configuration& configuration, int hosts, InputPipeline& pipeline) {
  const int nodes = loading_nodes(configuration);
  const auto share = [&](int of_host) { return std::max(1, static_cast<int>(std::int64_t{of_host} * hosts / nodes)); };
  pipeline.threads = share(pipeline.threads);
  pipeline.cores = share(pipeline.cores);
  const double senders = std::min(1.0, static_cast<double>(hosts) / nodes);
  pipeline.transfer = decoded_bytes(configuration.network_graph().graph) / (senders * configuration.network->tcp);
}

/// Leaves `share` of the threads to decode: the nearest whole number of them, whose samples take longer or shorter by what
/// rounding adds or takes. A share of three digits says no more than whole threads where it is that near to them.
void keep_threads(double share, InputPipeline& pipeline) {
  constexpr double kHalfDigit = 0.0005;
  const double left = share * pipeline.threads, whole = std::max(1.0, std::round(left));
  if (std::abs(whole - left) > kHalfDigit * pipeline.threads) pipeline.decode *= whole / left;
  pipeline.threads = static_cast<int>(whole);
}

/// Whether the stack's decode time holds: it is that of its default input's samples. Other samples are stored and decoded in
/// other ways.
bool stack_decodes(const InputSettings& settings, const InputSource& source) {
  const std::string& samples = source.like.empty() ? source.name : source.like;
  return settings.decode > Seconds(0.0) && fold_name(settings.name) == fold_name(samples);
}

/// One core is left to the process that drives the GPUs.
int most_threads(const Host& host) { return std::max(1, host.cores - 1); }

/// The stack's own constants where it has any, the clock of the host, and what the nccl store takes away.
InputPipeline make_pipeline(const InputSource& source, const PredictOptions& options, const Configuration& configuration) {
  const InputSettings& settings = configuration.stack.input;
  const Host& host = configuration.hardware().host;
  InputPipeline pipeline;
  // Each environment goes on when it is free; workers of asynchronous methods do not wait for each other.
  pipeline.mode = source.environment ? InputMode::stream : settings.mode;
  pipeline.prefetch = settings.prefetch;
  pipeline.copy_overlaps = settings.copy_overlaps && settings.pinned;
  pipeline.spread = source.spread;
  pipeline.decode = stack_decodes(settings, source) ? settings.decode : source.decode;
  if (source.clock && host.clock) pipeline.decode *= *source.clock / *host.clock;
  const int most = most_threads(host);
  pipeline.cores = most;
  pipeline.threads = usual_threads(settings, host);
  if (source.environment) {
    // One environment for each sample of a step.
    const auto copies = static_cast<double>(configuration.devices.size());
    const double environments =
        copies * static_cast<double>(options.batch.value_or(configuration.network_graph().graph.default_batch));
    pipeline.threads = static_cast<int>(std::min<double>(most, environments));
  }
  pipeline.loaders = source.environment ? 1 : loaders_of_node(configuration);
  if (options.workers) pipeline.threads = pipeline.loaders * *options.workers;
  if (options.input_hosts) prepare_elsewhere(configuration, *options.input_hosts, pipeline);
  if (configuration.exchange == Exchange::nccl) {
    const StoreSettings& store = configuration.stack.store;
    pipeline.decode *= store.nccl_slowdown;
    keep_threads(store.nccl_decode_share, pipeline);
  }
  return pipeline;
}

/// Whole sets that are kept in memory have to fit there.
Errors check_room(const std::string& place, Bytes set, Bytes room, const std::string& where) {
  if (set <= room) return {};
  return {{fmt::format("--storage {}: the data set takes {}, {} has {}", place, format(set), where, format(room))}};
}

/// What a set takes of a host of which no file states the memory, so that whoever asks can tell whether it fits.
void tell_unstated_room(const std::string& place, Bytes set, Configuration& configuration) {
  const Host& host = configuration.hardware().host;
  if (host.memory_capacity || set <= Bytes(0.0)) return;
  configuration.notices.push_back(
      fmt::format("--storage {}: the data set takes {} of the memory of each node's host; no file states how much {} has", place,
                  format(set), host.id));
}

/// Whether samples of this place are decoded once and for all.
bool keeps_decoded(const std::string& storage) {
  return fold_name(storage) == fold_name(kHostMemory) || fold_name(storage) == fold_name(kGpuMemory);
}

/// Puts the samples where `--storage` says.
Errors place_samples(Session& session, const PredictOptions& options, const InputSource& source, Configuration& configuration) {
  const std::string place = fold_name(options.storage);
  if (options.storage.empty()) return {};
  InputPipeline& pipeline = *configuration.pipeline;
  const Bytes decoded = decoded_bytes(configuration.network_graph().graph);
  const auto samples = static_cast<double>(source.samples.value_or(0));
  const System& system = configuration.hardware();
  const Bytes host_memory = system.host.memory_capacity.value_or(Bytes(1e18));
  if (source.environment)
    return {{fmt::format("--storage {}: {} makes its samples, it reads none", options.storage, source.name)}};
  if (place == fold_name(kPageCache)) {
    configuration.storage = kPageCache;
    configuration.kept_samples = samples * source.stored;
    tell_unstated_room(options.storage, configuration.kept_samples, configuration);
    return check_room(options.storage, samples * source.stored, kCacheShare * host_memory, "the page cache of the host");
  }
  if (place == fold_name(kHostMemory) || place == fold_name(kGpuMemory)) {
    const bool device = place == fold_name(kGpuMemory);
    configuration.storage = device ? kGpuMemory : kHostMemory;
    // Decoded once; then a thread only gathers a batch, or the GPU does.
    pipeline.decode = device ? Seconds(0.0) : decoded / kMemoryCopy;
    configuration.decode_of = device ? "" : "copy within host memory";
    pipeline.spread = 0.0;
    configuration.copies_input = !device;
    if (device && options.pipeline_parallel.value_or(1) > 1)
      return {{"--storage gpu-memory: of a pipeline the first stage alone takes samples; use host-memory"}};
    if (!device) {
      configuration.kept_samples = samples / configuration.nodes * decoded;
      tell_unstated_room(options.storage, configuration.kept_samples, configuration);
    }
    if (device) configuration.device_samples = samples / configuration.gpus * decoded;
    return device ? check_room(options.storage, samples / configuration.gpus * decoded, system.device.memory_capacity, "a GPU")
                  : check_room(options.storage, samples / configuration.nodes * decoded, kCacheShare * host_memory, "the host");
  }
  const auto storage = load_storage(session.catalogue(), options.storage);
  if (!storage) return storage.error();
  const ReadCost cost = read_cost(*storage, source.stored, source.access);
  pipeline.read = cost.storage;
  pipeline.wait = cost.thread;
  // Machines that prepare samples read them from storage of their own.
  if (configuration.input_hosts > 0 && !storage->shared)
    pipeline.read *= static_cast<double>(loading_nodes(configuration)) / configuration.input_hosts;
  configuration.storage = storage->id;
  configuration.storage_source = storage->access_source;
  configuration.shared_storage = storage->shared;
  configuration.cached_later =
      source.samples && system.host.memory_capacity && samples * source.stored <= kCacheShare * *system.host.memory_capacity;
  configuration.data_set = samples * source.stored;
  return {};
}

/// Machines that prepare samples need a network to send them over, and something to prepare.
Errors check_input_hosts(const PredictOptions& options, const Configuration& configuration) {
  if (configuration.input_hosts > 0 && !configuration.network)
    return {{fmt::format("--input-hosts {}: samples come over a network, {} states none; name one with --network",
                         configuration.input_hosts, configuration.hardware().id)}};
  if (configuration.input_hosts > 0 && !options.storage.empty() && keeps_decoded(options.storage))
    return {{fmt::format("--storage {}: keeps decoded samples, so that --input-hosts has nothing to prepare", options.storage)}};
  return {};
}

/// Loads what `source` holds.
Errors load_from(Session& session, const PredictOptions& options, const InputSource& source, Configuration& configuration) {
  configuration.input = source.name;
  configuration.environments = source.environment;
  configuration.input_hosts = options.input_hosts.value_or(0);
  if (Errors errors = check_input_hosts(options, configuration); !errors.empty()) return errors;
  const bool of_stack = stack_decodes(configuration.stack.input, source);
  configuration.input_source = of_stack ? configuration.stack.input.source : source.source;
  configuration.decode_of = of_stack ? "stack " + configuration.stack.id : "input " + source.name;
  if (const Seconds other = configuration.stack.input.decode; !of_stack && source.unit == "image" && other > Seconds(0.0))
    configuration.notices.push_back(fmt::format("stack {}: its decode time of {} is that of {}; {} states its own, {}",
                                                configuration.stack.id, format(other), configuration.stack.input.name,
                                                source.name, format(source.decode)));
  configuration.pipeline = make_pipeline(source, options, configuration);
  const int cores = configuration.hardware().host.cores, loaders = configuration.pipeline->loaders;
  if (options.workers && loaders > 1)
    configuration.notices.push_back(
        fmt::format("--workers {}: for each of the {} processes of a node, as PyTorch counts them", *options.workers, loaders));
  // Two hardware threads a core is the most that any host of the catalogue has.
  if (options.workers && loaders * *options.workers > 2 * cores)
    configuration.notices.push_back(
        fmt::format("--workers {}: {}more than the hardware threads of the host's {} cores", *options.workers,
                    loaders > 1 ? fmt::format("{} a node, ", loaders * *options.workers) : "", cores));
  return place_samples(session, options, source, configuration);
}

/// With a mock loader: checks the loader that it takes the place of.
Errors replace_loader(Session& session, PredictOptions options, Configuration& configuration) {
  if (options.mock_trainer)
    return {{"--mock-loader and --mock-trainer exclude each other: one shows the trainer alone, the other the loader"}};
  options.mock_loader = false;
  Configuration real = configuration;
  if (Errors errors = choose_input(session, options, real); !errors.empty()) return errors;
  if (!real.pipeline && !copies_synthetic(configuration.stack.input))
    return {{fmt::format("--mock-loader takes the place of a loader, and nothing is loaded{}", kNameInput)}};
  configuration.input = kSynthetic;
  configuration.mock_loader = true;
  return {};
}

}  // namespace

int usual_threads(const InputSettings& settings, const Host& host) {
  return settings.threads > 0 ? std::min(settings.threads, most_threads(host)) : most_threads(host);
}

Bytes decoded_bytes(const OpGraph& graph) { return static_cast<double>(elements(graph.tensors.front().shape)) * kNumber; }

int loading_nodes(const Configuration& configuration) { return configuration.nodes; }

bool copies_synthetic(const InputSettings& settings) { return settings.synthetic_on_host && !settings.copy_overlaps; }

Errors choose_input(Session& session, const PredictOptions& options, Configuration& configuration) {
  const std::string unit = sample_unit(configuration.network_graph().graph);
  const std::string wanted = !options.input.empty()     ? options.input
                             : unit == kEnvironmentStep ? std::string(kEnvironment)
                                                        : configuration.stack.input.name;
  configuration.input = kSynthetic;
  configuration.seed = static_cast<std::uint64_t>(options.seed);
  configuration.mock_trainer = options.mock_trainer;
  const OpGraph& graph = configuration.network_graph().graph;
  const bool images = unit == "image";
  if (options.input_hosts && *options.input_hosts < 1)
    return {{fmt::format("--input-hosts {}: expected at least 1", *options.input_hosts)}};
  if (options.workers && *options.workers < 1) return {{fmt::format("--workers {}: expected at least 1", *options.workers)}};
  if (options.mock_loader) return replace_loader(session, options, configuration);
  Errors errors;
  if (fold_name(wanted) != kSynthetic && (images || unit == kEnvironmentStep || !options.input.empty())) {
    const auto source = load_input(session.catalogue(), wanted);
    if (!source) return source.error();
    if (source->unit != unit)
      return {{fmt::format("--input {} holds {}s; {} takes {}s", source->name, source->unit, graph.name, unit)}};
    errors = load_from(session, options, *source, configuration);
    if (!errors.empty()) return errors;
  }
  if (!configuration.pipeline && options.mock_trainer)
    return {{fmt::format("--mock-trainer shows how fast samples are loaded{}", kNameInput)}};
  const char* const loading = options.workers ? "workers" : options.input_hosts ? "input-hosts" : "storage";
  if (!configuration.pipeline && (!options.storage.empty() || options.workers || options.input_hosts))
    return {{fmt::format("--{} means nothing without samples to load{}", loading, kNameInput)}};
  return errors;
}

}  // namespace tbdsim
