#include <fmt/format.h>
#include <algorithm>
#include <tuple>

#include "model/hardware/copy_rate.hpp"
#include "model/schedule/collective/methods.hpp"
#include "model/schedule/collective/pairwise_paths.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

/// A GPU's links into its switch: how many, and their line rate together, one direction.
std::pair<int, BytesPerSecond> switch_port(const Topology& topology, VertexId gpu) {
  std::pair<int, BytesPerSecond> port{0, BytesPerSecond(0.0)};
  for (const LinkBundle& link : topology.links) {
    const VertexId other = link.a == gpu ? link.b : link.a;
    const bool switched = topology.vertices[static_cast<std::size_t>(other.value)].kind == VertexKind::nvswitch;
    if ((link.a != gpu && link.b != gpu) || !switched) continue;
    port.first += link.count;
    port.second += link.count * link.bandwidth;
  }
  return port;
}

/// Start of a call, and whether the way of launching tells it.
struct CallStart {
  Seconds base;
  bool launched = false;
};
Result<CallStart> call_start(const NcclLibrary& library, const CollectiveGroup& group, NcclFabric fabric) {
  if (group.launch.empty()) return CallStart{costs(library, fabric).base, false};
  std::vector<std::string> names;
  for (const NcclLaunch& launch : library.launches) {
    if (launch.name == group.launch)
      return CallStart{launch.base + static_cast<double>(group.devices.size()) * launch.per_gpu, !launch.ahead};
    names.push_back(launch.name);
  }
  return fail(fmt::format("no way of launching called \"{}\"; there are {}", group.launch, fmt::join(names, ", ")));
}

/// Steps between nodes, where a message takes `latency`. They were measured on networks of a known latency: what it takes longer
/// here comes on top of each; the parts of a step that go with the latency are not known where it takes less.
Result<NcclTransport> transport_of(const NcclLibrary& library, const Network& network, Seconds latency) {
  for (NcclTransport transport : library.transports) {
    if (transport.name != network.transport) continue;
    const Seconds more = std::max(Seconds(0.0), latency - transport.latency);
    transport.hop_ll += more;
    transport.hop += more;
    return transport;
  }
  // A library without a table of transports: the network's own latency.
  if (library.transports.empty()) return NcclTransport{network.transport, latency, latency, true, latency};
  std::vector<std::string_view> names;
  for (const NcclTransport& transport : library.transports) names.push_back(transport.name);
  return fail(
      fmt::format("network {}: no transport {}; there are {}", network.id, quoted(network.transport), fmt::join(names, ", ")));
}

/// What a node of the job gets, all of its ports or less where the tiers beyond it are narrower, and the time of a message there.
struct NodeReach {
  BytesPerSecond rate;
  Seconds latency;
};
NodeReach beyond_node(const System& system, const CollectiveGroup& group, CollectiveKind kind) {
  if (system.tiers.empty()) return {node_bandwidth(system, *group.network), group.network->latency};
  // A node counts as one rank: which of its GPUs send is the rings' business.
  Fabric fabric = fabric_of(system, *group.network);
  fabric.node_ranks = 1;
  const GroupReach beyond = reach(fabric, {1, group.nodes, 1});
  return {kind == CollectiveKind::all_to_all ? beyond.exchange(group.nodes) : beyond.ring(), beyond.latency};
}

/// Adds the link between nodes and says what there is.
Result<void> join_nodes(const System& system, const CollectiveGroup& group, const std::vector<VertexId>& gpus,
                        MethodSetting& setting, CollectivePlan& plan) {
  const Network& network = *group.network;
  const NodeReach beyond = beyond_node(system, group, setting.kind);
  const auto transport = transport_of(setting.library, network, beyond.latency);
  if (!transport) return tl::make_unexpected(transport.error());
  setting.transport = *transport;
  setting.node_network = beyond.rate;
  if (const auto slot = host_slot(system.topology, gpus.front()); slot)
    setting.node_network = std::min(setting.node_network, setting.local * *slot);
  plan.links.push_back({"network", setting.node_network});
  plan.description +=
      fmt::format("{}{} x {} between nodes", plan.description.empty() ? "" : ", ", node_ports(system, network), network.id);
  return {};
}

/// Every call takes `factor` times as long, on its links too.
void slow_down(CollectiveMethod& method, double factor) {
  for (Seconds* time : {&method.start, &method.floor, &method.loop_start, &method.depth}) *time *= factor;
  for (LinkWeight& use : method.weights) use.weight *= factor;
  method.limit = method.limit / factor;
  method.serial = method.serial / factor;
  if (!method.paced) return;
  for (Seconds* time : {&method.paced->start, &method.paced->drain, &method.paced->ramp}) *time *= factor;
  method.paced->rate = method.paced->rate / factor;
  method.paced->slice_rate = method.paced->slice_rate / factor;
}

