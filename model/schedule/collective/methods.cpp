#include "model/schedule/collective/methods.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/switched_collective.hpp"

namespace tbdsim {
namespace {

std::size_t index(Protocol protocol) { return static_cast<std::size_t>(protocol); }

/// Bytes over each hop of the rings per byte of message, and times the ring is walked.
struct RingWork {
  double volume = 0, rounds = 0;
  bool chain = false;  ///< slices follow each other down the ring: nothing starts over
};
RingWork ring_work(CollectiveKind kind, double ranks) {
  return {sent_share(kind, ranks), facts(kind).rounds, !facts(kind).parts};
}

// Inside a node of several, an LL step takes longer: the planner's factor (NVIDIA/nccl:src/graph/tuning.cc).
constexpr double kLlStepBetweenNodes = 1.8;

/// Architectures with LL128, and what the planner thinks of their links.
std::optional<BytesPerSecond> planned_rate(const MethodSetting& s) {
  const NcclRelease& release = s.library.release;
  BytesPerSecond rate(0.0);
  if (s.nodes > 1) return std::nullopt;
  if (s.rings.fabric == NcclFabric::mesh && s.device.chip.nccl_tuning == NcclTuning::volta)
    rate = s.rings.rings * release.volta_link;
  if (s.rings.fabric == NcclFabric::nvswitch && s.device.chip.nccl_tuning == NcclTuning::ampere) rate = release.ampere_port;
  return rate > BytesPerSecond(0.0) ? std::optional(rate) : std::nullopt;
}

bool has_ll128(const MethodSetting& s) {
  const bool nvlink = s.rings.fabric == NcclFabric::mesh || s.rings.fabric == NcclFabric::nvswitch;
  return s.library.release.ll128 && nvlink && s.nodes == 1 && s.device.chip.ll128;
}

std::vector<LinkWeight> scaled(const std::vector<LinkWeight>& weights, double factor) {
  std::vector<LinkWeight> result = weights;
  for (LinkWeight& use : result) use.weight *= factor;
  return result;
}

CollectiveMethod ring_method(const MethodSetting& s, const RingWork& work, Protocol protocol,
                             std::optional<std::int32_t> network) {
  const NcclFabricCosts& fabric = costs(s.library, s.rings.fabric);
  const double p = s.ranks();
  const double between = s.nodes > 1 ? work.rounds * (s.nodes - 1.0) : 0.0;
  const double inside = work.rounds * (p - 1.0) - between;
  const double slower = s.nodes > 1 && protocol == Protocol::ll ? kLlStepBetweenNodes : 1.0;
  const Seconds hop = slower * fabric.hop[index(protocol)];
  const Seconds network_hop = protocol == Protocol::ll ? s.transport.hop_ll : s.transport.hop;
  CollectiveMethod method;
  method.protocol = protocol;
  method.start = s.base + inside * hop + between * network_hop;
  method.weights = scaled(s.rings.weights, work.volume);
  if (network) method.weights.push_back({*network, work.volume});
  method.steps = inside;
  if (s.local > 1) method.limit = s.rings.bandwidth / work.volume;
  if (const auto planned = planned_rate(s)) {
    const NcclRelease& release = s.library.release;
    // The planner counts the rings of its search as channels.
    BytesPerSecond rate = *planned;
    if (protocol == Protocol::ll) rate = release.ll_share * rate;
    if (protocol == Protocol::ll128) {
      const double channels = s.rings.fabric == NcclFabric::nvswitch ? fabric.channels / 2.0 : s.rings.rings;
      rate = std::min(release.ll128_share * rate, channels * release.ll128_channel);
    }
    method.planned = {release.base[index(protocol)] + work.rounds * (p - 1.0) * release.hop[index(protocol)], rate / work.volume};
  }
  return method;
}

const NcclSwitchReduction* switch_reduction(const MethodSetting& s) {
  if (!s.library.release.nvls || s.rings.fabric != NcclFabric::nvswitch || s.kind != CollectiveKind::all_reduce) return nullptr;
  for (const NcclSwitchReduction& reduction : s.library.reductions) {
    if (s.device.architecture.rfind(reduction.architecture, 0) == 0 && s.local >= reduction.fewest) return &reduction;
  }
  return nullptr;
}

/// Bytes on a node's NICs, one direction, per byte of message that trees carry: two nodes exchange halves, more pass on
/// what they get.
double tree_volume(int nodes) { return nodes == 2 ? 1.0 : 2.0; }

double tree_height(int nodes) { return std::ceil(std::log2(static_cast<double>(nodes))); }

}  // namespace

std::vector<CollectiveMethod> ring_methods(const MethodSetting& s, std::optional<std::int32_t> network) {
  const NcclFabricCosts& fabric = costs(s.library, s.rings.fabric);
  const RingWork work = ring_work(s.kind, s.ranks());
  std::vector<CollectiveMethod> methods;
  CollectiveMethod simple = ring_method(s, work, Protocol::simple, network);
  const bool nvlink = s.rings.fabric == NcclFabric::mesh || s.rings.fabric == NcclFabric::nvswitch;
  if (!work.chain && nvlink) {  // over PCIe a loop's start hides behind the bytes of the one before
    simple.loop = s.ranks() * std::max(fabric.channels, 2 * s.rings.channels) * s.library.loop;
    simple.loop_start = simple.steps * fabric.hop[index(Protocol::simple)];
    simple.drain_last = fabric.drain_last;
    simple.drain_before = fabric.drain_before;
  }
  if (s.rings.relayed) simple.limit *= fabric.relay_efficiency;
  methods.push_back(std::move(simple));
  if (has_ll128(s)) {
    CollectiveMethod method = ring_method(s, work, Protocol::ll128, network);
    method.efficiency = fabric.ll128_efficiency;
    const double per_step = method.steps > 0.0 ? s.ranks() / method.steps : 0.0;
    method.serial = (work.chain ? 1.0 : per_step) * fabric.ll128_serial;
    method.floor = method.steps * fabric.ll128_floor;
    methods.push_back(std::move(method));
  }
  CollectiveMethod ll = ring_method(s, work, Protocol::ll, network);
  ll.efficiency = fabric.ll_efficiency;
  methods.push_back(std::move(ll));
  return methods;
}

CollectiveMethod pairwise_method(const MethodSetting& s, std::optional<std::int32_t> network) {
  CollectiveMethod method;
  method.algorithm = CollectiveAlgorithm::pairwise;
  const double p = s.ranks();
  const Seconds hop = network ? s.transport.hop : costs(s.library, s.rings.fabric).hop[index(Protocol::simple)];
  const bool all = s.kind == CollectiveKind::all_to_all;
  method.start = s.base + hop + (all ? (p - 2.0) * s.library.pairwise_hop : Seconds(0.0));
  method.weights = scaled(s.rings.weights, all ? 1.0 / p : 1.0);
  // Of a node's ranks all send to those elsewhere, or the last one alone to the next node.
  if (network) method.weights.push_back({*network, all ? s.local * (s.nodes - 1.0) * s.local / p : 1.0});
  return method;
}

std::vector<CollectiveMethod> tree_methods(const MethodSetting& s, std::int32_t network) {
  std::vector<CollectiveMethod> methods;
  if (!s.library.release.tree || s.kind != CollectiveKind::all_reduce) return methods;
  for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
    const bool ll = protocol == Protocol::ll;
    CollectiveMethod method;
    method.algorithm = CollectiveAlgorithm::tree;
    method.protocol = protocol;
    const Seconds way = 2.0 * ((s.local - 1.0) * (ll ? s.library.ll_tree_hop : s.library.tree_hop) +
                               tree_height(s.nodes) * (ll ? s.transport.hop_ll : s.transport.hop));
    method.start = s.base + way;
    method.weights = scaled(s.rings.weights, 1.0 / s.library.tree_share);
    method.weights.push_back({network, tree_volume(s.nodes)});
    if (s.local > 1) method.limit = s.library.tree_share * s.rings.bandwidth;
    if (ll) method.efficiency = s.library.ll_tree_share;
    if (!ll && s.transport.pipelined) method.depth = way;
    methods.push_back(std::move(method));
  }
  return methods;
}

