#include "model/analysis/input_stage.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

/// The stack's own constants where it has any, and what the nccl store takes away.
InputPipeline make_pipeline(const InputSource& source, const Configuration& configuration) {
  const InputSettings& settings = configuration.stack.input;
  InputPipeline pipeline;
  pipeline.mode = settings.mode;
  pipeline.prefetch = settings.prefetch;
  pipeline.spread = source.spread;
  pipeline.decode = settings.decode > Seconds(0.0) ? settings.decode : source.decode;
  // One core is left to the process that drives the GPUs.
  const int most = std::max(1, configuration.hardware().host.cores - 1);
  pipeline.threads = settings.threads > 0 ? std::min(settings.threads, most) : most;
  if (configuration.exchange == "nccl") {
    const StoreSettings& store = configuration.stack.store;
    pipeline.decode *= store.nccl_slowdown;
    pipeline.threads = std::max(1, pipeline.threads - store.nccl_decode_threads_lost);
  }
  return pipeline;
}

std::int64_t samples_per_node(const Configuration& configuration) {
  return std::int64_t{configuration.batch} * static_cast<std::int64_t>(configuration.devices.size());
}

/// Adds decoding to the limits, which so far share the trainer's path.
void share_limits(double decoding, const InputPipeline& pipeline, StepTimes& times) {
  for (Limit& limit : times.limits) limit.share *= 1.0 - decoding;
  if (decoding <= 0.0) return;
  const auto place = std::find_if(times.limits.begin(), times.limits.end(), [&](const Limit& l) { return l.share < decoding; });
  const auto index = place - times.limits.begin();
  const std::string text =
      fmt::format("{} % of the critical path decodes samples on {} thread{} of the host",
                  static_cast<int>(100.0 * decoding + 0.5), pipeline.threads, pipeline.threads == 1 ? "" : "s");
  times.limits.insert(place, {"input", decoding, text});
  times.launch_shares.insert(times.launch_shares.begin() + index, 0.0);
}

}  // namespace

Errors choose_input(Session& session, const PredictOptions& options, Configuration& configuration) {
  const std::string wanted = options.mock_loader     ? "synthetic"
                             : options.input.empty() ? configuration.stack.input.name
                                                     : options.input;
  configuration.input = "synthetic";
  configuration.seed = static_cast<std::uint64_t>(options.seed);
  configuration.mock_trainer = options.mock_trainer;
  const OpGraph& graph = configuration.network_graph().graph;
  const bool images = graph.input_unit == "image";
  if (fold_name(wanted) != "synthetic" && (images || !options.input.empty())) {
    const auto source = load_input(session.catalogue(), wanted);
    if (!source) return source.error();
    if (!images) return {{fmt::format("--input {} holds images; {} takes {}s", source->name, graph.name, graph.input_unit)}};
    configuration.input = source->name;
    configuration.input_source =
        configuration.stack.input.decode > Seconds(0.0) ? configuration.stack.input.source : source->source;
    configuration.pipeline = make_pipeline(*source, configuration);
  }
  if (options.mock_trainer && !configuration.pipeline)
    return {
        {"--mock-trainer shows how fast samples are loaded; name what is loaded with --input, such as --input imagenet-records"}};
  return {};
}

void add_input_stage(const Configuration& configuration, StepTimes& times) {
  if (!configuration.pipeline) return;
  const InputPipeline& pipeline = *configuration.pipeline;
  const std::int64_t samples = samples_per_node(configuration);
  const Seconds trainer = times.step;
  const InputPace paced = pace(pipeline, samples, configuration.mock_trainer ? Seconds(0.0) : trainer, configuration.seed);
  if (configuration.mock_trainer) {
    times = StepTimes{};
    times.step = times.stages.input_exposed = paced.load;
    share_limits(1.0, pipeline, times);
  } else {
    times.step = std::max(paced.step, trainer);
    times.stages.input_exposed = times.step - trainer;
    share_limits(paced.share, pipeline, times);
  }
  times.decoding = static_cast<double>(samples) * pipeline.decode;
}

}  // namespace tbdsim
