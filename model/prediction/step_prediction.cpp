#include "model/prediction/step_prediction.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "model/cost/recurrent.hpp"
#include "model/cost/uncertainty.hpp"
#include "model/prediction/divided_step.hpp"
#include "model/prediction/draw_step.hpp"
#include "model/prediction/eight_bit_notice.hpp"
#include "model/prediction/host_work.hpp"
#include "model/prediction/input_stage.hpp"
#include "model/prediction/loads.hpp"
#include "model/prediction/lowered_job.hpp"
#include "model/prediction/memory_estimate.hpp"
#include "model/prediction/memory_estimator.hpp"
#include "model/prediction/optimizer_state.hpp"
#include "model/prediction/precision_notices.hpp"
#include "model/prediction/rank_waits.hpp"
#include "model/prediction/step_times.hpp"
#include "model/prediction/traffic_by_tier.hpp"
#include "model/units/format.hpp"
#include "model/units/sim_time.hpp"

namespace tbdsim {
namespace {

template <class Q>
Ranged<Q> with_range(Q value, double spread) {
  const double factor = std::exp(kCentral80 * spread);
  return {value, value / factor, value * factor};
}

/// What the first input holds: an image with its channels, so many words, or numbers of some shape.
std::string sample_text(const OpGraph& graph) {
  const Tensor& first = graph.tensors.front();
  const bool words =
      first.shape.size() == 1 && !first.consumers.empty() && graph.op(first.consumers.front()).kind == OpKind::embedding;
  const bool image = first.shape.size() == 3 && graph.input_unit == "image";
  return fmt::format("{} {}", words ? "length" : image ? "image" : "input", to_text(first.shape));
}

void identify(const Configuration& configuration, Prediction& p) {
  const System& system = configuration.hardware();
  const Workload& workload = configuration.network_graph();
  p.job.hardware = system.id;
  p.files.hardware.path = system.file;
  p.files.hardware.sha256 = system.sha256;
  p.job.device = system.device.id;
  p.job.model = workload.graph.name;
  p.job.variant = workload.graph.variant;
  p.samples.unit = workload.graph.input_unit;
  p.samples.text = sample_text(workload.graph);
  p.samples.part = workload.graph.part_unit;
  p.samples.parts = workload.graph.parts_per_sample;
  p.job.stack = configuration.stack.id;
  p.files.stack.path = configuration.stack.file;
  p.files.stack.sha256 = configuration.stack.sha256;
  p.job.precision = name(configuration.precision);
  p.job.reads_overflow = configuration.stack.update.wait == UpdateWait::once;
  p.job.exchange = configuration.exchange;
  p.job.optimizer = configuration.optimizer.name;
  p.samples.input = configuration.input;
  p.files.set = configuration.set;
  p.files.workload.path = workload.file;
  p.files.workload.sha256 = workload.sha256;
  p.files.layout.path = configuration.layout_file;
  p.files.layout.sha256 = configuration.layout_sha256;
  if (configuration.nodes > 1 && configuration.network) {
    p.job.network = configuration.network->id;
    p.job.ports = node_ports(configuration.hardware(), *configuration.network);
  }
  p.start_up = configuration.stack.host.start_up;
  p.notices = configuration.notices;
  p.job.gpus = configuration.gpus;
  p.job.nodes = configuration.nodes;
  p.job.node_hosts = configuration.hardware().hosts;
  p.job.hosts = node_hosts(configuration.hardware(), static_cast<int>(configuration.devices.size()));
  p.job.batch_per_gpu = configuration.batch;
  p.job.global_batch = static_cast<int>(configuration.samples_per_step());
  p.division.layout = configuration.layout;
  p.division.zero = configuration.zero;
  p.division.micro_batches = configuration.accumulate;
  p.division.offload_states = configuration.offload.states;
  p.division.offload_layers = configuration.offload.layers;
  if (configuration.layout.pipeline > 1)
    p.division.schedule = configuration.own_schedule ? "file" : std::string(pipeline::name(configuration.schedule));
  p.division.recompute = name(configuration.recompute);
}

std::string percent_of_path(double share) {
  return share < 0.0995 ? fmt::format("{:.1f} %", 100.0 * share) : fmt::format("{:.0f} %", 100.0 * share);
}

std::string limit_text(std::size_t index, const StepTimes& times, const Configuration& configuration) {
  const Limit& limit = times.limits[index];
  const std::string share = percent_of_path(limit.share);
  const std::string& device = configuration.hardware().device.id;
  const double launch_share = times.launch_shares[index], slowest = times.slowest / times.step;
  std::string besides =
      launch_share > 0.1 ? fmt::format(", {:.0f} % of which is kernel start and drain", 100.0 * launch_share) : "";
  const bool waits = configuration.gpus > 1 && limit.share > slowest && slowest > 0.01;
  if (limit.resource == times.slowest_of && waits)
    besides += fmt::format(", {} of it while the others wait for the GPU that computes longest", percent_of_path(slowest));
  const std::string_view what = configuration.divided() ? "exchanges feature maps and gradients" : "exchanges gradients";
  switch (limit.resource) {
    case Resource::gpu_compute:
      return fmt::format("{} of the critical path computes on {}{}", share, device, besides);
    case Resource::gpu_memory_bandwidth:
      return fmt::format("{} of the critical path moves data in the memory of {}{}", share, device, besides);
    case Resource::host:
      return fmt::format("{} of the critical path is the host issuing operators{}", share,
                         times.serving > Seconds(0.0) ? ", summing gradients and updating weights" : "");
    case Resource::intra_node_link:
      return fmt::format("{} of the critical path {} inside the node", share, what);
    case Resource::network:
      return fmt::format("{} of the critical path {} between nodes", share, what);
    case Resource::host_link:
      return fmt::format("{} of the critical path copies data between GPUs and their host", share);
    case Resource::host_memory_bandwidth:
      return fmt::format("{} of the critical path is the host updating weights, at the rate of its memory", share);
    case Resource::input:
    case Resource::memory:
      break;
  }
  return limit.text;
}

struct ExchangeText {
  const std::string &kind, &description;
};

void tell_provenance(const Configuration& configuration, const KernelModel& kernels, std::span<const NodeCost> costs,
                     const ExchangeText& exchange, Prediction& p) {
  const auto split = [](const std::string& source) {
    const std::size_t colon = source.find(':');
    const std::string kind = colon == std::string::npos ? "assumed" : source.substr(0, colon);
    return std::pair{kind, colon == std::string::npos ? source : source.substr(std::min(source.size(), colon + 2))};
  };
  const auto add = [&](std::string what, const std::string& source) {
    auto [kind, text] = split(source);
    p.provenance.push_back({std::move(what), std::move(kind), std::move(text)});
  };
  const Device& device = configuration.hardware().device;
  add(fmt::format("device {}", device.id), device.source);
  for (const KernelFamilyInfo& family : kernel_families()) {
    const bool runs = std::any_of(costs.begin(), costs.end(), [&](const NodeCost& cost) {
      return cost.family == family.kind && cost.kernel.time > Seconds(0.0);
    });
    if (runs) add(fmt::format("kernel parameters, {}", family.name), kernels.parameters_of(family.kind).parameters.source);
  }
  add(fmt::format("stack {}", configuration.stack.id), configuration.stack.source);
  if (configuration.gpus > 1) p.provenance.push_back({"gradient exchange", exchange.kind, exchange.description});
  const StoreSettings& store = configuration.stack.store;
  // Within a node the servers' workers use the communication of these stores.
  if (!store.source.empty() && configuration.devices.size() > 1 && info(configuration.exchange).one_process)
    add("host time per key, routes of the store", store.source);
  if (configuration.exchange == Exchange::nccl && store.nccl_slowdown != 1.0)
    add(fmt::format("nccl store: everything {} times as long, {} of the decode threads", store.nccl_slowdown,
                    store.nccl_decode_share),
        store.nccl_source);
  if (std::string state = optimizer_state_text(configuration); !state.empty())
    p.provenance.push_back({"optimiser state", "paper", std::move(state)});
  if (configuration.pipeline) add(fmt::format("input {}", configuration.input), configuration.input_source);
  if (!configuration.storage_source.empty()) add(fmt::format("storage {}", configuration.storage), configuration.storage_source);
}

/// What a library does with recurrent layers of this batch that a user would not expect.
std::string recurrent_waits(const Configuration& configuration, const LoweredStep& step, int batch) {
  constexpr int kFew = 16, kMany = 64;
  const Stack& stack = configuration.stack;
  const auto& all = (*configuration.constants)->recurrent;
  const auto found = all.find(recurrent_generation(stack.vendor, stack.cuda, configuration.hardware().device.chip));
  const bool runs =
      std::any_of(step.costs.begin(), step.costs.end(), [](const NodeCost& c) { return c.family == KernelFamily::recurrent; });
  if (!runs || stack.operators.recurrent.kernels != RecurrentKernels::library || batch <= kFew || batch >= kMany ||
      found == all.end() || !waits_less_at_64(found->second))
    return "";
  return fmt::format(
      "recurrent layers of {}'s cuDNN wait longer for their loads at 17 to 63 sequences than at {} (measured on four "
      "Pascal boards): a batch of {} takes little more time than one of {}",
      stack.id, kMany, kMany, batch);
}

double host_share(const StepTimes& times) {
  const auto host =
      std::find_if(times.limits.begin(), times.limits.end(), [](const Limit& l) { return l.resource == Resource::host; });
  return host == times.limits.end() ? 0.0 : host->share;
}

double host_spread(const Configuration& configuration, const StepTimes& times) {
  if (!configuration.stack.host.issue) return 0.0;
  return host_share(times) * (knows_single_thread(configuration.hardware().host) ? kKnownHostSpread : kUnknownHostSpread);
}

/// Of what waits for the host's memory and the ways to it, of which programs reach less than the line rates. Assumed: by a
/// quarter, and where nothing names the memory, by a half.
double offload_spread(const Configuration& configuration, const StepTimes& times) {
  constexpr double kNamed = 0.25, kUnnamed = 0.5;
  if (!configuration.offload.any()) return 0.0;
  return times.phases.offload / times.step * (configuration.offload.assumed ? kUnnamed : kNamed);
}

/// That the step hangs on a CPU that nothing names.
std::string unknown_host(const Configuration& configuration, const StepTimes& times) {
  constexpr double kTold = 0.2;
  const Host& host = configuration.hardware().host;
  if (!configuration.stack.host.issue || knows_single_thread(host) || host_share(times) < kTold) return "";
  return fmt::format(
      "{}: one of its threads is taken to run at {:.2g} of the reference host's speed "
      "(hw.host.single_thread), "
      "and the range is wider",
      kUnnamedCpu, single_thread(host));
}

/// A simulated step, whichever way.
struct Simulated {
  const KernelModel& kernels;
  StepTimes times;
  std::span<const NodeCost> costs;
  std::string exchange_kind, exchange_description;
  Bytes exchanged;
};

/// All that follows from the times of a step.
Result<Prediction> told(const Configuration& configuration, Simulated& step) {
  const System& system = configuration.hardware();
  const Workload& workload = configuration.network_graph();
  const KernelModel* const kernels = &step.kernels;
  StepTimes& times = step.times;
  add_rank_waits(configuration, times);
  auto input_verdict = add_input_stage(configuration, times);

  Prediction p;
  identify(configuration, p);
  p.notices.insert(p.notices.end(), kernels->notices().begin(), kernels->notices().end());
  if (std::string note = unknown_host(configuration, times); !note.empty()) p.notices.push_back(std::move(note));
  for (std::string& note : precision_notices(workload.graph, *kernels, step.costs)) p.notices.push_back(std::move(note));
  // Several GPUs, or one whose variables lie on the host.
  const bool exchanges = configuration.gpus > 1 || times.phases.exchange_total > Seconds(0.0);
  const SpreadConstants& constants = (*configuration.constants)->spread;
  // A bubble is as long as the other stages' kernels.
  const double spread = step_spread(constants, kernel_spread(step.costs, family_sigmas(*kernels, constants)),
                                    std::min<double>(1.0, (times.busy + times.phases.bubble) / times.step),
                                    {kernels->tensor_core(), exchanges, configuration.stack.extra_spread,
                                     std::hypot(host_spread(configuration, times), offload_spread(configuration, times))});
  p.step_time = with_range(times.step, spread);
  p.spread.row = constants.row;
  p.spread.exchange = exchanges ? constants.exchange : 0.0;
  p.spread.board =
      std::sqrt(std::max(0.0, spread * spread - p.spread.row * p.spread.row - p.spread.exchange * p.spread.exchange));
  const auto samples = static_cast<double>(p.job.global_batch);
  p.throughput = {samples / times.step.base(), samples / p.step_time.high.base(), samples / p.step_time.low.base()};
  p.phases = times.phases;
  p.input_verdict = std::move(input_verdict);
  const FlopPerSecond tensor_peak = kernels->peak();
  p.utilization.gpu_busy = std::min<double>(1.0, times.mean_busy / times.step);
  if (times.mean_busy > Seconds(0.0)) {
    p.utilization.fp32 = times.executing / times.mean_busy;
    p.utilization.tensor_core = times.tensor_executing / times.mean_busy;
    p.utilization.fp32_useful = times.flop / (system.device.peak.fp32 * times.mean_busy);
    p.utilization.tensor_core_useful = times.tensor_flop / (tensor_peak * times.mean_busy);
  }
  p.utilization.mfu = p.utilization.hfu = times.useful_flop / (tensor_peak * times.step);
  if (std::max(p.utilization.fp32_useful, p.utilization.mfu) > 1.0)
    p.notices.push_back(
        "useful FLOP and MFU count the multiply-adds of direct convolutions; Winograd and FFT need fewer, so both may pass 100 "
        "%");
  tell_cpu(configuration, times, p.utilization, p.notices);
  p.loads = loads(configuration, times, p);
  if (std::string state = optimizer_state_text(configuration); !state.empty() && is_whole_16_bit(configuration.precision))
    p.notices.push_back("optimiser state: " + state);
  for (std::string eight : {eight_bit_notice(configuration), slower_in_8_bits(configuration, *kernels)})
    if (!eight.empty()) p.notices.push_back(std::move(eight));
  for (std::size_t i = 0; i < times.limits.size(); ++i) times.limits[i].text = limit_text(i, times, configuration);
  p.limits = std::move(times.limits);
  if (!p.limits.empty()) p.limit = p.limits.front();
  tell_provenance(configuration, step.kernels, step.costs, {step.exchange_kind, step.exchange_description}, p);
  p.work.flop_per_gpu = times.useful_flop;
  p.work.parameters = workload.graph.parameter_elements();
  p.exchanged.bytes = step.exchanged;
  p.work.peak = kernels->peak();
  const bool sixteen_bit = is_narrow(configuration.precision);
  p.job.products_in_fp32 = sixteen_bit && p.work.peak == system.device.peak.fp32;
  return p;
}

/// Errors: results that no machine has.
Result<void> plausible(const Configuration& configuration, const Prediction& p) {
  // What is computed in closed form and added to the simulated step is held to the clock of the simulation.
  if (const double time = p.step_time.value.base(); time >= SimTime::kLongestSeconds)
    return fail(fmt::format("a step of {} on {} would take {:.3g} s: look for an implausible rate, time or size among the inputs",
                            configuration.network_graph().graph.name, configuration.hardware().id, time));
  const double bytes = p.memory.gpus.front().peak.base();
  if (std::isfinite(p.step_time.high.base()) && p.step_time.low > Seconds(0.0) && bytes >= 0.0 && bytes < 1e15) return {};
  return fail(
      fmt::format("{} on {}: the result is not a number that a machine can have; look for an implausible size or spread among "
                  "the inputs",
                  configuration.network_graph().graph.name, configuration.hardware().id));
}

Result<Prediction> predict_by_layers(const Configuration& configuration, bool detail) {
  auto step = divided_step(configuration, detail);
  if (!step) return tl::make_unexpected(step.error());
  step->times.network = tell_tiers(configuration, step->communication);
  Simulated simulated{step->kernels, step->times, step->costs, "paper", step->exchange_text, step->exchanged};
  auto p = told(configuration, simulated);
  if (!p) return p;
  auto estimator = MemoryEstimator::make(configuration);
  if (!estimator) return tl::make_unexpected(estimator.error());
  p->memory = memory_verdict(configuration, estimator->at(configuration.batch), false);
  add_kept_on_host(p->memory, p->loads);
  if (const auto sound = plausible(configuration, *p); !sound) return tl::make_unexpected(sound.error());
  p->detail.layers = std::move(step->layers);
  p->division.by_layers = true;
  p->division.communication = std::move(step->communication);
  Seconds wait = p->phases.exchange_exposed;
  for (const AxisTraffic& traffic : p->division.communication) wait -= traffic.exposed;
  if (wait > 1e-9 * p->step_time.value) p->division.wait = wait;
  p->notices.insert(p->notices.end(), step->notices.begin(), step->notices.end());
  Seconds kernels(0.0);
  for (const RankStep& rank : step->ranks) kernels += rank.forward.kernels + rank.backward.kernels;
  p->division.mean_kernels = (1.0 / static_cast<double>(step->ranks.size())) * kernels;
  p->division.recomputed = step->ranks[static_cast<std::size_t>(step->times.rank)].again;
  if (detail) {
    auto drawing = draw_step(configuration, *step, p->memory);
    if (!drawing) return tl::make_unexpected(drawing.error());
    p->detail.drawing = std::move(*drawing);
    p->detail.kernels = std::move(step->kernel_times);
    p->detail.host = std::move(step->host);
    p->detail.links = links_by_tier(*p);
    add_input_work(*p);
  }
  p->utilization.hfu += step->again_flop / (p->work.peak * p->step_time.value);
  return p;
}

struct StepAndMemory {
  Prediction prediction;
  StepMemory memory;
};

/// One undivided network. `known`: what need not be computed again. `replays`: as in `memory_verdict`.
Result<StepAndMemory> predict_undivided(const Configuration& configuration, bool detail, const SharedStep& known, bool replays) {
  const OpGraph& graph = configuration.network_graph().graph;
  const auto job = lower_job(configuration, known.costs);
  if (!job) return tl::make_unexpected(job.error());
  const LoweredStep& step = job->step;
  const engine::Timeline timeline = engine::simulate(step.graph);
  Simulated simulated{job->kernels,       step_times(step, timeline), step.costs,
                      job->exchange_kind, job->exchange_description,  step.exchanged};
  auto p = told(configuration, simulated);
  if (!p) return tl::make_unexpected(p.error());
  if (std::string waits = recurrent_waits(configuration, step, p->job.batch_per_gpu); !waits.empty())
    p->notices.push_back(std::move(waits));
  StepMemory memory = estimate_memory(configuration, step.nodes, step.costs, known.memory ? &*known.memory : nullptr);
  p->memory = memory_verdict(configuration, memory, replays);
  if (std::string slower = reduced_workspaces(memory); !slower.empty()) p->notices.push_back(std::move(slower));
  if (const auto sound = plausible(configuration, *p); !sound) return tl::make_unexpected(sound.error());
  p->exchanged.indirect = job->indirect;
  if (detail) {
    describe_step(graph, step, timeline, configuration.hardware().device, job->kernels.peak(), *p);
    add_input_work(*p);
    tell_live_memory(step, memory, simulated.times.rank, *p);
  }
  return StepAndMemory{std::move(*p), std::move(memory)};
}

}  // namespace

Result<Prediction> predict_step(const Configuration& configuration, bool detail, const SharedStep* known) {
  if (configuration.by_layers()) return predict_by_layers(configuration, detail);
  const SharedStep nothing;
  auto step = predict_undivided(configuration, detail, known != nullptr ? *known : nothing, known == nullptr);
  if (!step) return tl::make_unexpected(std::move(step.error()));
  return std::move(step->prediction);
}

Result<FirstPrediction> predict_first_step(const Configuration& configuration, bool detail) {
  if (configuration.by_layers())
    return predict_by_layers(configuration, detail).map([](Prediction p) { return FirstPrediction{std::move(p), {}}; });
  SharedStep shared;
  if (auto costs = kernel_costs(configuration))
    shared.costs = std::move(*costs);
  else
    return tl::make_unexpected(std::move(costs.error()));
  auto step = predict_undivided(configuration, detail, shared, false);
  if (!step) return tl::make_unexpected(std::move(step.error()));
  if (lends_memory(configuration)) shared.memory = std::move(step->memory);
  return FirstPrediction{std::move(step->prediction), std::move(shared)};
}

}  // namespace tbdsim
