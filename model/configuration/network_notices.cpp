#include "model/configuration/network_notices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/hardware/cluster.hpp"
#include "model/schedule/exchange/node_traffic.hpp"

namespace tbdsim {
namespace {

constexpr std::string_view kOneNode = ": without effect, since the job runs on one node; use --nodes, such as --nodes 2";

constexpr std::string_view kNoEffect = ": without effect, ";

constexpr std::string_view kStood = " already";

constexpr std::string_view kOneCopy = ": there is one copy of the network, and nothing to shard over it";

}  // namespace

std::string one_copy_notice(int zero) { return fmt::format("--zero {}{}", zero, kOneCopy); }
bool is_one_copy_notice(const std::string& notice) { return notice.ends_with(kOneCopy); }

std::string one_node_notice(const std::string& what) { return what + std::string(kOneNode); }
bool is_one_node_notice(const std::string& notice) { return notice.ends_with(kOneNode); }

std::string stood_notice(const std::string& assignment, const std::string& value) {
  return fmt::format("{} {}: without effect, since it is {}{}", kAssignments, assignment, value, kStood);
}

bool is_no_effect_notice(const std::string& notice) {
  const bool stood = notice.ends_with(kStood);
  return is_one_copy_notice(notice) || (!stood && notice.find(kNoEffect) != std::string::npos);
}

std::string no_effect_reason(const std::string& notice) {
  const std::size_t at = notice.find(kNoEffect);
  return at == std::string::npos ? "" : notice.substr(at + kNoEffect.size());
}

std::optional<IdleOption> idle_option(const std::string& notice) {
  std::size_t end = notice.find(kNoEffect);
  if (is_one_copy_notice(notice)) end = notice.size() - kOneCopy.size();
  const std::size_t space = notice.find(' ');
  if (end == std::string::npos || space >= end) return std::nullopt;
  return IdleOption{notice.substr(0, space), notice.substr(space + 1, end - space - 1), notice.substr(end)};
}

std::string seed_notice(const PredictOptions& options, const Configuration& configuration) {
  const auto& pipeline = configuration.pipeline;
  const bool random = pipeline && pipeline->mode == InputMode::barrier && pipeline->spread > 0.0;
  if (random || options.seed == PredictOptions{}.seed) return "";
  return fmt::format("--seed {}: without effect, since nothing of this job is random", options.seed);
}

std::string network_notice(const PredictOptions& options, const Configuration& configuration) {
  if (options.network.empty() || !configuration.network || configuration.emulated) return "";
  if (configuration.nodes == 1) return options.input_hosts ? "" : one_node_notice("network " + options.network);
  const System& system = configuration.hardware();
  const int ports = node_ports(system, *configuration.network);
  const std::string own = system.network ? system.network->id : "not named";
  if (ports < system.nics)
    return fmt::format("{}: {} port of a node, whose own network, {}, has {}", configuration.network->id, ports, own,
                       system.nics);
  if (ports == 1 || own == configuration.network->id) return "";
  return fmt::format("{}: {} ports of a node, as its own network, {}, has; networks without RDMA are taken to have one",
                     configuration.network->id, ports, own);
}

void tell_unused_network(const Edits& edits, Configuration& configuration) {
  const bool pcie = configuration.emulated && configuration.network && configuration.network->id == kPcieNetwork;
  if (configuration.nodes > 1 || (configuration.emulated && !pcie) || configuration.input_hosts > 0) return;
  std::set<std::string_view> told;  // what follows from a value bears its text, too
  for (const Edit& edit : edits.changes) {
    const bool network = edit.key.starts_with("network.") || edit.key.starts_with("hw.network.");
    if (network && told.insert(edit.text).second)
      configuration.notices.push_back(
          pcie ? fmt::format("{} {}: without effect, since PCIe joins the worker and the server of one machine; name a network",
                             kAssignments, edit.text)
               : one_node_notice(fmt::format("{} {}", kAssignments, edit.text)));
  }
}

void tell_overlap(const Edits& edits, Configuration& configuration) {
  const ExchangeSettings& exchange = configuration.stack.exchange;
  const bool gathers = configuration.exchange == Exchange::allreduce && configuration.gpus > 1 && exchange.copies_all;
  for (const Edit& edit : edits.changes) {
    if (edit.key != "stack.exchange.overlaps_backward") continue;
    if (configuration.by_layers())
      configuration.notices.push_back(fmt::format(
          "{} {}: without effect, since a step that is simulated layer by layer goes by stack.parallel.overlaps_gradients",
          kAssignments, edit.text));
    else if (gathers && !exchange.overlaps)
      configuration.notices.push_back(fmt::format(
          "{} {}: after the backward pass one copy gathers all gradients, where the host issued two for each array; a "
          "step that waits for the host may be shorter so",
          kAssignments, edit.text));
  }
}

void tell_unused_rdma(const Edits& edits, Configuration& configuration) {
  if (configuration.nodes == 1 || !info(configuration.exchange).parameter_servers) return;
  const auto found = std::find_if(edits.changes.begin(), edits.changes.end(),
                                  [](const Edit& edit) { return edit.key.ends_with("network.rdma"); });
  if (found != edits.changes.end())
    configuration.notices.push_back(fmt::format("{} {}: without effect, since the servers of --exchange {} speak TCP",
                                                kAssignments, found->text, name(configuration.exchange)));
}

std::vector<std::string> unused_latency_notices(const Edits& edits) {
  std::vector<std::string> notices;
  for (const Edit& edit : edits.changes)
    if ((edit.key.starts_with("hw.link.") || edit.key.starts_with("hw.host.link.")) && edit.key.ends_with(".latency"))
      notices.push_back(
          fmt::format("{} {}: without effect, since it is the start of a copy; collectives go by the steps of hardware/nccl.toml",
                      kAssignments, edit.text));
  return notices;
}

void tell_unused_latency(const Edits& edits, Configuration& configuration) {
  const bool collectives = info(configuration.exchange).collective() || configuration.exchange == Exchange::nccl;
  if (configuration.gpus == 1 || !collectives) return;
  for (std::string& notice : unused_latency_notices(edits)) configuration.notices.push_back(std::move(notice));
}

void tell_unstated_host_memory(Configuration& configuration) {
  if (!configuration.offload.any() || configuration.hardware().host.memory_bandwidth) return;
  for (const std::string& set : configuration.set)
    if (set.starts_with("hw.host.dram_bandwidth?="))
      configuration.notices.push_back(
          fmt::format("{} {}: without effect, since no file states the rate of the host's memory", kAssignments, set));
}

}  // namespace tbdsim
