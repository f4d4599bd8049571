#include "model/prediction/input_stage.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "model/configuration/choose_input.hpp"
#include "model/schedule/data_path.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

/// What a loader makes at a time: the samples of one micro-batch on every GPU of a node.
std::int64_t samples_at_a_time(const Configuration& configuration) {
  const std::int64_t parts = std::int64_t{loading_nodes(configuration)} * configuration.accumulate;
  return std::max<std::int64_t>(1, configuration.samples_per_step() / parts);
}

/// Adds loading to the limits, which so far share the trainer's path.
void share_limits(double loading, const std::string& what, StepTimes& times) {
  if (loading <= 0.0) return;
  if (loading >= 1.0) {
    times.limits.clear();
    times.launch_shares.clear();
  }
  for (Limit& limit : times.limits) limit.share *= 1.0 - loading;
  const auto place = std::find_if(times.limits.begin(), times.limits.end(), [&](const Limit& l) { return l.share < loading; });
  const auto index = place - times.limits.begin();
  const std::string text = fmt::format("{} % of the critical path {}", std::lround(100.0 * loading), what);
  times.limits.insert(place, {Resource::input, loading, text});
  times.launch_shares.insert(times.launch_shares.begin() + index, 0.0);
}

/// While loading is what the step waits for, exchange, host, copies to it and other stages are waited for beside it: what they
/// take then is hidden, as much as loading's part of the critical path, and the GPU waits for its samples. So is what a store
/// updates while the GPU waits for the exchange: it then is a part of the exchange again, as where nothing waits for it.
void hide_beside_loading(double loading, PhaseTimes& phases) {
  const Seconds updated = loading * phases.store_update;
  phases.store_update -= updated;
  phases.weight_update -= updated;
  phases.exchange_total += updated;
  phases.input_exposed += updated;
  for (Seconds* wait : {&phases.exchange_exposed, &phases.host_exposed, &phases.bubble, &phases.offload}) {
    const Seconds hidden = loading * *wait;
    *wait -= hidden;
    phases.input_exposed += hidden;
  }
}

std::string loading_text(const Configuration& configuration, const InputPipeline& pipeline, const InputVerdict& verdict) {
  if (verdict.slowest == InputPart::storage) return fmt::format("reads samples from {}", configuration.storage);
  if (verdict.slowest == InputPart::copy) return "copies samples to the GPUs";
  if (verdict.slowest == InputPart::network) return "brings samples from other machines over the network";
  return fmt::format("{} on {} thread{} of {}", configuration.environments ? "simulates environments" : "decodes samples",
                     pipeline.threads, pipeline.threads == 1 ? "" : "s",
                     configuration.input_hosts > 0 ? "other machines" : "the host");
}

/// What the second epoch finds where the page cache holds the whole set.
void tell_later_epochs(const Configuration& configuration, InputPipeline pipeline, std::int64_t samples, Seconds training,
                       InputVerdict& verdict) {
  if (!configuration.cached_later) return;
  pipeline.read = pipeline.wait = Seconds(0.0);
  const InputPace paced = pace(pipeline, samples, training, configuration.seed);
  verdict.later_step = static_cast<double>(configuration.accumulate) * std::max(paced.step, training);
  const double rate = static_cast<double>(configuration.samples_per_step()) / verdict.later_step->base();
  verdict.later_epochs = fmt::format("from the second epoch on the {} of the data set lie in the page cache: {:.0f} {}s/s",
                                     format(configuration.data_set), rate, configuration.network_graph().graph.input_unit);
}

/// Of a micro-batch's samples to the GPUs that take them; nothing where it is counted with the ranks' waits.
Seconds copy_time(const Configuration& configuration) {
  if (configuration.stack.ranks.input_copy > BytesPerSecond(0.0)) return Seconds(0.0);
  return input_copy_time(configuration.hardware().topology, configuration.devices,
                         configuration.batch * decoded_bytes(configuration.network_graph().graph),
                         configuration.stack.input.pinned);
}

