#include "model/survey/topology_survey.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/hardware/copy_rate.hpp"
#include "model/hardware/route_finder.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

const std::string& name_of(const Topology& topology, VertexId id) {
  return topology.vertices[static_cast<std::size_t>(id.value)].name;
}

// Every pair is told: a million of them.
constexpr std::size_t kMostGpus = 1024;

Result<std::vector<VertexId>> group_of(const System& system, const std::vector<int>& devices) {
  const std::vector<VertexId> all = system.topology.gpus();
  std::vector<VertexId> group;
  std::vector<bool> taken(all.size(), false);
  for (const int device : devices) {
    if (device < 0 || device >= static_cast<int>(all.size()))
      return fail(fmt::format("--devices {}: {} has GPUs 0..{}", device, system.id, all.size() - 1));
    const auto index = static_cast<std::size_t>(device);
    if (taken[index]) return fail(fmt::format("--devices names GPU {} twice", device));
    taken[index] = true;
    group.push_back(all[index]);
  }
  if (group.empty()) return fail(fmt::format("{}: no GPUs chosen", system.id));
  if (group.size() > kMostGpus)
    return fail(
        fmt::format("{}: the pairs of {} GPUs are too many to list, at most {} GPUs; choose some with --gpus or --devices",
                    system.id, group.size(), kMostGpus));
  return group;
}

std::vector<std::string> ring_names(const Topology& topology, const Ring& ring) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ring.order.size(); ++i) {
    names.push_back(name_of(topology, ring.order[i]));
    if (!ring.via.empty() && ring.via[i]) names.push_back(fmt::format("({})", name_of(topology, *ring.via[i])));
  }
  return names;
}

