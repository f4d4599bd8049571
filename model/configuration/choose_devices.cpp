#include "model/configuration/choose_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace tbdsim {
namespace {

/// What is said of GPUs that leave a node half empty, with the counts next to them, and with the fewest nodes that share them
/// evenly.
std::string unfilled(std::int64_t gpus, std::int64_t per_node) {
  const std::int64_t full = gpus / per_node * per_node;
  std::string text = fmt::format("{} GPUs do not fill nodes of {}: take {} or {}", gpus, per_node, full, full + per_node);
  // Twice as many nodes as hold them leave each half empty.
  const std::int64_t fewest = full / per_node + 1;
  for (std::int64_t nodes = fewest; nodes <= 2 * fewest; ++nodes)
    if (gpus % nodes == 0) return text + fmt::format("; `predict --nodes {}` takes {} of each", nodes, gpus / nodes);
  return text;
}

}  // namespace

Result<std::pair<std::vector<int>, int>> choose_devices(const PredictOptions& options, const System& system) {
  const int per_node = system.gpu_count;
  for (const auto& [value, name] : {std::pair{options.gpus, "--gpus"}, std::pair{options.nodes, "--nodes"}}) {
    if (value && *value < 1) return fail(fmt::format("{} {}: expected at least 1", name, *value));
  }
  std::vector<int> devices = options.devices;
  int nodes = options.nodes.value_or(1);
  if (!devices.empty()) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i] < 0 || devices[i] >= per_node)
        return fail(fmt::format("--devices {}: {} has GPUs 0..{}", devices[i], system.id, per_node - 1));
      if (std::find(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i), devices[i]) !=
          devices.begin() + static_cast<std::ptrdiff_t>(i))
        return fail(fmt::format("--devices names GPU {} twice", devices[i]));
    }
    if (options.gpus && *options.gpus != static_cast<int>(devices.size()) * nodes)
      return fail(fmt::format("--gpus {} and --devices with {} on {} node(s) disagree", *options.gpus, devices.size(), nodes));
    return std::pair{devices, nodes};
  }
  int local = per_node;
  if (options.gpus && options.nodes) {
    if (*options.gpus % nodes != 0) return fail(fmt::format("{} GPUs do not divide over {} nodes", *options.gpus, nodes));
    local = *options.gpus / nodes;
    if (local > per_node)
      return fail(fmt::format("{} GPUs on {} nodes need {} a node; {} has {}", *options.gpus, nodes, local, system.id, per_node));
  } else if (options.gpus) {
    if (*options.gpus < per_node) {
      local = *options.gpus;
    } else {
      nodes = (*options.gpus + per_node - 1) / per_node;
      local = *options.gpus / nodes;
      // Jobs on racks of 72 leave some GPUs of each idle, so that those in use are a power of two.
      constexpr double kAlmostAll = 0.75;
      if (*options.gpus % nodes != 0 || (local < per_node && local <= kAlmostAll * per_node))
        return fail(unfilled(*options.gpus, per_node));
    }
  }
  devices.resize(static_cast<std::size_t>(local));
  for (std::size_t i = 0; i < devices.size(); ++i) devices[i] = static_cast<int>(i);
  return std::pair{devices, nodes};
}

}  // namespace tbdsim