/// Made-up samples that lie in host memory: a copy that does not overlap begins the step.
void add_synthetic_copy(const Configuration& configuration, StepTimes& times) {
  const InputSettings& settings = configuration.stack.input;
  if (!copies_synthetic(settings) || configuration.mock_loader) return;
  const Seconds copy = static_cast<double>(configuration.accumulate) * copy_time(configuration);
  times.step += copy;
  times.phases.input_exposed += copy;
  share_limits(copy / times.step, "copies samples to the GPUs", times);
}

/// Who prepares samples, where they lie and what one costs.
void name_parts(const Configuration& configuration, const InputPipeline& pipeline, InputVerdict& verdict) {
  verdict.storage = configuration.storage;
  verdict.decode_of = configuration.decode_of;
  verdict.sample = pipeline.decode;
  verdict.hosts = configuration.input_hosts;
  verdict.nodes = loading_nodes(configuration);
  verdict.decoding = static_cast<double>(configuration.samples_per_step()) / verdict.nodes * pipeline.decode;
}

}  // namespace

std::optional<InputVerdict> add_input_stage(const Configuration& configuration, StepTimes& times) {
  if (!configuration.pipeline) {
    add_synthetic_copy(configuration, times);
    return std::nullopt;
  }
  InputPipeline pipeline = *configuration.pipeline;
  // Loaders make one micro-batch after the other, whatever the number of them in an update.
  const std::int64_t samples = samples_at_a_time(configuration);
  const auto turns = static_cast<double>(configuration.accumulate);
  if (configuration.shared_storage) pipeline.read *= static_cast<double>(loading_nodes(configuration));
  if (configuration.copies_input) pipeline.copy = copy_time(configuration);
  const bool mock = configuration.mock_trainer;
  const Seconds alone = pipeline.transfer;
  // What nodes exchange crosses the same ports.
  if (alone > Seconds(0.0) && !mock) pipeline.transfer += times.network / (turns * static_cast<double>(samples));
  const Seconds kernels = times.step;
  const Seconds trainer = pipeline.copy_overlaps ? kernels / turns : kernels / turns + pipeline.copy;
  const InputPace paced = pace(pipeline, samples, mock ? Seconds(0.0) : trainer, configuration.seed);
  // Sums over many steps differ from one step by rounding.
  constexpr double kRounding = 1e-9;
  const Seconds step = mock ? paced.load : paced.step > (1.0 + kRounding) * trainer ? paced.step : trainer;
  InputVerdict verdict = judge_input(pipeline, paced, samples, trainer, step, configuration.seed, mock);
  name_parts(configuration, pipeline, verdict);
  if (!mock) tell_later_epochs(configuration, pipeline, samples, trainer, verdict);
  for (Seconds* part :
       {&verdict.load, &verdict.train, &verdict.overlapped, &verdict.read, &verdict.decode, &verdict.copy, &verdict.transfer})
    *part *= turns;
  const std::string what = loading_text(configuration, pipeline, verdict);
  if (mock) {
    times = StepTimes{};
    times.step = times.phases.input_exposed = turns * step;
    share_limits(1.0, what, times);
  } else {
    times.step = turns * step;
    times.phases.input_exposed += times.step - kernels;
    hide_beside_loading(paced.share, times.phases);
    const double copying = pipeline.copy_overlaps ? 0.0 : pipeline.copy / trainer * (1.0 - paced.share);
    share_limits(paced.share + copying, copying > paced.share ? "copies samples to the GPUs" : what, times);
  }
  // Other machines' processors are not the node's.
  if (verdict.hosts == 0) times.decoding = verdict.decoding;
  times.network += turns * static_cast<double>(samples) * alone;
  if (verdict.hosts > 0)
    verdict.arriving = (turns * static_cast<double>(samples) / times.step) * decoded_bytes(configuration.network_graph().graph);
  return verdict;
}

}  // namespace tbdsim
