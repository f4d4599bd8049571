// Rings of a DGX-1 as flows over its links, and what cannot be joined.
#include "model/schedule/exchange/ring_all_reduce.hpp"

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

RingExchange joined(const System& system, const std::vector<int>& devices, int nodes = 1) {
  return ring_exchange(system, devices, nodes, system.network).value();
}

std::string refusal(const System& system, const std::vector<int>& devices, int nodes, const std::optional<Network>& network) {
  const auto made = ring_exchange(system, devices, nodes, network);
  return made ? "" : to_text(made.error());
}

/// Bytes over the bottleneck of a message, per second.
double bus_bandwidth(const RingExchange& e) {
  const double p = e.ranks;
  const Bytes message(1e12);
  return (2.0 * (p - 1) / p) * (message / (alone(e, message) - e.latency)).base();
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
  const RingExchange one = joined(dgx1(), {3});
  CHECK(one.ranks == 1);
  CHECK(one.uses.empty());
  CHECK(one.latency == Seconds(0.0));
  CHECK(alone(one, Bytes(1e9)) == Seconds(0.0));
}

TEST_CASE("rings of 2 to 8 GPUs: 2(p-1)/p bytes over each hop, no link carries more rings than it has lanes") {
  // Rings that an 8-GPU cube mesh of V100 shows for 2..8 GPUs in the published sweep.
  const std::map<int, double> rings{{2, 1}, {3, 2}, {4, 4}, {6, 2}, {7, 4}, {8, 6}};
  for (const auto& [p, count] : rings) {
    INFO(p << " GPUs");
    const RingExchange e = joined(dgx1(), first(p));
    CHECK(e.ranks == p);
    double sum = 0.0, lane = 0.0;
    for (const auto& use : e.uses) {
      CHECK(use.weight > 0.0);
      CHECK_FALSE(use.between_nodes);
      sum += use.weight;
      lane = std::max(lane, use.weight / use.capacity.base());
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
  const RingExchange five = joined(dgx1(), first(5));
  CHECK(bus_bandwidth(five) >= 1.0 * rate * (1 - 1e-9));
  CHECK(bus_bandwidth(five) <= 4.0 * rate * (1 + 1e-9));
}

TEST_CASE("a call's latency grows by the same for each further rank") {
  const double first_step = (joined(dgx1(), first(3)).latency - joined(dgx1(), first(2)).latency).base();
  CHECK(first_step > 0.0);
  for (int p = 3; p < 8; ++p) {
    const double step = (joined(dgx1(), first(p + 1)).latency - joined(dgx1(), first(p)).latency).base();
    CHECK_THAT(step, WithinRel(first_step, 1e-9));
  }
}

TEST_CASE("a bundle of three lanes between two GPUs carries three rings each way") {
  const RingExchange e = joined(pair_of_gpus(true), {0, 1});
  REQUIRE(e.uses.size() == 2);
  CHECK(e.uses[0].link == "gpu0-gpu1 <");
  CHECK(e.uses[1].link == "gpu0-gpu1 >");
  for (const auto& use : e.uses) {
    CHECK_THAT(use.weight, WithinRel(1.0, 1e-12));
    CHECK_THAT(use.capacity.base(), WithinRel(60e9, 1e-12));
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
    const RingExchange e = joined(dgx1(), first(8), nodes);
    const double p = 8.0 * nodes;
    CHECK(e.ranks == 8 * nodes);
    int between = 0;
    for (const auto& use : e.uses) {
      if (!use.between_nodes) continue;
      ++between;
      CHECK(use.link == "network");
      CHECK_THAT(use.weight, WithinRel(2.0 * (p - 1) / p, 1e-12));
      CHECK_THAT(use.capacity.base(), WithinRel(dgx1().nics * dgx1().network->achieved.base(), 1e-12));
    }
    CHECK(between == 1);
    CHECK(e.latency > joined(dgx1(), first(8)).latency);
  }
  // One GPU on each of two nodes: nothing but the network.
  const RingExchange two = joined(dgx1(), {0}, 2);
  REQUIRE(two.uses.size() == 1);
  CHECK(two.ranks == 2);
  CHECK_THAT(two.uses.front().weight, WithinRel(1.0, 1e-12));
}

TEST_CASE("a slower network never shortens an exchange") {
  Network network = dgx1().network.value();
  Seconds before(0.0);
  for (const double rate : {12e9, 6e9, 1e9, 1e8}) {
    network.achieved = BytesPerSecond(rate);
    const Seconds here = alone(ring_exchange(dgx1(), first(8), 2, network).value(), Bytes(100e6));
    CHECK(here >= before);
    before = here;
  }
}
