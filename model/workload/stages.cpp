#include "model/workload/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/workload/recompute.hpp"

namespace tbdsim {
namespace {

template <class Id>
std::size_t index(Id id) {
  return static_cast<std::size_t>(id.value);
}

/// Segments but the head, which goes with the last.
int without_head(const OpGraph& graph, const std::vector<OpId>& segments) {
  const bool head = segments.size() > 1 && is_loss(graph.ops.back().kind);
  return static_cast<int>(segments.size()) - (head ? 1 : 0);
}

/// How many of `things` fall on the first `count` of `places` that are dealt them evenly.
int up_to(int count, int things, int places) { return (count * things + places - 1) / places; }

/// Layers of each stage. A run of stages, one of each rank, has its even part of the longer ones; of the run the ranks with the
/// fewest so far get them, spread over the run.
std::vector<int> even_sizes(int stages, int layers, const std::vector<int>& ranks) {
  const auto rank_of = [&](int stage) {
    return static_cast<std::size_t>(ranks.empty() ? stage : ranks[static_cast<std::size_t>(stage)]);
  };
  const int run = ranks.empty() ? stages : *std::max_element(ranks.begin(), ranks.end()) + 1;
  std::vector<int> sizes(static_cast<std::size_t>(stages), layers / stages), longer(static_cast<std::size_t>(run), 0);
  for (int begin = 0; begin < stages; begin += run) {
    const int end = std::min(begin + run, stages), all = layers % stages;
    int left = up_to(end, all, stages) - up_to(begin, all, stages);
    const int fewest = *std::min_element(longer.begin(), longer.end());
    std::array<std::vector<int>, 2> order;
    for (int stage = begin; stage < end; ++stage) order[longer[rank_of(stage)] == fewest ? 0 : 1].push_back(stage);
    for (const std::vector<int>& of : order) {
      const int places = static_cast<int>(of.size()), here = std::min(left, places);
      left -= here;
      for (int place = 0; place < places; ++place) {
        if (up_to(place + 1, here, places) == up_to(place, here, places)) continue;
        const int stage = of[static_cast<std::size_t>(place)];
        ++sizes[static_cast<std::size_t>(stage)];
        ++longer[rank_of(stage)];
      }
    }
  }
  return sizes;
}

/// Copies the operators of one stage into a graph of their own.
class StageCutter {
 public:
  StageCutter(const OpGraph& graph, const std::vector<int>& stage, int which)
      : graph_(graph), stage_(stage), which_(which), tensors_(graph.tensors.size()) {}

  OpGraph run() {
    part_.name = graph_.name;
    part_.variant = graph_.variant;
    part_.input_unit = graph_.input_unit;
    part_.default_batch = graph_.default_batch;
    part_.default_optimizer = graph_.default_optimizer;
    if (which_ == stage_.back()) part_.label_elements = graph_.label_elements;
    // What is received stands before its first reader, so that layers of several parts are told apart as those of one.
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (stage_[i] != which_) continue;
      receive(graph_.ops[i]);
      copy(graph_.ops[i]);
    }
    return std::move(part_);
  }

 private:
  TensorId append(const Tensor& tensor, Op op) {
    const OpId id{static_cast<std::int32_t>(part_.ops.size())};
    for (const TensorId input : op.inputs) part_.tensors[index(input)].consumers.push_back(id);
    const TensorId made{static_cast<std::int32_t>(part_.tensors.size())};
    op.output = made;
    part_.tensors.push_back({tensor.name, tensor.shape, id, {}, tensor.needs_gradient});
    part_.ops.push_back(std::move(op));
    return made;
  }

  void receive(const Op& op) {
    for (const TensorId input : op.inputs) {
      const Tensor& tensor = graph_.tensor(input);
      if (stage_[index(tensor.producer)] == which_ || tensors_[index(input)].value >= 0) continue;
      Op received;
      received.name = tensor.name;
      tensors_[index(input)] = append(tensor, std::move(received));
    }
  }

  void copy(const Op& op) {
    Op own = op;
    for (TensorId& input : own.inputs) input = tensors_[index(input)];
    own.parameters.clear();
    const OpId id{static_cast<std::int32_t>(part_.ops.size())};
    for (const ParameterId old : op.parameters) own.parameters.push_back(take(graph_.parameter(old), id));
    if (auto* linear = std::get_if<LinearAttributes>(&own.attributes); linear != nullptr && linear->tied) {
      const Shape table{linear->out_features, graph_.input_shape(op).back()};
      if (!holds(elements(table))) {
        linear->tied = false;
        own.parameters.push_back(take({own.name + ".copy", table, id}, id));
      }
    }
    tensors_[index(op.output)] = append(graph_.tensor(op.output), std::move(own));
  }

  ParameterId take(Parameter parameter, OpId op) {
    parameter.op = op;
    part_.parameters.push_back(std::move(parameter));
    return ParameterId{static_cast<std::int32_t>(part_.parameters.size()) - 1};
  }

  [[nodiscard]] bool holds(std::int64_t count) const {
    return std::any_of(part_.parameters.begin(), part_.parameters.end(),
                       [&](const Parameter& parameter) { return elements(parameter.shape) == count; });
  }

  const OpGraph& graph_;
  const std::vector<int>& stage_;
  int which_;
  std::vector<TensorId> tensors_;  ///< in the part; -1: not there
  OpGraph part_;
};

}  // namespace

bool has_attention(const OpGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return info(op.kind).multiplies_activations; });
}

int layers_of_stages(const OpGraph& graph) { return without_head(graph, recompute_segments(graph, Recompute::layer)); }

std::vector<int> first_layers(int stages, int layers, const std::vector<int>& sizes, const std::vector<int>& ranks) {
  const std::vector<int> dealt = sizes.empty() ? even_sizes(stages, layers, ranks) : sizes;
  std::vector<int> first{0};
  for (const int size : dealt) first.push_back(first.back() + size);
  return first;
}

Result<std::vector<int>> stages_of(const OpGraph& graph, int stages, const std::vector<int>& sizes,
                                   const std::vector<int>& ranks) {
  const std::vector<OpId> segments = recompute_segments(graph, Recompute::layer);
  const int layers = without_head(graph, segments);
  if (layers < stages) {
    // Without attention a segment is a block, of which a network has fewer than layers with parameters.
    const char* const counted =
        has_attention(graph) ? "layers" : "parts that can be stages (residual units, layers up to a pooling)";
    return fail(fmt::format("--pipeline-parallel: {} stages, and {} has {} {}; at most so many stages", stages, graph.name,
                            layers, counted));
  }
  std::vector<int> stage(graph.ops.size(), 0);
  const std::vector<int> first = first_layers(stages, layers, sizes, ranks);
  for (int which = 1; which < stages; ++which) {
    const auto layer = static_cast<std::size_t>(first[static_cast<std::size_t>(which)]);
    std::fill(stage.begin() + segments[layer].value, stage.end(), which);
  }
  return stage;
}

OpGraph stage_share(const OpGraph& graph, const std::vector<int>& stage, int which) {
  return StageCutter(graph, stage, which).run();
}

}  // namespace tbdsim
