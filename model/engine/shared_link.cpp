#include "model/engine/shared_link.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace tbdsim::engine {

namespace {
constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kRising = -1.0;  // in place of a rate
}  // namespace

SharedLinks::SharedLinks(std::span<const BytesPerSecond> capacities, std::span<const FlowRoute> flows)
    : flows_(flows.size()), links_(capacities.size()) {
  for (std::size_t l = 0; l < capacities.size(); ++l) links_[l].capacity = capacities[l].base();
  std::size_t uses = 0;
  for (const FlowRoute& flow : flows) uses += flow.uses.size();
  uses_.reserve(uses);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    double largest = 0.0;
    for (const LinkUse& use : flows[f].uses) largest = std::max(largest, use.weight);
    Flow& flow = flows_[f];
    flow.per_share = largest > 0.0 ? 1.0 / largest : 1.0;
    const double max_rate = flows[f].max_rate.base();
    flow.share_limit = max_rate > 0.0 ? max_rate / flow.per_share : kUnlimited;
    flow.first_use = static_cast<std::int32_t>(uses_.size());
    flow.uses = static_cast<std::int32_t>(flows[f].uses.size());
    for (const LinkUse& use : flows[f].uses) {
      assert(use.weight > 0.0 && links_[at(use.link.value)].capacity > 0.0);
      uses_.push_back({static_cast<std::int32_t>(f), use.link.value, use.weight, use.weight * flow.per_share});
      ++links_[at(use.link.value)].rising;  // for now: how many members the link may ever have
    }
  }
  std::int32_t first = 0;
  for (Link& link : links_) {
    link.first_member = first;
    first += link.rising;
    link.rising = 0;
  }
  members_.resize(uses_.size());
  position_.resize(uses_.size());
  started_.reserve(flows.size());
  touched_links_.reserve(uses_.size());
  component_flows_.reserve(flows.size());
  component_links_.reserve(links_.size());
  component_end_.reserve(flows.size());
  candidates_.reserve(links_.size());
  limited_.reserve(flows.size());
}

std::span<const SharedLinks::Use> SharedLinks::uses_of(const Flow& flow) const {
  return std::span(uses_).subspan(at(flow.first_use), at(flow.uses));
}

std::span<const std::int32_t> SharedLinks::component(std::size_t i) const {
  const std::size_t first = i == 0 ? 0 : component_end_[i - 1];
  return std::span(component_flows_).subspan(first, component_end_[i] - first);
}

void SharedLinks::start(std::int32_t flow) {
  Flow& starting = flows_[at(flow)];
  assert(!starting.moving);
  starting.moving = true;
  started_.push_back(flow);
  for (std::int32_t u = starting.first_use; u < starting.first_use + starting.uses; ++u) {
    Link& link = links_[at(uses_[at(u)].link)];
    position_[at(u)] = link.first_member + link.moving++;
    members_[at(position_[at(u)])] = u;
  }
}

void SharedLinks::stop(std::int32_t flow) {
  Flow& stopping = flows_[at(flow)];
  assert(stopping.moving);
  stopping.moving = false;
  stopping.rate = 0.0;
  for (std::int32_t u = stopping.first_use; u < stopping.first_use + stopping.uses; ++u) {
    Link& link = links_[at(uses_[at(u)].link)];
    const std::int32_t last = members_[at(link.first_member + --link.moving)];
    members_[at(position_[at(u)])] = last;
    position_[at(last)] = position_[at(u)];
    touched_links_.push_back(uses_[at(u)].link);
  }
}

void SharedLinks::collect_flow(std::int32_t flow) {
  if (flows_[at(flow)].seen) return;
  flows_[at(flow)].seen = true;
  component_flows_.push_back(flow);
}

void SharedLinks::collect_from_link(std::int32_t link) {
  Link& visited = links_[at(link)];
  if (visited.seen) return;
  visited.seen = true;
  component_links_.push_back(link);
  for (std::int32_t m = visited.first_member; m < visited.first_member + visited.moving; ++m) {
    collect_flow(uses_[at(members_[at(m)])].flow);
  }
}

/// Completes and fills the component whose first flows are those collected from `first_flow` on.
void SharedLinks::close_component(std::size_t first_flow) {
  for (std::size_t i = first_flow; i < component_flows_.size(); ++i) {
    for (const Use& use : uses_of(flows_[at(component_flows_[i])])) collect_from_link(use.link);
  }
  if (component_flows_.size() == first_flow) return;
  component_end_.push_back(component_flows_.size());
  fill(std::span(component_flows_).subspan(first_flow));
}

