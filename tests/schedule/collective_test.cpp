// Rings of a DGX-1 as flows over its links, and what cannot be joined.
#include "model/schedule/collective/collective.hpp"

#include <cmath>
#include <map>
#include <numeric>

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const System& dgx1() {
  static const System kSystem = load_system({TBDSIM_SOURCE_DIR}, "dgx1").value();
  return kSystem;
}

std::vector<int> first(int count) {
  std::vector<int> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

CollectivePlan joined(const System& system, const std::vector<int>& devices, int nodes = 1) {
  return plan_collective(system, {devices, nodes, system.network}, CollectiveKind::all_reduce, {}).value();
}

std::string refusal(const System& system, const std::vector<int>& devices, int nodes, const std::optional<Network>& network) {
  const auto made = plan_collective(system, {devices, nodes, network}, CollectiveKind::all_reduce, {});
  return made ? "" : to_text(made.error());
}

Seconds start(const CollectivePlan& e) { return collective_call(e, Bytes(0.0)).time; }

/// Bytes over the bottleneck of a message, per second.
double bus_bandwidth(const CollectivePlan& e) {
  const double p = e.ranks;
  const Bytes message(1e12);
  return (2.0 * (p - 1) / p) * (message / (collective_call(e, message).time - start(e))).base();
}

/// Two GPUs and, if wanted, the link between them.
System pair_of_gpus(bool linked) {
  System system;
  system.id = "pair";
  system.gpu_count = 2;
  system.device.architecture = "Volta";
  system.topology.vertices = {{"gpu0", VertexKind::gpu}, {"gpu1", VertexKind::gpu}};
  if (linked) {
    LinkBundle bundle;
    bundle.name = "gpu0-gpu1";
    bundle.a = {0};
    bundle.b = {1};
    bundle.count = 3;
    bundle.bandwidth = bundle.achieved = BytesPerSecond(25e9);
    bundle.sm_copy = BytesPerSecond(20e9);
    system.topology.links.push_back(bundle);
  }
  return system;
}

}  // namespace

TEST_CASE("one rank exchanges nothing") {
  const CollectivePlan one = joined(dgx1(), {3});
  CHECK(one.ranks == 1);
  CHECK(one.links.empty());
  CHECK(start(one) == Seconds(0.0));
  CHECK(collective_call(one, Bytes(1e9)).time == Seconds(0.0));
}

TEST_CASE("rings of 2 to 8 GPUs: 2(p-1)/p bytes over each hop, no link carries more rings than it has lanes") {
  // Rings that an 8-GPU cube mesh of V100 shows for 2..8 GPUs in the published sweep.
  const std::map<int, double> rings{{2, 1}, {3, 2}, {4, 4}, {6, 2}, {7, 4}, {8, 6}};
  for (const auto& [p, count] : rings) {
    INFO(p << " GPUs");
    const CollectivePlan e = joined(dgx1(), first(p));
    CHECK(e.ranks == p);
    double sum = 0.0, lane = 0.0;
    for (const LinkWeight& use : collective_call(e, Bytes(1e9)).weights) {
      const CollectiveLink& link = e.links[static_cast<std::size_t>(use.link)];
      CHECK(use.weight > 0.0);
      CHECK_FALSE(link.between_nodes);
      sum += use.weight;
      lane = std::max(lane, use.weight / link.capacity.base());
    }
    // Rings x p hops x 2(p-1)/p / rings.
    CHECK_THAT(sum, WithinRel(2.0 * (p - 1), 1e-9));
    // Each ring runs at one lane's rate, so all together at `count` of them.
    const double rate = dgx1().topology.links.front().sm_copy.base();
    CHECK_THAT(bus_bandwidth(e), WithinRel(count * rate, 1e-9));
    CHECK_THAT(lane, WithinRel(2.0 * (p - 1) / p / (count * rate), 1e-9));
  }
}

