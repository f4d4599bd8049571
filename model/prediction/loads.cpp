#include "model/prediction/loads.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tbdsim {
namespace {

/// Memory that loading and serving gradients keep on a node; what the framework itself takes, a few GB, is not known.
Bytes host_memory(const Configuration& configuration) {
  const OpGraph& graph = configuration.network_graph().graph;
  Bytes held = configuration.kept_samples;
  const double gpus = static_cast<double>(configuration.devices.size());
  if (configuration.pipeline && !configuration.mock_loader) {
    const double batches = configuration.pipeline->prefetch + 1.0;
    const auto sample = static_cast<double>(elements(graph.tensors.front().shape)) * Bytes(4.0);
    held += batches * gpus * configuration.batch * sample;
  }
  // Weights and the sum of their gradients.
  if (info(configuration.exchange).host_sums)
    for (const Parameter& parameter : graph.parameters) held += 2.0 * static_cast<double>(elements(parameter.shape)) * Bytes(4.0);
  return held;
}

}  // namespace

void tell_cpu(const Configuration& configuration, const StepTimes& times, Utilization& u, std::vector<std::string>& notices) {
  const Seconds available = times.step * static_cast<double>(configuration.hardware().host.cores);
  u.cpu_launch = times.host_busy * static_cast<double>(configuration.devices.size()) / available;
  (configuration.environments ? u.cpu_environment : u.cpu_input) = times.decoding / available;
  u.cpu_server = times.serving / available;
  const double wanted = u.cpu_launch + u.cpu_input + u.cpu_environment + u.cpu_server;
  u.cpu = std::min(1.0, wanted);
  // Threads that issue operators are not kept apart: with fewer cores than processes they would take turns.
  if (wanted > 1.0)
    notices.push_back(fmt::format("the step wants {:.1f} cores of a node that has {}: it will take longer than told",
                                  wanted * configuration.hardware().host.cores, configuration.hardware().host.cores));
}

Loads loads(const Configuration& configuration, const StepTimes& times, const Prediction& p) {
  Loads loads;
  const Host& host = configuration.hardware().host;
  if (host.memory_capacity) loads.host_memory = host_memory(configuration) / *host.memory_capacity;
  if (times.network > Seconds(0.0)) loads.network = std::min<double>(1.0, times.network / times.step);
  if (p.input_verdict && p.input_verdict->read > Seconds(0.0))
    loads.storage = std::min<double>(1.0, p.input_verdict->read / times.step);
  return loads;
}

void add_kept_on_host(const MemoryVerdict& memory, Loads& loads) {
  if (memory.host && memory.host->capacity)
    loads.host_memory = loads.host_memory.value_or(0.0) + memory.host->needed / *memory.host->capacity;
}

}  // namespace tbdsim
