// The worked example "Ring all-reduce" of model/cost/README.md, by hand, alone and through the engine.
#include "model/engine/timeline.hpp"
#include "model/schedule/collective/collective.hpp"
#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;

namespace {

struct Use {
  std::string link;
  BytesPerSecond capacity;
  double weight = 0;
};

/// A plan of one method that puts `uses` on as many links.
CollectivePlan plan_of(int ranks, Seconds start, const std::vector<Use>& uses) {
  CollectivePlan plan;
  plan.ranks = ranks;
  plan.methods.emplace_back();
  plan.methods.front().start = start;
  for (const Use& use : uses) {
    plan.methods.front().weights.push_back({static_cast<std::int32_t>(plan.links.size()), use.weight});
    plan.links.push_back({use.link, use.capacity});
  }
  return plan;
}

Seconds alone(const CollectivePlan& plan, Bytes message) { return collective_call(plan, message).time; }

}  // namespace

TEST_CASE("worked example: all-reduce of 100 MB over two rings of four GPUs") {
  std::vector<Use> uses;
  for (int link = 0; link < 8; ++link) uses.push_back({fmt::format("link{}", link), 20.0_GBps, 2.0 * 3 / 4 / 2});
  const CollectivePlan exchange = plan_of(4, 13.1_us + 2 * 3 * 2.86_us, uses);
  const Bytes message(100e6);
  // Reduce-scatter and all-gather: each ring carries half the message, 2 x 3 steps of a quarter of it over each hop.
  const double expected = 13.1e-6 + 6 * 2.86e-6 + 6 * (50e6 / 4) / 20e9;
  CHECK_THAT(alone(exchange, message).base(), WithinRel(expected, 1e-12));
  CHECK(documented(fmt::format("= {:.2f} us", alone(exchange, message).base() * 1e6)));
  CHECK(documented(fmt::format("1.5 S / t = {:.3f} GB/s", 1.5 * 100e6 / expected / 1e9)));

  engine::TaskGraph graph;
  std::vector<engine::LinkUse> route;
  for (const Use& use : uses) route.push_back({graph.add_link(use.link, use.capacity), use.weight});
  const CollectiveCall call = collective_call(exchange, message);
  graph.add_flow({-1}, message, SimTime::from(call.latency), route, {}, -1, call.rate);
  const engine::Timeline timeline = engine::simulate(graph);
  CHECK(timeline.makespan.picoseconds == 3'780'260'000);
  for (const double bytes : timeline.link_bytes) CHECK_THAT(bytes, WithinRel(75e6, 1e-12));
}

TEST_CASE("the slowest link alone decides, no message costs the latency") {
  const CollectivePlan exchange =
      plan_of(2, 10.0_us, {{"fast", 40.0_GBps, 1.0}, {"slow", 10.0_GBps, 1.0}, {"shared", 15.0_GBps, 2.0}});
  // Per byte: 1/40, 1/10 and 2/15 ns; the shared link's two rings make it the slowest.
  CHECK_THAT(alone(exchange, Bytes(15e6)).base(), WithinRel(10e-6 + 2e-3, 1e-12));
  CHECK(alone(exchange, Bytes(0.0)) == 10.0_us);
}

TEST_CASE("eight GPUs of a DGX-1: 14 S bytes over all hops, a sixth of 2 x 7/8 S over each lane") {
  const System dgx1 = load_system({TBDSIM_SOURCE_DIR}, "dgx1").value();
  const CollectivePlan e = plan_collective(dgx1, {{0, 1, 2, 3, 4, 5, 6, 7}, 1, {}}, CollectiveKind::all_reduce, {}).value();
  double all = 0.0;
  for (const LinkWeight& use : collective_call(e, Bytes(6e9)).weights) all += use.weight;
  CHECK_THAT(all, WithinRel(2.0 * 7, 1e-12));  // 8 hops x 2 x 7/8
  const double lane = dgx1.topology.links.front().sm_copy.base();
  CHECK_THAT((alone(e, Bytes(6e9)) - alone(e, Bytes(0.0))).base(), WithinRel(6e9 * 1.75 / (6 * lane), 1e-12));
}
