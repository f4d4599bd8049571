#include "model/cost/switched_collective.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {
namespace {

// NVIDIA/nccl:src/graph/tuning.cc, src/enqueue.cc: slices and bytes that one more channel is opened for.
constexpr Bytes kSlice(4096.0), kLlChannel(512.0 * 8.0), kLl128Channel(640.0 * 8.0), kSimpleChannel(512.0 * 64.0);
constexpr Bytes kLoop(2.0 * 1048576.0);  ///< of one channel and part: half of 8 slices of 512 KiB are in flight
constexpr Bytes kMiB(1048576.0);
constexpr int kReductionChannels = 16, kPairChannels = 32;  ///< blocks of NVLS and of transfers between pairs
constexpr double kSplitFrom = 25e9, kSlowChannel = 50e9;    ///< B/s, src/graph/search.cc
constexpr int kFewChannels = 4;

std::size_t index(Protocol protocol) { return static_cast<std::size_t>(protocol); }

/// Geometry of a ring: K steps, each over the whole message or one of `parts`.
struct RingWork {
  double steps = 0, parts = 1;
};
RingWork ring_work(CollectiveKind kind, double ranks) {
  const CollectiveFacts& fact = facts(kind);
  return {fact.rounds * (ranks - 1.0), fact.parts ? ranks : 1.0};
}

double drain_of(const NcclSwitched& costs, CollectiveKind kind) {
  if (kind == CollectiveKind::all_gather || kind == CollectiveKind::broadcast) return costs.drain[1];
  return kind == CollectiveKind::all_reduce ? costs.drain[0] : costs.drain[2];
}

class Builder {
 public:
  Builder(const NcclSwitched& costs, const NcclRelease& release, const SwitchedGroup& group, CollectiveKind kind)
      : costs_(costs),
        release_(release),
        group_(group),
        kind_(kind),
        channels_(planned_channels(costs, group.links)),
        work_(ring_work(kind, group.ranks)),
        share_(sent_share(kind, group.ranks)) {}

  SwitchedMethod ring(Protocol protocol) const {
    SwitchedMethod method;
    method.protocol = protocol;
    PacedCall& call = method.call;
    call.start = start(costs_.start[index(protocol)] + work_.steps * costs_.step[index(protocol)]);
    call.most_channels = 2 * channels_.count;
    const BytesPerSecond rate = costs_.efficiency * group_.port;
    if (protocol == Protocol::ll) {
      // Bytes of the last slices arrive after all steps: K + lag parts in all.
      const double lag = facts(kind_).parts ? costs_.ll_lag / work_.parts : 0.0;
      call.rate = costs_.ll_share * rate / (share_ + lag);
      call.slice_steps = work_.steps;
      call.parts = work_.parts;
      call.slice = kSlice;
      call.slice_rate = costs_.ll_slice / group_.pace;
      call.channel_message = kLlChannel * work_.parts;
    } else if (protocol == Protocol::ll128) {
      call.rate = costs_.ll128_share * rate / share_;
      call.channel_message = kLl128Channel;
    } else {
      call.rate = rate / share_;
      call.drain = drain_of(costs_, kind_) * kMiB * call.most_channels / rate;
      call.loop = call.most_channels * work_.parts * kLoop;
      call.one_drain = !facts(kind_).parts;
      call.channel_message = kSimpleChannel;
    }
    method.planned = planned_ring(protocol);
    return method;
  }

  std::optional<SwitchedMethod> in_switch() const {
    if (!costs_.reduction || kind_ != CollectiveKind::all_reduce || group_.ranks < costs_.reduction->fewest || !release_.nvls)
      return std::nullopt;
    const NcclSwitchedReduction& reduction = *costs_.reduction;
    const double n = group_.ranks;
    // Every owner has a channel, and the plan takes the fastest that the ports hold, of n / (n - 1) times their links.
    const double owners = switch_owners(group_.ranks);
    const BytesPerSecond most = (n / owners) * group_.links * costs_.planned_link / (n - 1.0);
    BytesPerSecond speed(0.0);
    for (const BytesPerSecond s : costs_.speeds) {
      if (s <= most) speed = std::max(speed, s);
    }
    if (speed <= BytesPerSecond(0.0)) return std::nullopt;
    SwitchedMethod method;
    method.algorithm = CollectiveAlgorithm::nvls;
    method.call.start = start(reduction.start);
    // Every port carries the message once, and that of an owner its part of the result once more.
    method.call.rate = reduction.efficiency * group_.port / (1.0 + 1.0 / owners);
    method.call.ramp = reduction.ramp;
    method.call.ramp_full = reduction.ramp_full;
    method.call.most_channels = kReductionChannels;
    const BytesPerSecond bus = 2.0 * (owners - 1.0) * reduction.planned_share * speed;
    method.planned = {reduction.planned_start, bus / share_};
    return method;
  }

