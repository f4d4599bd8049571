#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/usual_network.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostSockets = 1024;  // a rack of superchips counts as one node
constexpr std::int64_t kMostCores = 1'000'000;
/// Of the reference host's speed, a Zen 4 of 2023. Assumed: no CPU that feeds a GPU is a hundred times as slow or as fast.
constexpr Bounds kThread{0.01, 100.0, false};
constexpr Bounds kCpuClock{1e8, 1e10, false};  // Hz: a slip of unit lies outside

BytesPerSecond usual_tcp(BytesPerSecond line) {
  return std::max((kTcpOnFastLine / kFastLine) * line, std::min(kUsualSockets.share * line, kTcpOnFastLine));
}

/// What programs get that speak TCP whatever the adapters can do; on sockets that is all there is.
void read_tcp(TomlTable& table, Network& network) {
  const bool sockets = network.transport == "sockets";
  network.tcp = table.quantity_if<BytesPerSecond>("tcp").value_or(
      sockets ? network.achieved : std::min(network.achieved, usual_tcp(network.bandwidth)));
  network.tcp_latency = table.quantity_if<Seconds>("tcp_latency", kNotNegative)
                            .value_or(sockets ? network.latency : std::max(network.latency, kUsualSockets.latency));
  if (network.tcp > network.bandwidth) table.problem("tcp", "more than the line rate that bandwidth states");
}

}  // namespace

Host read_host(TomlTable table, std::string id) {
  Host host;
  host.id = std::move(id);
  host.name = table.text("name");
  host.sockets = static_cast<int>(table.integer("sockets", 1, kMostSockets));
  host.cores = static_cast<int>(table.integer("cores", 1, kMostCores));
  if (host.cores < host.sockets && table.where("cores").file != kAssignments)
    table.problem("cores", fmt::format("of all {} sockets together, got {}: at least one each", host.sockets, host.cores));
  host.clock = table.quantity_if<Hertz>("clock", kCpuClock);
  host.memory_capacity = table.quantity_if<Bytes>("memory_capacity");
  host.dispatch_scale = table.number_or("dispatch_scale", 1.0, kPositive);
  if (table.has("single_thread")) host.single_thread = table.number("single_thread", kThread);
  host.source = table.text("source");
  host.memory_bandwidth = table.quantity_if<BytesPerSecond>("dram_bandwidth");
  host.memory_bandwidth_source = table.text_or("dram_bandwidth_source", host.source);
  host.single_thread_source = table.text_or("single_thread_source", host.source);
  host.price = table.quantity_if<Usd>("price");
  host.power = table.quantity_if<Watts>("power");
  host.price_date = table.text_or("price_date", "");
  host.price_source = table.text_or("price_source", host.source);
  host.power_source = table.text_or("power_source", host.source);
  return host;
}

Network read_network(TomlTable table, std::string id) {
  Network network;
  network.id = std::move(id);
  network.name = table.text("name");
  network.bandwidth = table.quantity<BytesPerSecond>("bandwidth");
  network.rdma = table.boolean_or("rdma", false);
  const UsualNetwork& usual = network.rdma ? kUsualRdma : kUsualSockets;
  const auto achieved = table.quantity_if<BytesPerSecond>("achieved");
  network.achieved = achieved.value_or(usual.share * network.bandwidth);
  const auto latency = table.quantity_if<Seconds>("latency", kNotNegative);
  network.latency = latency.value_or(usual.latency);
  if (network.achieved > network.bandwidth) table.problem("achieved", "more than the line rate that bandwidth states");
  network.transport = table.text_or("transport", network.rdma ? "rdma" : "sockets");
  read_tcp(table, network);
  network.source = table.text("source");
  network.achieved_source = table.text_or("achieved_source", achieved ? network.source : std::string(usual.source));
  network.latency_source = table.text_or("latency_source", latency ? network.source : std::string(usual.source));
  network.notes = table.text_or("notes", "");
  return network;
}

}  // namespace tbdsim
