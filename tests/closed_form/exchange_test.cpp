// The worked example "Ring all-reduce" of model/cost/README.md, by hand, alone and through the engine.
#include "model/engine/timeline.hpp"
#include "model/schedule/exchange/ring_all_reduce.hpp"
#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;

TEST_CASE("worked example: all-reduce of 100 MB over two rings of four GPUs") {
  RingExchange exchange;
  exchange.ranks = 4;
  exchange.latency = 13.1_us + 2 * 3 * 2.86_us;
  for (int link = 0; link < 8; ++link) exchange.uses.push_back({fmt::format("link{}", link), 20.0_GBps, 2.0 * 3 / 4 / 2, false});
  const Bytes message(100e6);
  // Reduce-scatter and all-gather: each ring carries half the message, 2 x 3 steps of a quarter of it over each hop.
  const double expected = 13.1e-6 + 6 * 2.86e-6 + 6 * (50e6 / 4) / 20e9;
  CHECK_THAT(alone(exchange, message).base(), WithinRel(expected, 1e-12));
  CHECK(documented(fmt::format("= {:.2f} us", alone(exchange, message).base() * 1e6)));
  CHECK(documented(fmt::format("1.5 S / t = {:.3f} GB/s", 1.5 * 100e6 / expected / 1e9)));

  engine::TaskGraph graph;
  std::vector<engine::LinkUse> route;
  for (const auto& use : exchange.uses) route.push_back({graph.add_link(use.link, use.capacity), use.weight});
  graph.add_flow({-1}, message, SimTime::from(exchange.latency), route, {});
  const engine::Timeline timeline = engine::simulate(graph);
  CHECK(timeline.makespan.picoseconds == 3'780'260'000);
  for (const double bytes : timeline.link_bytes) CHECK_THAT(bytes, WithinRel(75e6, 1e-12));
}

TEST_CASE("the slowest link alone decides; no message costs the latency") {
  RingExchange exchange;
  exchange.ranks = 2;
  exchange.latency = 10.0_us;
  exchange.uses = {{"fast", 40.0_GBps, 1.0, false}, {"slow", 10.0_GBps, 1.0, true}, {"shared", 15.0_GBps, 2.0, false}};
  // Per byte: 1/40, 1/10 and 2/15 ns; the shared link's two rings make it the slowest.
  CHECK_THAT(alone(exchange, Bytes(15e6)).base(), WithinRel(10e-6 + 2e-3, 1e-12));
  CHECK(alone(exchange, Bytes(0.0)) == 10.0_us);
}

TEST_CASE("eight GPUs of a DGX-1: 14 S bytes over all hops, a sixth of 2 x 7/8 S over each lane") {
  const System dgx1 = load_system({TBDSIM_SOURCE_DIR}, "dgx1").value();
  const RingExchange e = ring_exchange(dgx1, {0, 1, 2, 3, 4, 5, 6, 7}, 1, {}).value();
  double all = 0.0;
  for (const auto& use : e.uses) all += use.weight;
  CHECK_THAT(all, WithinRel(2.0 * 7, 1e-12));  // 8 hops x 2 x 7/8
  const double lane = dgx1.topology.links.front().sm_copy.base();
  CHECK_THAT((alone(e, Bytes(6e9)) - e.latency).base(), WithinRel(6e9 * 1.75 / (6 * lane), 1e-12));
}