TEST_CASE("five GPUs of a DGX-1 have no six rings either: between two and four lanes") {
  const double rate = dgx1().topology.links.front().sm_copy.base();
  const CollectivePlan five = joined(dgx1(), first(5));
  CHECK(bus_bandwidth(five) >= 1.0 * rate * (1 - 1e-9));
  CHECK(bus_bandwidth(five) <= 4.0 * rate * (1 + 1e-9));
}

TEST_CASE("a call's latency grows by the same for each further rank") {
  const double first_step = (start(joined(dgx1(), first(3))) - start(joined(dgx1(), first(2)))).base();
  CHECK(first_step > 0.0);
  for (int p = 3; p < 8; ++p) {
    const double step = (start(joined(dgx1(), first(p + 1))) - start(joined(dgx1(), first(p)))).base();
    CHECK_THAT(step, WithinRel(first_step, 1e-9));
  }
}

TEST_CASE("a bundle of three lanes between two GPUs carries three rings each way") {
  const CollectivePlan e = joined(pair_of_gpus(true), {0, 1});
  REQUIRE(e.links.size() == 2);
  CHECK(e.links[0].name == "gpu0-gpu1 <");
  CHECK(e.links[1].name == "gpu0-gpu1 >");
  for (const LinkWeight& use : collective_call(e, Bytes(1e9)).weights) {
    CHECK_THAT(use.weight, WithinRel(1.0, 1e-12));
    CHECK_THAT(e.links[static_cast<std::size_t>(use.link)].capacity.base(), WithinRel(60e9, 1e-12));
  }
  CHECK(e.description == "3 NVLink rings at 20 GB/s");
}

TEST_CASE("what cannot be joined, to the letter") {
  CHECK(refusal(pair_of_gpus(false), {0, 1}, 1, {}) == "pair: GPUs 0,1 cannot reach each other\n");
  CHECK(refusal(pair_of_gpus(true), {0, 1}, 2, {}) == "pair: 2 nodes need a network; name one with --network\n");
  CHECK(refusal(pair_of_gpus(true), {0}, 2, {}) == "pair: 2 nodes need a network; name one with --network\n");
  CHECK(refusal(pair_of_gpus(false), {0}, 1, {}).empty());
}

TEST_CASE("between nodes the whole message crosses the network once per direction of the ring") {
  for (const int nodes : {2, 4}) {
    INFO(nodes << " nodes");
    const CollectivePlan e = joined(dgx1(), first(8), nodes);
    const double p = 8.0 * nodes;
    CHECK(e.ranks == 8 * nodes);
    int between = 0;
    for (const LinkWeight& use : collective_call(e, Bytes(1e9)).weights) {
      const CollectiveLink& link = e.links[static_cast<std::size_t>(use.link)];
      if (!link.between_nodes) continue;
      ++between;
      CHECK(link.name == "network");
      CHECK_THAT(use.weight, WithinRel(2.0 * (p - 1) / p, 1e-12));
      CHECK_THAT(link.capacity.base(), WithinRel(dgx1().nics * dgx1().network->achieved.base(), 1e-12));
    }
    CHECK(between == 1);
    CHECK(start(e) > start(joined(dgx1(), first(8))));
  }
  // One GPU on each of two nodes: nothing but the network.
  const CollectivePlan two = joined(dgx1(), {0}, 2);
  REQUIRE(two.links.size() == 1);
  CHECK(two.ranks == 2);
  CHECK_THAT(collective_call(two, Bytes(1e9)).weights.front().weight, WithinRel(1.0, 1e-12));
}

TEST_CASE("a slower network never shortens an exchange") {
  Network network = dgx1().network.value();
  Seconds before(0.0);
  for (const double rate : {12e9, 6e9, 1e9, 1e8}) {
    network.achieved = BytesPerSecond(rate);
    const CollectivePlan plan = plan_collective(dgx1(), {first(8), 2, network}, CollectiveKind::all_reduce, {}).value();
    const Seconds here = collective_call(plan, Bytes(100e6)).time;
    CHECK(here >= before);
    before = here;
  }
}
