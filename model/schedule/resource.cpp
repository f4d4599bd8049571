#include "model/schedule/resource.hpp"

#include <array>

#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

// name, occupied by tasks, takes time
constexpr std::array<ResourceInfo, 9> kRows{{
    {Resource::gpu_compute, "gpu_compute", true, true},
    {Resource::gpu_memory_bandwidth, "gpu_memory_bandwidth", true, true},
    {Resource::host, "host", true, true},
    {Resource::intra_node_link, "intra_node_link", true, true},
    {Resource::network, "network", true, true},
    {Resource::host_link, "host_link", false, true},
    {Resource::host_memory_bandwidth, "host_memory_bandwidth", false, true},
    {Resource::input, "input", false, true},
    {Resource::memory, "memory", false, false},
}};
static_assert(rows_in_order(kRows));
static_assert(kRows[kTaskResources - 1].of_tasks && !kRows[kTaskResources].of_tasks);

}  // namespace

std::span<const ResourceInfo> resources() { return kRows; }

const ResourceInfo& info(Resource resource) { return kRows[static_cast<std::size_t>(resource)]; }

}  // namespace tbdsim
