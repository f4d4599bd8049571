#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/engine/task_graph.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim::engine {

/// What a flow asks of the links. `max_rate` 0: limited by its links only.
struct FlowRoute {
  std::span<const LinkUse> uses;
  BytesPerSecond max_rate;
};

/// Rates of flows that share links max-min fairly.
///
/// A flow with rate r puts w r on each link it uses with weight w. Its share is what it puts on the link that it
/// uses most, max(w) r, because that is what the wire arbitrates, packet by packet. Shares are max-min fair: no
/// share can grow except at the cost of a smaller or equal one. Found by progressive filling: all shares rise
/// together; where a link is full, or a flow reaches its own limit, the flows concerned stop.
/// Ignores: loss, window dynamics, packet sizes and any delay in reaching the fair rates.
/// Source: Bertsekas & Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2 (max-min fair flow control).
///
/// Only flows connected to a change by shared links are looked at again: cost O(U log L) for U uses of L links
/// in that component. Allocates in the constructor only.
class SharedLinks {
 public:
  /// Flows are known from the start and named by their index; none is moving yet. Expects capacities and weights > 0.
  SharedLinks(std::span<const BytesPerSecond> capacities, std::span<const FlowRoute> flows);

  void start(std::int32_t flow);  ///< expects a flow that is not moving
  void stop(std::int32_t flow);   ///< expects a moving flow
  /// Whether flows started or stopped since the last `update`.
  [[nodiscard]] bool changed() const { return !started_.empty() || !touched_links_.empty(); }
  /// Brings the rates of all flows up to date.
  void update();
  /// Groups of flows whose rates the last `update` computed, each connected through shared links and complete.
  [[nodiscard]] std::size_t components() const { return component_end_.size(); }
  [[nodiscard]] std::span<const std::int32_t> component(std::size_t i) const;

  /// As of the last `update`; 0 for a flow that is not moving. Infinite if nothing limits the flow.
  [[nodiscard]] BytesPerSecond rate(std::int32_t flow) const { return BytesPerSecond(flows_[at(flow)].rate); }
  [[nodiscard]] std::int32_t flows_on(LinkId link) const { return links_[at(link.value)].moving; }

 private:
  struct Flow {
    double rate = 0.0;         // negative while its component is being filled and it has not stopped
    double per_share = 1.0;    // rate for a share of 1 B/s: 1 / largest weight
    double share_limit = 0.0;  // share at max_rate
    std::int32_t first_use = 0, uses = 0;
    bool moving = false, seen = false;
  };
  struct Use {
    std::int32_t flow = 0, link = 0;
    double weight = 0.0;
    double load = 0.0;  // bytes on the link for each byte of share
  };
  struct Link {
    double capacity = 0.0;
    double left = 0.0;  // capacity not given to flows that have stopped rising
    double load = 0.0;  // total load of the flows that still rise
    std::int32_t rising = 0;
    std::int32_t first_member = 0, moving = 0;
    bool seen = false;
  };
  struct Candidate {
    double share;
    std::int32_t link;
    [[nodiscard]] bool before(const Candidate& other) const {
      return share < other.share || (share == other.share && link < other.link);
    }
  };
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::span<const Use> uses_of(const Flow& flow) const;

  void collect_from_link(std::int32_t link);
  void collect_flow(std::int32_t flow);
  void close_component(std::size_t first_flow);
  void fill(std::span<const std::int32_t> flows);
  void prepare(std::span<const std::int32_t> flows);
  void sink_first();
  [[nodiscard]] Candidate next_full_link(double share);
  void settle(std::int32_t flow, double share);

  std::vector<Flow> flows_;
  std::vector<Use> uses_;
  std::vector<Link> links_;
  std::vector<std::int32_t> members_;   // per link, from first_member on: the uses of its moving flows
  std::vector<std::int32_t> position_;  // per use: where it stands in members_
  std::vector<std::int32_t> started_, touched_links_;
  std::vector<std::int32_t> component_flows_, component_links_;
  std::vector<std::size_t> component_end_;
  std::vector<Candidate> candidates_;  // heap of links, by the share at which they would be full
  std::vector<std::int32_t> limited_;  // flows of the component with a max_rate, by share_limit
};

}  // namespace tbdsim::engine