void SharedLinks::update() {
  component_flows_.clear();
  component_links_.clear();
  component_end_.clear();
  for (const std::int32_t flow : started_) {
    const std::size_t first = component_flows_.size();
    if (flows_[at(flow)].moving) collect_flow(flow);
    close_component(first);
  }
  for (const std::int32_t link : touched_links_) {
    const std::size_t first = component_flows_.size();
    collect_from_link(link);
    close_component(first);
  }
  for (const std::int32_t flow : component_flows_) flows_[at(flow)].seen = false;
  for (const std::int32_t link : component_links_) links_[at(link)].seen = false;
  started_.clear();
  touched_links_.clear();
}

/// Sets every flow rising from zero and every link of the component empty.
void SharedLinks::prepare(std::span<const std::int32_t> flows) {
  candidates_.clear();
  limited_.clear();
  for (const std::int32_t f : flows) {
    flows_[at(f)].rate = kRising;
    if (flows_[at(f)].share_limit < kUnlimited) limited_.push_back(f);
    for (const Use& use : uses_of(flows_[at(f)])) {
      Link& link = links_[at(use.link)];
      if (link.rising++ == 0) {
        candidates_.push_back({0.0, use.link});
        link.left = link.capacity;
        link.load = 0.0;
      }
      link.load += use.load;
    }
  }
  for (Candidate& candidate : candidates_) {
    const Link& link = links_[at(candidate.link)];
    candidate.share = link.capacity / link.load;
  }
  std::ranges::make_heap(candidates_, [](const Candidate& a, const Candidate& b) { return b.before(a); });
  std::ranges::sort(limited_, [this](std::int32_t a, std::int32_t b) {
    return std::pair(flows_[at(a)].share_limit, a) < std::pair(flows_[at(b)].share_limit, b);
  });
}

/// Restores the heap order after the first candidate changed to a later one. Ties go by index, so that the order is
/// the same on every machine.
void SharedLinks::sink_first() {
  const std::size_t size = candidates_.size();
  const Candidate sinking = candidates_.front();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && candidates_[child + 1].before(candidates_[child])) ++child;
    if (!candidates_[child].before(sinking)) break;
    candidates_[hole] = candidates_[child];
    hole = child;
  }
  candidates_[hole] = sinking;
}

/// The link that fills first if all flows still rising go on, with the share at which it does; at least `share`.
/// A link's share only grows when flows stop rising, so a heap entry is a lower bound and is corrected when on top.
SharedLinks::Candidate SharedLinks::next_full_link(double share) {
  while (!candidates_.empty()) {
    const Candidate top = candidates_.front();
    const Link& link = links_[at(top.link)];
    // Never below the present share: what lies below is rounding of links that fill at the same time.
    const double full_at = link.rising > 0 ? std::max(share, link.left / link.load) : kUnlimited;
    if (full_at <= std::max(share, top.share)) return {full_at, top.link};
    if (link.rising == 0) {
      candidates_.front() = candidates_.back();
      candidates_.pop_back();
      if (candidates_.empty()) break;
    } else {
      candidates_.front().share = full_at;
    }
    sink_first();
  }
  return {kUnlimited, -1};
}

void SharedLinks::settle(std::int32_t f, double share) {
  Flow& flow = flows_[at(f)];
  if (flow.rate != kRising) return;
  flow.rate = share * flow.per_share;
  for (const Use& use : uses_of(flow)) {
    Link& link = links_[at(use.link)];
    link.left -= share * use.load;
    link.load -= use.load;
    --link.rising;
  }
}

void SharedLinks::fill(std::span<const std::int32_t> flows) {
  prepare(flows);
  double share = 0.0;
  std::size_t next_limited = 0;
  for (;;) {
    const Candidate full = next_full_link(share);
    const double limit = next_limited < limited_.size() ? flows_[at(limited_[next_limited])].share_limit : kUnlimited;
    share = std::min(full.share, limit);
    if (share == kUnlimited) break;
    if (limit <= full.share) {
      settle(limited_[next_limited++], share);
      continue;
    }
    const Link& link = links_[at(full.link)];
    for (std::int32_t m = link.first_member; m < link.first_member + link.moving; ++m) {
      settle(uses_[at(members_[at(m)])].flow, share);
    }
  }
  for (const std::int32_t f : flows) settle(f, kUnlimited);
}

}  // namespace tbdsim::engine
