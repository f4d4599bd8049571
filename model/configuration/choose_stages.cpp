#include "model/configuration/choose_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/configuration/read_option.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// "3,4,4,3"; nothing: not numbers of at least 1.
std::optional<std::vector<int>> listed(std::string_view text) {
  std::vector<int> numbers;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const auto number = whole_number(text.substr(start, comma - start), 1);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    start = comma + 1;
  }
  return numbers;
}

/// As the user asked for the ends.
std::string asked(std::optional<int> first, std::optional<int> last) {
  std::string text;
  if (first) text = fmt::format("--first-stage-layers {}", *first);
  if (last) text += fmt::format("{}--last-stage-layers {}", text.empty() ? "" : " ", *last);
  return text;
}

pipeline::Placement placement_of(const Configuration& configuration) {
  return configuration.own_schedule ? configuration.own_schedule->placement : pipeline::info(configuration.schedule).placement;
}

Result<std::vector<int>> stages_by_list(const std::string& text, const Configuration& configuration, int layers) {
  const auto numbers = listed(text);
  if (!numbers)
    return fail(fmt::format("--stage-layers {}: expected whole numbers of at least 1 between commas, such as 3,4,4,3", text));
  const auto stages = at(configuration.pipeline_stages());
  if (numbers->size() != stages) {
    const int parts = configuration.layout.virtual_stages;
    const bool several = placement_of(configuration) != pipeline::Placement::two_way && parts > 1;
    return fail(fmt::format("--stage-layers {}: {} numbers, expected one for each of the {} stages of --pipeline-parallel {}{}",
                            text, numbers->size(), stages, configuration.layout.pipeline,
                            several ? fmt::format(" with {} parts a GPU", parts) : ""));
  }
  const auto sum = std::accumulate(numbers->begin(), numbers->end(), std::int64_t{0});
  if (sum != layers)
    return fail(fmt::format("--stage-layers {}: {} layers together, and {} has {}", text, sum,
                            configuration.network_graph().graph.name, layers));
  return *numbers;
}

}  // namespace

Result<std::vector<int>> stages_by_ends(int layers, int ranks, int parts, std::optional<int> first, std::optional<int> last) {
  const std::string text = asked(first, last);
  const int between = ranks - (first ? 1 : 0) - (last ? 1 : 0);
  const int left = layers - first.value_or(0) - last.value_or(0);
  if (between == 0 && left != 0)
    return fail(fmt::format("{}: {} layers together, expected the {} of the network", text, layers - left, layers));
  if (between > 0 && (left < between * parts || left % between != 0))
    return fail(fmt::format("{}: {} of {} layers are left for {} GPUs, expected as many for each", text, std::max(left, 0),
                            layers, between));
  std::vector<int> of_rank(at(ranks), between > 0 ? left / between : 0);
  if (first) of_rank.front() = *first;
  if (last) of_rank.back() = *last;
  for (const int own : of_rank)
    if (own % parts != 0)
      return fail(
          fmt::format("{}: {} layers of a GPU do not divide over its {} parts; --stage-layers says each", text, own, parts));
  std::vector<int> stages;
  for (int part = 0; part < parts; ++part)
    for (const int own : of_rank) stages.push_back(own / parts);
  return stages;
}

std::vector<int> ranks_of_stages(const Configuration& configuration) {
  pipeline::PipelineSchedule places;
  places.shape = configuration.own_schedule ? configuration.own_schedule->shape : configuration.pipeline_shape();
  places.placement = placement_of(configuration);
  std::vector<int> ranks(at(configuration.pipeline_stages()));
  for (int stage = 0; stage < configuration.pipeline_stages(); ++stage)
    ranks[at(stage)] = std::min(places.place_of(stage, 0).rank, places.place_of(stage, 1).rank);
  return ranks;
}

std::optional<PipelineEnds> ends_of(const Configuration& configuration) {
  const Layout& layout = configuration.layout;
  const std::vector<int>& layers = layout.stage_layers;
  if (layers.empty() || placement_of(configuration) != pipeline::Placement::round_robin) return std::nullopt;
  const auto of_rank = [&](int rank) { return layers[at(rank)] * layout.virtual_stages; };
  const int all = std::accumulate(layers.begin(), layers.end(), 0);
  PipelineEnds ends{of_rank(0), std::nullopt};
  if (layout.pipeline > 2 && of_rank(layout.pipeline - 1) != of_rank(1)) ends.last = of_rank(layout.pipeline - 1);
  if (ends.last && of_rank(0) == of_rank(1)) ends.first.reset();
  const auto stages = stages_by_ends(all, layout.pipeline, layout.virtual_stages, ends.first, ends.last);
  return stages && *stages == layers ? std::optional(ends) : std::nullopt;
}

Errors choose_stages(const PredictOptions& options, Configuration& configuration) {
  Layout& layout = configuration.layout;
  layout.stage_layers.clear();
  const auto &first = options.first_stage_layers, &last = options.last_stage_layers;
  const std::string ends = asked(first, last);
  if (ends.empty() && options.stage_layers.empty()) return {};
  const auto refuse = [](std::string message) { return Errors{{std::move(message)}}; };
  if (!ends.empty() && !options.stage_layers.empty())
    return refuse(fmt::format("{} --stage-layers {}: give the layers of the ends or of all stages", ends, options.stage_layers));
  if (layout.pipeline == 1)
    return refuse(fmt::format("{}: of the stages of a pipeline; add --pipeline-parallel 2 or more",
                              ends.empty() ? "--stage-layers " + options.stage_layers : ends));
  for (const auto& [flag, layers] : {std::pair{"--first-stage-layers", first}, std::pair{"--last-stage-layers", last}})
    if (layers && *layers < 1) return refuse(fmt::format("{} {}: expected at least 1", flag, *layers));
  const pipeline::Placement placement = placement_of(configuration);
  if (!ends.empty() && placement != pipeline::Placement::round_robin)
    return refuse(fmt::format("{}: one GPU holds both ends of the network under this schedule; use --stage-layers", ends));
  const int layers = layers_of_stages(configuration.network_graph().graph);
  auto stages = ends.empty() ? stages_by_list(options.stage_layers, configuration, layers)
                             : stages_by_ends(layers, layout.pipeline, layout.virtual_stages, first, last);
  if (!stages) return std::move(stages.error());
  layout.stage_layers = std::move(*stages);
  return {};
}

}  // namespace tbdsim
