#include "model/configuration/choose_offload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "model/hardware/host_memory.hpp"
#include "model/memory/footprint.hpp"
#include "model/support/find_named.hpp"
#include "model/units/format.hpp"
#include "model/workload/layer_classes.hpp"

namespace tbdsim {
namespace {

constexpr OffloadRow kOffloads[] = {
    {"none", false, false}, {"states", true, false}, {"activations", false, true}, {"both", true, true}};

/// A number from 0 to 1.
std::optional<double> share_of(const std::string& text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, value);
  return status == std::errc{} && stopped == end && value >= 0.0 && value <= 1.0 ? std::optional(value) : std::nullopt;
}

/// Layers of a rank but its last one and the head, of which a network that is read has some.
int most_layers(const Configuration& configuration) {
  if (!*configuration.workload) return 0;
  const OpGraph& graph = configuration.network_graph().graph;
  const auto layers = static_cast<int>(fold_layers(graph).layers());
  return layers - (layers > 1 && is_loss(graph.ops.back().kind) ? 1 : 0) - 1;
}

/// Problems are told with the option that asks.
class Offloading {
 public:
  Offloading(const PredictOptions& options, Configuration& configuration) : options_(options), job_(configuration) {}

  Errors choose() {
    const Offload before = std::exchange(job_.offload, {});
    job_.offload.copy = before.copy;
    job_.offload.update = before.update;
    job_.offload.assumed = before.assumed;
    const bool asked = !options_.offload.empty();
    const OffloadRow* const row = asked ? find_offload(options_.offload) : kOffloads;
    if (row == nullptr)
      return {{fmt::format("unknown offload \"{}\", expected one of none, states, activations, both", options_.offload)}};
    const bool states = row->states, layers = row->layers || options_.offload_layers.value_or(0) > 0;
    if (asked && !states && !row->layers && layers)
      refuse(fmt::format("--offload none --offload-layers {}: give one of them", *options_.offload_layers));
    if (!options_.offload_share.empty() && !states)
      refuse(fmt::format("--offload-share {}: of states on the host; add --offload states", options_.offload_share));
    if (!errors_.empty()) return std::move(errors_);
    if (states) offload_states();
    if (layers) offload_layers();
    if (errors_.empty() && job_.offload.any()) find_rates();
    return std::move(errors_);
  }

 private:
  void refuse(std::string message) { errors_.push_back({std::move(message)}); }

  [[nodiscard]] const OffloadSettings& known() const { return job_.stack.parallel.offload; }

  void offload_states() {
    const bool part = !options_.offload_share.empty();
    const auto share = part ? share_of(options_.offload_share) : std::optional(1.0);
    if (!share) return refuse(fmt::format("--offload-share {}: expected a number from 0 to 1", options_.offload_share));
    if (!known().states)
      return refuse(
          fmt::format("--offload states: {} keeps no states on the host; deepspeed-0.14, megatron-core-0.14 and fsdp2-2.6 do",
                      job_.stack.id));
    if (*share < 1.0 && !known().parts)
      return refuse(
          fmt::format("--offload-share {}: {} keeps all states on the host or none", options_.offload_share, job_.stack.id));
    const Layout& layout = job_.layout;
    const bool copies = layout.data * layout.context > 1;
    if (known().weights && (job_.sharding() != 3 || !copies))
      return refuse(
          fmt::format("--offload states: {} keeps weights on the host with their states, where --zero 3 divides them over "
                      "several copies and no pipeline keeps them gathered",
                      job_.stack.id));
    if (job_.zero == 0 && copies) {
      if (options_.zero)
        return refuse(fmt::format("--offload states --zero 0: {} updates on the host what the copies divide; at least --zero 1",
                                  job_.stack.id));
      job_.zero = 1;
      job_.notices.push_back(fmt::format(
          "--offload states: --zero 1 comes with it, since {} updates on the host what the copies divide", job_.stack.id));
    }
    job_.offload.states = *share;
    job_.offload.weights = known().weights;
  }

  void offload_layers() {
    const auto asked = options_.offload_layers;
    const std::string what = asked ? fmt::format("--offload-layers {}", *asked) : fmt::format("--offload {}", options_.offload);
    if (!known().activations)
      return refuse(fmt::format("{}: {} keeps no activations on the host; megatron-core-0.8 and -0.14 do", what, job_.stack.id));
    if (job_.layout.pipeline > 1)
      return refuse(fmt::format("{} --pipeline-parallel {}: activations leave for the host without a pipeline only", what,
                                job_.layout.pipeline));
    if (job_.recompute != Recompute::none)
      return refuse(fmt::format("{} --recompute {}: what is computed again is not kept on the host; give one of them", what,
                                name(job_.recompute)));
    const int most = most_layers(job_);
    if (*job_.workload && most < 1)
      return refuse(fmt::format("{}: {} has one layer, and the last layer's stay where they are", what, options_.model));
    if (asked && *asked > most && *job_.workload)
      return refuse(fmt::format("{}: at most {}, all layers but the last", what, most));
    job_.offload.layers = asked.value_or(most);
  }

  /// Every rank of the node has its share of the ways and of the host's memory, through which copies go as well.
  void find_rates() {
    if (!info(job_.exchange).collective())
      return refuse(fmt::format("--offload: gradients are exchanged by allreduce, not by {}", name(job_.exchange)));
    // Layouts of one job share what their machine has.
    if (job_.offload.copy > BytesPerSecond(0.0)) return;
    const System& system = job_.hardware();
    const HostMemoryRate memory = host_memory_rate(system);
    // The threads of a rank stay on a board, which has two sockets at most where a rack counts as a node.
    const double board = std::min(1.0, 2.0 / system.host.sockets);
    job_.offload.update = std::min(1.0 / static_cast<double>(job_.devices.size()), board) * memory.rate;
    job_.offload.copy = std::min(host_copy_rate(system.topology, job_.devices), job_.offload.update);
    job_.offload.assumed = memory.assumed;
    if (job_.offload.copy <= BytesPerSecond(0.0))
      return refuse(fmt::format("--offload: {} has no way from its GPUs to the host's memory", system.id));
    if (memory.assumed)
      job_.notices.push_back(
          fmt::format("nothing names the host's memory: {} is taken for it (hw.host.dram_bandwidth), and the range is wider",
                      format(memory.rate)));
    if (!system.host.memory_capacity)
      job_.notices.emplace_back(
          "nothing names the size of the host's memory (hw.host_memory): whether it holds what lies there is not judged");
  }

  const PredictOptions& options_;
  Configuration& job_;
  Errors errors_;
};

}  // namespace

const OffloadRow* find_offload(const std::string& word) {
  const auto* const row = std::find_if(std::begin(kOffloads), std::end(kOffloads),
                                       [&](const OffloadRow& known) { return known.word == fold_name(word); });
  return row == std::end(kOffloads) ? nullptr : row;
}

Errors choose_offload(const PredictOptions& options, Configuration& configuration) {
  return Offloading(options, configuration).choose();
}

bool gradients_leave_in_turns(const Configuration& configuration) {
  const Offload& host = configuration.offload;
  return host.states > 0.0 && !host.weights && configuration.zero >= 2 && configuration.layout.pipeline == 1;
}

Errors check_offloaded_update(const Configuration& configuration) {
  if (configuration.offload.states <= 0.0 || configuration.optimizer.name == kHostOptimizer) return {};
  return {{fmt::format("--offload states --optimizer {}: hosts update by Adam alone", configuration.optimizer.name)}};
}

}  // namespace tbdsim