std::vector<CollectiveMethod> switched_methods(const MethodSetting& s) {
  const NcclSwitched* const costs = switched_costs(s.library, s.device.architecture);
  if (costs == nullptr || s.nodes > 1 || s.rings.fabric != NcclFabric::nvswitch || s.port_links == 0) return {};
  const SwitchedGroup group{s.local, s.port, static_cast<double>(s.port_links), s.device.calibration.own.collective_pace,
                            s.launched};
  std::vector<CollectiveMethod> methods;
  for (SwitchedMethod& way : switched_methods(*costs, s.library.release, group, s.kind)) {
    CollectiveMethod method;
    method.algorithm = way.algorithm;
    method.protocol = way.protocol;
    method.start = way.call.start;
    // `rings` holds what each port carries per byte that a rank sends, of pairs: per byte of a part.
    double volume = sent_share(s.kind, s.ranks());
    if (s.kind == CollectiveKind::all_to_all) volume = 1.0 / s.ranks();
    if (way.algorithm == CollectiveAlgorithm::nvls) volume = 1.0 + 1.0 / switch_owners(s.local);
    method.weights = scaled(s.rings.weights, volume);
    if (way.planned) method.planned = {way.planned->start, way.planned->rate};
    method.paced = way.call;
    methods.push_back(std::move(method));
  }
  return methods;
}

std::vector<CollectiveMethod> switch_methods(const MethodSetting& s, std::optional<std::int32_t> network) {
  const NcclSwitchReduction* reduction = switch_reduction(s);
  if (reduction == nullptr || s.port <= BytesPerSecond(0.0)) return {};
  CollectiveMethod method;
  method.algorithm = network ? CollectiveAlgorithm::nvls_tree : CollectiveAlgorithm::nvls;
  // Every port carries the message once and each rank's part of the result once more.
  const double volume = 1.0 + 1.0 / s.local;
  const Seconds way = reduction->start + (network ? 2.0 * tree_height(s.nodes) * s.transport.hop : Seconds(0.0));
  method.start = s.base + way;
  method.weights = scaled(s.rings.weights, volume);
  method.limit = reduction->efficiency * s.port / volume;
  if (network) {
    method.weights.push_back({*network, tree_volume(s.nodes)});
    if (s.transport.pipelined) method.depth = way;
  }
  return {method};
}

}  // namespace tbdsim
