#include "model/survey/network_change.hpp"

#include <algorithm>
#include <set>

#include "model/configuration/configure.hpp"
#include "model/configuration/set_values.hpp"

namespace tbdsim {
namespace {

NetworkFigures figures(const OpGraph& graph, const Prediction& p) {
  NetworkFigures figures;
  figures.parameters = graph.parameter_elements();
  figures.forward_macs = static_cast<double>(macs_per_sample(graph).forward);
  figures.step = p.step_time.value;
  figures.throughput = p.throughput.value;
  for (const GpuMemory& gpu : p.memory.gpus) figures.peak = std::max(figures.peak, gpu.peak);
  return figures;
}

}  // namespace

Result<std::optional<NetworkChange>> network_change(Session& session, const PredictOptions& options, const Prediction& changed) {
  if (options.set.empty()) return std::optional<NetworkChange>();
  const auto edited = edited_inputs(session, options);
  if (!*edited) return tl::make_unexpected(edited->error());
  std::set<int> of_network;
  for (const Edit& edit : (*edited)->session->catalogue().edits->changes)
    if (edit.key.starts_with("model.")) of_network.insert(edit.line);
  if (of_network.empty()) return std::optional<NetworkChange>();
  PredictOptions plain = options;
  plain.detail = false;
  plain.set.clear();
  for (std::size_t i = 0; i < options.set.size(); ++i)
    if (of_network.count(static_cast<int>(i) + 1) == 0) plain.set.push_back(options.set[i]);
  const auto before = predict(session, plain);
  if (!before) return tl::make_unexpected(before.error());
  const auto old_job = configure(session, plain), new_job = configure(session, options);
  if (!old_job) return tl::make_unexpected(old_job.error());
  if (!new_job) return tl::make_unexpected(new_job.error());
  return std::optional(NetworkChange{changed.job.model, figures(old_job->network_graph().graph, *before),
                                     figures(new_job->network_graph().graph, changed)});
}

}  // namespace tbdsim
