#include <fmt/format.h>
#include <algorithm>

#include "model/hardware/topology.hpp"
#include "model/schedule/collective/ring_paths.hpp"
#include "model/schedule/exchange/parameter_server_exchange.hpp"
#include "model/schedule/exchange/plan_exchange.hpp"
#include "model/stack/local_store.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

/// What the local store adds up: four threads (CommCPU::nthread_reduction_ and the engine's prioritised CPU workers), each
/// reading a summand and its sum and writing the sum at 12 GB/s together. Assumed: no published figure of the store alone.
constexpr BytesPerSecond kLocalSum{4 * 4e9};

/// BytePS's pieces: BYTEPS_PARTITION_BYTES. Source: bytedance/byteps docs/env.md.
constexpr Bytes kBytePsPiece{4096000.0};

/// What a server adds up. Assumed: all its cores at the speed of memory; the authors find it faster than networks of 100 Gb/s
/// (Jiang et al., OSDI 2020).
constexpr BytesPerSecond kBytePsSum{25e9};

/// Host time of a piece at its sender and at its server. Assumed, as an MXNet server's message.
constexpr Seconds kBytePsMessage{5e-6};

/// Each piece is several tasks of the simulated step: more of them would take seconds and gigabytes.
constexpr double kMostPieces = 500'000;

Result<void> check_pieces(const ExchangeSetting& setting, const ServerPlan& plan, std::string_view exchange) {
  if (!plan.sliced || setting.gradients / plan.constants.slice <= kMostPieces) return {};
  return fail(
      fmt::format("exchange {}: gradients of {} in pieces of {} are more than the {:.0f} pieces that are modelled; use another "
                  "exchange, such as allreduce",
                  exchange, format(setting.gradients), format(plan.constants.slice), kMostPieces));
}

/// Servers of MXNet (ps-lite over ZeroMQ) and TensorFlow (gRPC) speak TCP over the one interface that they are bound to,
/// however many ports the node has (dmlc/ps-lite, DMLC_INTERFACE).
void bind_tcp(const Network& network, ServerPlan& plan) {
  plan.network = network.tcp;
  plan.network_latency = network.tcp_latency;
}

/// GPUs of a node reduce-scatter over their rings, and each copies its share to the host.
Result<NodeTraffic> scattered_traffic(const System& system, const std::vector<int>& devices, const NcclLibrary& nccl) {
  auto traffic = node_traffic(system, devices, Gather::on_host);
  if (!traffic) return traffic;
  const double gpus = static_cast<double>(devices.size());
  std::vector<VertexId> group;
  const std::vector<VertexId> all = system.topology.gpus();
  group.reserve(devices.size());
  for (const int device : devices) group.push_back(all[static_cast<std::size_t>(device)]);
  const RingSet rings = find_rings(system.topology, group, ring_options(system.device, nccl));
  for (std::vector<LinkLoad>* way : {&traffic->up, &traffic->down}) {
    for (LinkLoad& load : *way) load.weight /= gpus;
    if (gpus > 1) way->push_back({"rings", rings.effective_rings * rings.bandwidth, (gpus - 1.0) / gpus});
  }
  return traffic;
}

Result<PlannedExchange> plan_servers(const ExchangeSetting& setting, bool p3) {
  const Stack& stack = setting.stack;
  ServerPlan plan;
  plan.constants = *stack.server;
  plan.sliced = plan.prioritized = p3;
  if (auto few = check_pieces(setting, plan, name(Exchange::ps_p3)); !few) return tl::make_unexpected(few.error());
  plan.gpus = static_cast<int>(setting.devices.size());
  plan.nodes = setting.nodes;
  if (!plan.constants.variables_on_host) plan.host_per_key = store_key_time(setting, node_key_time(setting));
  auto inside =
      node_traffic(setting.system, setting.devices, plan.constants.reduces_on_device ? Gather::on_device : Gather::on_host);
  if (!inside) return tl::make_unexpected(inside.error());
  plan.inside = std::move(*inside);
  std::string where = "on one node";
  plan.emulated = setting.emulated;
  if (setting.nodes > 1 || setting.emulated) {
    bind_tcp(*setting.network, plan);
    // Where PCIe is the network, the copy to the host is the push.
    if (setting.emulated && setting.network->id == kPcieNetwork) plan.inside = {};
    where = setting.emulated ? fmt::format("on one machine, {} between worker and server at {:.3g} GB/s", setting.network->id,
                                           plan.network.base() / 1e9)
                             : fmt::format("on {} nodes, {} at {:.3g} GB/s a node", setting.nodes, setting.network->id,
                                           plan.network.base() / 1e9);
  }
  std::string text = fmt::format("parameter servers beside the workers {}{}", where, p3 ? ", slices by priority" : "");
  return PlannedExchange{std::make_unique<ParameterServerExchange>(std::move(plan)), "fitted", std::move(text)};
}

}  // namespace

Result<PlannedExchange> plan_parameter_server(const ExchangeSetting& setting) { return plan_servers(setting, false); }

Result<PlannedExchange> plan_local_store(const ExchangeSetting& setting) {
  if (setting.ranks() == 1) return plan_bucketed_all_reduce(setting);
  auto inside = node_traffic(setting.system, setting.devices, Gather::on_host);
  if (!inside) return tl::make_unexpected(inside.error());
  ServerPlan plan;
  plan.constants = *setting.stack.server;
  plan.constants.reduces_on_device = false;
  plan.constants.sum = kLocalSum;
  plan.inside = std::move(*inside);
  plan.gpus = static_cast<int>(setting.devices.size());
  plan.host_per_key = store_key_time(setting, node_key_time(setting));
  plan.host_per_key_no_update = setting.system.host.dispatch_scale * node_key_time(setting);
  plan.store_updates_up_to = kLocalStoreUpdates;
  return PlannedExchange{std::make_unique<ParameterServerExchange>(std::move(plan)), "assumed",
                         "copies to the host, sum and update there, copies back"};
}

Result<PlannedExchange> plan_byteps(const ExchangeSetting& setting) {
  if (setting.nodes == 1) return plan_bucketed_all_reduce(setting);
  auto inside = scattered_traffic(setting.system, setting.devices, setting.nccl);
  if (!inside) return tl::make_unexpected(inside.error());
  ServerPlan plan;
  plan.constants.sum = kBytePsSum;
  plan.constants.update = kBytePsSum;
  plan.constants.message = kBytePsMessage;
  plan.constants.slice = kBytePsPiece;
  plan.inside = std::move(*inside);
  plan.gpus = static_cast<int>(setting.devices.size());
  plan.nodes = setting.nodes;
  plan.network = setting.network->achieved;  // one port: ps-lite's RDMA van binds one, too
  plan.network_latency = setting.network->latency;
  plan.sliced = plan.prioritized = plan.apart = plan.servers_only_add = true;
  if (auto few = check_pieces(setting, plan, name(Exchange::byteps)); !few) return tl::make_unexpected(few.error());
  std::string text = fmt::format("{} servers on machines of their own, {} at {:.3g} GB/s a node, pieces of 4 MB by priority",
                                 setting.nodes, setting.network->id, plan.network.base() / 1e9);
  return PlannedExchange{std::make_unique<ParameterServerExchange>(std::move(plan)), "assumed", std::move(text)};
}

Result<PlannedExchange> plan_p3(const ExchangeSetting& setting) { return plan_servers(setting, true); }

}  // namespace tbdsim