/// Share of a ring's time in which its links within a node are busy: where the network sets the pace, they wait.
double busy_within(const CollectivePlan& plan, std::optional<std::int32_t> network) {
  if (!network) return 1.0;
  const CollectiveMethod& ring = plan.methods.front();
  Seconds within = ring.limit > BytesPerSecond(0.0) ? Bytes(1.0) / ring.limit : Seconds(0.0), slowest = within;
  for (const LinkWeight& use : ring.weights) {
    const Seconds busy = Bytes(use.weight) / plan.links[static_cast<std::size_t>(use.link)].capacity;
    slowest = std::max(slowest, busy);
    if (use.link != *network) within = std::max(within, busy);
  }
  return slowest > Seconds(0.0) ? within / slowest : 0.0;
}

void append(std::vector<CollectiveMethod>& methods, std::vector<CollectiveMethod> more) {
  methods.insert(methods.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

RingOptions ring_options(const Device& device, const NcclLibrary& library) {
  RingOptions options = default_ring_options(device);
  options.relay = options.relay && library.release.relay;
  return options;
}

namespace {

Result<CollectivePlan> unscaled_plan(const System& system, const CollectiveGroup& group, CollectiveKind kind,
                                     const NcclLibrary& library) {
  CollectivePlan plan;
  plan.kind = kind;
  const int local = static_cast<int>(group.devices.size());
  plan.ranks = local * group.nodes;
  if (plan.ranks <= 1) return plan;
  if (group.nodes > 1 && !group.network)
    return fail(fmt::format("{}: {} nodes need a network; name one with --network", system.id, group.nodes));
  if (const auto most = most_nodes(system); most && group.nodes > *most)
    return fail(fmt::format("{}: {} nodes, but the outermost tier of its fabric, {}, joins {}", system.id, group.nodes,
                            system.tiers.back().name, *most));
  const std::vector<VertexId> all = system.topology.gpus();
  std::vector<VertexId> gpus;
  gpus.reserve(group.devices.size());
  for (const int device : group.devices) gpus.push_back(all[static_cast<std::size_t>(device)]);
  constexpr NcclVersion kManyRings{2, 0, 0};
  const auto paths = library.version < kManyRings ? single_ring_path : ring_paths;
  auto rings = paths(system.topology, gpus, ring_options(system.device, library),
                     fmt::format("{}: GPUs {}", system.id, fmt::join(group.devices, ",")));
  if (!rings) return tl::make_unexpected(rings.error());
  const auto start = call_start(library, group, rings->fabric);
  if (!start) return tl::make_unexpected(start.error());
  MethodSetting setting{library, system.device, kind, local, group.nodes, std::move(*rings), start->base, {}, {}, {}, 0, {}};
  std::tie(setting.port_links, setting.port) = switch_port(system.topology, gpus.front());
  if (start->launched) setting.launched = start->base;
  plan.channels = std::max(costs(library, setting.rings.fabric).channels, 2 * setting.rings.channels);
  plan.description = setting.rings.description;
  if (facts(kind).pairs) load_pairs(system.topology, gpus, kind, ring_options(system.device, library), setting.rings);
  plan.links = setting.rings.links;
  std::optional<std::int32_t> network;
  if (group.nodes > 1) {
    network = static_cast<std::int32_t>(plan.links.size());
    if (const auto joined = join_nodes(system, group, gpus, setting, plan); !joined) return tl::make_unexpected(joined.error());
  }
  plan.methods = switched_methods(setting);
  if (!plan.methods.empty()) {
    plan.planned = !facts(kind).pairs;
    for (const CollectiveMethod& method : plan.methods) plan.channels = std::max(plan.channels, method.paced->most_channels);
    return plan;
  }
  if (facts(kind).pairs) {
    plan.methods.push_back(pairwise_method(setting, network));
    return plan;
  }
  plan.methods = ring_methods(setting, network);
  plan.beside = costs(library, setting.rings.fabric).beside * busy_within(plan, network);
  if (network) append(plan.methods, tree_methods(setting, *network));
  append(plan.methods, switch_methods(setting, network));
  plan.planned = std::all_of(plan.methods.begin(), plan.methods.end(),
                             [](const CollectiveMethod& method) { return method.planned.has_value(); });
  plan.ll_limit = plan.planned ? library.ll_limit : library.release.ll_limit;
  return plan;
}

}  // namespace

Result<CollectivePlan> plan_collective(const System& system, const CollectiveGroup& group, CollectiveKind kind,
                                       const NcclLibrary& library) {
  auto plan = unscaled_plan(system, group, kind, library);
  const double factor = system.device.calibration.own.anchors.exchange;
  if (plan && factor != 1.0)
    for (CollectiveMethod& method : plan->methods) slow_down(method, factor);
  return plan;
}

}  // namespace tbdsim