Result<VertexId> vertex(const Topology& topology, const std::string& name) {
  if (const auto found = topology.find(name)) return *found;
  std::vector<std::string> known;
  for (const Vertex& v : topology.vertices) known.push_back(v.name);
  // A number alone is that of a GPU.
  const auto near = topology.find("gpu" + name) ? std::optional("gpu" + name) : nearest(name, known);
  return fail(
      fmt::format("--route: no vertex {}{}", tbdsim::quoted(name),
                  near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; there are {}", fmt::join(known, ", "))));
}

TransferWay way_of(const Topology& topology, const Route& route, const char* via, Bytes bytes) {
  const auto is_gpu = [&](VertexId id) { return topology.vertices[static_cast<std::size_t>(id.value)].kind == VertexKind::gpu; };
  const VertexId from = route.vertices.front(), to = route.vertices.back();
  const bool refused = std::any_of(route.links.begin(), route.links.end(), [&](std::int32_t index) {
    const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
    return link.kind != LinkKind::nvlink && link.kind != LinkKind::xgmi && !link.peer_access;
  });
  const bool staged = refused && is_gpu(from) && is_gpu(to);
  const BytesPerSecond rate = copy_rate(topology, route, staged);
  TransferWay way{via, {}, {}, rate, route.latency, bytes, route.latency + bytes / rate, "", Seconds(0.0)};
  for (const VertexId id : route.vertices) way.vertices.push_back(name_of(topology, id));
  for (const std::int32_t link : route.links) way.links.push_back(topology.links[static_cast<std::size_t>(link)].type);
  if (route.vertices.size() == 3 && is_gpu(route.vertices[1])) {
    way.staged_at = way.vertices[1];
    way.staged_time = route.latency;
    for (const std::int32_t index : route.links) {
      const LinkBundle& link = topology.links[static_cast<std::size_t>(index)];
      way.staged_time += bytes / (link.count * link.achieved);
    }
  }
  return way;
}

// All pairs of more GPUs than stand in one box are not laid out: their copies would be counted in millions.
constexpr std::size_t kMostCopyingGpus = 16;

/// Copies of every pair of the group, alone and all at once.
std::vector<std::vector<TransferShare>> copy_rates(const Topology& topology, const std::vector<VertexId>& group) {
  std::vector<std::vector<TransferShare>> rates(group.size(), std::vector<TransferShare>(group.size()));
  if (group.size() > kMostCopyingGpus) return rates;
  std::vector<TransferEnds> ends;
  for (const VertexId a : group) {
    for (const VertexId b : group)
      if (a != b) ends.emplace_back(a, b);
  }
  auto share = share_links(topology, ends, Bytes(0.0));
  auto next = share.begin();
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (std::size_t j = 0; j < group.size(); ++j)
      if (i != j) rates[i][j] = std::move(*next++);
  }
  return rates;
}

/// Both ends of a transfer, by name.
Result<TransferEnds> ends_of(const Topology& topology, const std::string& from, const std::string& to) {
  const auto a = vertex(topology, from), b = vertex(topology, to);
  Errors errors;
  for (const auto* end : {&a, &b}) {
    if (!*end) errors.insert(errors.end(), end->error().begin(), end->error().end());
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  if (*a == *b) return fail(fmt::format("--route: {} is both ends", from));
  return TransferEnds{*a, *b};
}

}  // namespace

Result<TopologySurvey> survey(const System& system, const std::vector<int>& devices, const RingOptions& rings) {
  const auto group = group_of(system, devices);
  if (!group) return tl::make_unexpected(group.error());
  const Topology& topology = system.topology;
  TopologySurvey result;
  result.system = system.id;
  result.device = system.device.id;
  RouteFinder finder(topology);
  for (const VertexId a : *group) {
    result.gpus.push_back(name_of(topology, a));
    result.pairs.push_back(finder.relations(a, *group));
    result.relays.emplace_back();
    for (const PairRelation& pair : result.pairs.back()) {
      if (pair.peer_access) ++result.peer_pairs;
      std::vector<std::string> relays;
      for (const VertexId relay : pair.relays) relays.push_back(name_of(topology, relay));
      result.relays.back().push_back(std::move(relays));
    }
  }
  result.copies = copy_rates(topology, *group);
  result.rings = find_rings(topology, *group, rings);
  if (result.rings.bandwidth <= BytesPerSecond(0.0)) result.rings = RingSet{};  // some step has no way
  for (const Ring& ring : result.rings.rings) result.ring_orders.push_back(ring_names(topology, ring));
  result.ring_bandwidth = result.rings.effective_rings * result.rings.bandwidth;
  return result;
}

Result<std::vector<TransferWay>> transfer_ways(const System& system, const std::string& from, const std::string& to,
                                               Bytes bytes) {
  const auto ends = ends_of(system.topology, from, to);
  if (!ends) return tl::make_unexpected(ends.error());
  std::vector<TransferWay> ways;
  for (const auto& [via, word] :
       {std::pair{Via::direct, "direct"}, std::pair{Via::relay, "relay"}, std::pair{Via::host, "host"}}) {
    const auto route = find_route(system.topology, ends->first, ends->second, via);
    const bool repeats = route && !ways.empty() && ways.back().vertices == way_of(system.topology, *route, word, bytes).vertices;
    if (route && !repeats) ways.push_back(way_of(system.topology, *route, word, bytes));
  }
  if (ways.empty()) return fail(fmt::format("{}: no way from {} to {}", system.id, from, to));
  return ways;
}

Result<std::vector<SharedTransfer>> shared_transfers(const System& system, const std::vector<std::string>& names, Bytes bytes) {
  std::vector<TransferEnds> ends;
  Errors errors;
  for (std::size_t i = 0; i + 1 < names.size(); i += 2) {
    const auto pair = ends_of(system.topology, names[i], names[i + 1]);
    if (pair)
      ends.push_back(*pair);
    else
      errors.insert(errors.end(), pair.error().begin(), pair.error().end());
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  std::vector<SharedTransfer> transfers;
  for (TransferShare& share : share_links(system.topology, ends, bytes)) {
    const std::size_t i = 2 * transfers.size();
    if (share.route.links.empty()) return fail(fmt::format("{}: no way from {} to {}", system.id, names[i], names[i + 1]));
    SharedTransfer transfer{{}, bytes, std::move(share)};
    for (const VertexId id : transfer.share.route.vertices) transfer.vertices.push_back(name_of(system.topology, id));
    transfers.push_back(std::move(transfer));
  }
  return transfers;
}

}  // namespace tbdsim