  std::vector<SwitchedMethod> pairs() const {
    const NcclSwitchedPairs& pairs = costs_.pairs;
    const bool all = kind_ == CollectiveKind::all_to_all;
    const double peers = all ? group_.ranks - 1.0 : 1.0;
    SwitchedMethod ll, simple;
    ll.algorithm = simple.algorithm = CollectiveAlgorithm::pairwise;
    ll.protocol = Protocol::ll;
    ll.call.start = start(all ? pairs.start + (peers - 1.0) * pairs.peer : Seconds(0.0));
    ll.call.most_channels = simple.call.most_channels = kPairChannels;
    const double parts = all ? static_cast<double>(group_.ranks) : 1.0;
    ll.call.rate = parts * pairs.ll_rate / group_.pace;
    const BytesPerSecond rate = (all ? pairs.efficiency : costs_.efficiency) * group_.port;
    simple.call.start = ll.call.start + group_.pace * pairs.simple_start;
    simple.call.rate = parts * rate / (peers + (all ? pairs.own_part : 0.0));
    if (all) {
      simple.call.ramp = pairs.drain * kMiB * kPairChannels / rate;
      simple.call.ramp_full = parts * pairs.drain_full;
    }
    return {simple, ll};
  }

 private:
  Seconds start(Seconds beyond) const { return group_.start.value_or(group_.pace * costs_.base) + group_.pace * beyond; }

  SwitchedMethod::Planned planned_ring(Protocol protocol) const {
    BytesPerSecond rate = channels_.count * channels_.rate;
    if (protocol == Protocol::ll) rate = std::min(costs_.planned_ll, 0.5 * rate);
    if (protocol == Protocol::ll128) rate = std::min(release_.ll128_share * rate, channels_.count * costs_.planned_ll128);
    // A message that passes all ranks whole counts as one step, since every rank has the same channels behind a switch. Source:
    // src/graph/tuning.cc (sameChannels), releases 2.18 to 2.30.
    const double steps = facts(kind_).parts ? work_.steps : 1.0;
    return {release_.base[index(protocol)] + steps * release_.hop[index(protocol)], rate / share_};
  }

  const NcclSwitched& costs_;
  const NcclRelease& release_;
  const SwitchedGroup& group_;
  CollectiveKind kind_;
  PlannedChannels channels_;
  RingWork work_;
  double share_;  ///< bytes over every hop per byte of message
};

}  // namespace

int switch_owners(int ranks) { return std::min(ranks, 32); }

PlannedChannels planned_channels(const NcclSwitched& costs, double links) {
  const BytesPerSecond port = links * costs.planned_link;
  const auto count = [&](BytesPerSecond speed) { return std::max(1.0, std::floor(port / speed)); };
  const auto& speeds = costs.speeds;
  const auto beaten = [&](BytesPerSecond speed) {
    return std::any_of(speeds.begin(), speeds.end(), [&](BytesPerSecond other) {
      return other < speed && other > 0.5 * speed && count(other) * other > count(speed) * speed;
    });
  };
  const auto first =
      std::find_if(speeds.begin(), speeds.end(), [&](BytesPerSecond speed) { return speed <= port && !beaten(speed); });
  if (first == speeds.end()) return {1, port};
  const int channels = static_cast<int>(count(*first));
  const double speed = first->base();
  const bool kept = costs.keeps_slow_channels && speed < kSlowChannel && channels > kFewChannels;
  if (speed < kSplitFrom || kept) return {channels, *first};
  return {2 * channels, 0.5 * *first};
}

std::vector<SwitchedMethod> switched_methods(const NcclSwitched& costs, const NcclRelease& release, const SwitchedGroup& group,
                                             CollectiveKind kind) {
  const Builder build(costs, release, group, kind);
  if (facts(kind).pairs) return build.pairs();
  std::vector<SwitchedMethod> methods;
  methods.push_back(build.ring(Protocol::simple));
  if (costs.planned_ll128 > BytesPerSecond(0.0)) methods.push_back(build.ring(Protocol::ll128));
  methods.push_back(build.ring(Protocol::ll));
  if (auto method = build.in_switch()) methods.push_back(*method);
  return methods;
}

const SwitchedMethod& chosen(const std::vector<SwitchedMethod>& ways, Bytes message) {
  const bool planned = std::all_of(ways.begin(), ways.end(), [](const SwitchedMethod& way) { return way.planned.has_value(); });
  return *std::min_element(ways.begin(), ways.end(), [&](const SwitchedMethod& a, const SwitchedMethod& b) {
    if (!planned) return paced_time(a.call, message) < paced_time(b.call, message);
    return a.planned->start + message / a.planned->rate < b.planned->start + message / b.planned->rate;
  });
}

}  // namespace tbdsim
