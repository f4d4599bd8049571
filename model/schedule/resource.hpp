#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace tbdsim {

/// What may bound a step: what its critical path spends time on, and the memory that may be too small.
enum class Resource {
  gpu_compute,
  gpu_memory_bandwidth,
  host,
  intra_node_link,
  network,
  host_link,              ///< copies between a GPU and its host, of an offload
  host_memory_bandwidth,  ///< the update of states that lie on the host
  input,
  memory
};

/// One row of the table of resources.
struct ResourceInfo {
  Resource kind;
  std::string_view name;  ///< in JSON and tables: "gpu_compute"
  bool of_tasks;          ///< occupied by tasks of a lowered step; others are added to a step, `memory` holds it or does not
  bool takes_time;        ///< has a share of the critical path
};

/// Every resource, in the order of their enumerators: those of tasks first.
[[nodiscard]] std::span<const ResourceInfo> resources();
[[nodiscard]] const ResourceInfo& info(Resource resource);
[[nodiscard]] inline std::string_view name(Resource resource) { return info(resource).name; }

/// How many of them tasks occupy.
inline constexpr std::size_t kTaskResources = 5;

}  // namespace tbdsim
