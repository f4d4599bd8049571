// Rings of a DGX-1 as flows over its links, and what cannot be joined.
#include "model/schedule/collective/collective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const System& dgx1() {
  static const System kSystem = load_system({TBDSIM_SOURCE_DIR}, "dgx1").value();
  return kSystem;
}

/// The library as the catalogue has it; an empty release is the default.
const NcclLibrary& nccl(const std::string& release = "") {
  static std::map<std::string, NcclLibrary> cache;
  const auto found = cache.find(release);
  if (found != cache.end()) return found->second;
  return cache.emplace(release, load_nccl(TBDSIM_SOURCE_DIR, release).value()).first->second;
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
  name_architecture(system.device, "Volta");
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
      CHECK(link.name != "network");
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
  const auto five = plan_collective(dgx1(), {first(5), 1, {}}, CollectiveKind::all_reduce, nccl()).value();
  CHECK(bus_bandwidth(five) >= 1.0 * rate * (1 - 1e-9));
  CHECK(bus_bandwidth(five) <= 4.0 * rate * (1 + 1e-9));
}

TEST_CASE("NCCL 1 has one ring in the order of the devices: NVLink in one half of a DGX-1, the host where the halves meet") {
  const auto plan = [](int gpus, const std::string& release) {
    return plan_collective(dgx1(), {first(gpus), 1, {}}, CollectiveKind::all_reduce, nccl(release)).value();
  };
  const double link = dgx1().topology.links.front().sm_copy.base();
  for (const int gpus : {2, 4}) CHECK_THAT(bus_bandwidth(plan(gpus, "1.3.5")), WithinRel(link, 0.02));
  CHECK_THAT(bus_bandwidth(plan(4, "2.4")), WithinRel(4.0 * link, 0.02));
  CHECK(bus_bandwidth(plan(8, "1.3.5")) < 0.5 * link);
  CHECK(plan(8, "1.3.5").description.find("in part over the host") != std::string::npos);
}

TEST_CASE("a call's latency grows by the same for each further rank") {
  const auto started = [](int p) {
    const auto plan = plan_collective(dgx1(), {first(p), 1, {}}, CollectiveKind::all_reduce, nccl("2.4")).value();
    return collective_call(plan, Bytes(0.0)).time.base();
  };
  const double step = started(3) - started(2);
  CHECK(step > 0.0);
  for (const int p : {3, 6, 7}) CHECK_THAT(started(p + 1) - started(p), WithinRel(step, 1e-9));
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
      if (link.name != "network") continue;
      ++between;
      CHECK_THAT(use.weight, WithinRel(2.0 * (p - 1) / p, 1e-12));
      CHECK_THAT(link.capacity.base(), WithinRel(dgx1().nics * dgx1().network->achieved.base(), 1e-12));
    }
    CHECK(between == 1);
    CHECK(start(e) > start(joined(dgx1(), first(8))));
  }
  // Adapters of another rate take the same slots; a machine has one port for Ethernet.
  Network other = *dgx1().network;
  other.id = "another";
  CHECK(node_ports(dgx1(), other) == dgx1().nics);
  other.transport = "sockets";
  CHECK(node_ports(dgx1(), other) == 1);
  // Generations of one maker's adapters share the slots of a node.
  System elastic = dgx1();
  elastic.network->transport = "efa";
  other.transport = "efa-1";
  CHECK(node_ports(elastic, other) == elastic.nics);
  // One GPU on each of two nodes: nothing but the network.
  const CollectivePlan two = joined(dgx1(), {0}, 2);
  REQUIRE(two.links.size() == 1);
  CHECK(two.ranks == 2);
  CHECK_THAT(collective_call(two, Bytes(1e9)).weights.front().weight, WithinRel(1.0, 1e-12));
}

TEST_CASE("what a network's messages take beyond its transport's is added to every step between nodes") {
  Network network = dgx1().network.value();
  const auto steps = [&](Seconds latency, CollectiveKind kind) {
    network.latency = latency;
    return start(plan_collective(dgx1(), {first(8), 2, network}, kind, nccl()).value());
  };
  const Seconds usual(0.6e-6), more(50e-6);
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    CHECK(steps(usual, kind) == steps(dgx1().network->latency, kind));
    CHECK(steps(Seconds(0.0), kind) == steps(usual, kind));
    CHECK(steps(usual + more, kind) > steps(usual, kind));
  }
  // An all-gather on two nodes crosses once.
  CHECK_THAT((steps(usual + more, CollectiveKind::all_gather) - steps(usual, CollectiveKind::all_gather)).base(),
             WithinRel(more.base(), 1e-9));
}

TEST_CASE("no network of the catalogue takes longer than its transport's steps tell") {
  const Catalogue catalogue{TBDSIM_SOURCE_DIR};
  for (const std::string& id : catalogue_ids(catalogue, "networks")) {
    const Network network = load_network(catalogue, id).value();
    INFO(id);
    const auto& all = nccl().transports;
    const auto transport =
        std::find_if(all.begin(), all.end(), [&](const NcclTransport& each) { return each.name == network.transport; });
    REQUIRE(transport != all.end());
    CHECK(network.latency <= transport->latency);
  }
}

TEST_CASE("a transport that nobody knows, to the letter") {
  Network network = dgx1().network.value();
  network.transport = "foo";
  const auto plan = plan_collective(dgx1(), {first(8), 2, network}, CollectiveKind::all_reduce, nccl());
  REQUIRE_FALSE(plan);
  CHECK(to_text(plan.error()) == "network infiniband-edr: no transport \"foo\"; there are rdma, efa-1, efa, tcpx, sockets\n");
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

TEST_CASE("of two networks the one with the shorter step and the higher rate never takes longer, whatever its transport") {
  const auto network = [](const std::string& id) { return load_network({TBDSIM_SOURCE_DIR}, id).value(); };
  const System machine = load_system({TBDSIM_SOURCE_DIR}, "dgx-a100-80gb").value();
  for (const auto& [slow, fast] : {std::pair{"ethernet-400g", "infiniband-ndr"}, std::pair{"ethernet-100g", "infiniband-edr"},
                                   std::pair{"ethernet-25g", "ethernet-25g-roce"}, std::pair{"efa-400g", "infiniband-xdr"}}) {
    for (const int nodes : {2, 4, 16}) {
      const auto time = [&, n = nodes](const char* id, Bytes message) {
        const auto plan = plan_collective(machine, {first(8), n, network(id)}, CollectiveKind::all_reduce, nccl()).value();
        return collective_call(plan, message).least;
      };
      for (double bytes = 1024; bytes < 1e10; bytes *= 2.0) {
        INFO(slow << " against " << fast << ", " << nodes << " nodes, " << bytes << " bytes");
        CHECK(time(fast, Bytes(bytes)) <= time(slow, Bytes(bytes)));
      }
    }
  }
}

TEST_CASE("sizes from which rings go from LL128 to Simple on a DGX-1, and back to back with the size before") {
  // Where the published sweep of 2 to 8 GPUs of a V100 cube mesh jumps, in steps of 1 MiB (VIA-Research/vTrain).
  const std::map<int, int> first_simple{{4, 5}, {6, 4}, {7, 9}, {8, 14}};
  for (const auto& [gpus, mib] : first_simple) {
    INFO(gpus << " GPUs");
    const auto plan = plan_collective(dgx1(), {first(gpus), 1, {}}, CollectiveKind::all_reduce, nccl("2.12")).value();
    CHECK(collective_call(plan, Bytes((mib - 1) * 1048576.0)).protocol == Protocol::ll128);
    CHECK(collective_call(plan, Bytes(mib * 1048576.0)).protocol == Protocol::simple);
    CHECK(collective_call(plan, Bytes(1048576.0 - 1.0)).protocol != Protocol::simple);
  }
}

TEST_CASE("what a release can do") {
  const auto plan = [](const char* release, int gpus, int nodes) {
    return plan_collective(dgx1(), {first(gpus), nodes, dgx1().network}, CollectiveKind::all_reduce, nccl(release)).value();
  };
  const auto has = [](const CollectivePlan& p, CollectiveAlgorithm algorithm) {
    return std::any_of(p.methods.begin(), p.methods.end(), [&](const CollectiveMethod& m) { return m.algorithm == algorithm; });
  };
  const auto speaks = [](const CollectivePlan& p, Protocol protocol) {
    return std::any_of(p.methods.begin(), p.methods.end(), [&](const CollectiveMethod& m) { return m.protocol == protocol; });
  };
  CHECK_FALSE(has(plan("2.1.15", 8, 4), CollectiveAlgorithm::tree));
  CHECK(has(plan("2.4", 8, 4), CollectiveAlgorithm::tree));
  CHECK_FALSE(speaks(plan("2.4", 8, 1), Protocol::ll128));
  CHECK(speaks(plan("2.5", 8, 1), Protocol::ll128));
  // GPU 4 touches only GPU 0 among 0..4: a ring needs a relay, which came with 2.8.
  CHECK(plan("2.7", 5, 1).description.find("host ring") != std::string::npos);
  CHECK(plan("2.8", 5, 1).description.find("2 NVLink rings") != std::string::npos);
}

TEST_CASE("a relayed step loads both links of its way") {
  // Two rings of five GPUs and two relayed steps each: 7 hops.
  const auto plan = plan_collective(dgx1(), {first(5), 1, {}}, CollectiveKind::all_reduce, nccl()).value();
  double all = 0.0;
  for (const LinkWeight& use : collective_call(plan, Bytes(1e9)).weights) all += use.weight;
  CHECK(all > 1.6 * 5);
  CHECK_THAT(std::fmod(all / 1.6 * 2.0, 1.0), WithinAbs(0.0, 1e-9));
}

TEST_CASE("bytes over the hops of every kind of collective, per byte of message") {
  struct Row {
    CollectiveKind kind;
    double hops;  // p hops x bytes over each, or p(p-1) pairs of 1/p
  };
  for (const Row& row :
       {Row{CollectiveKind::all_reduce, 8 * 1.75}, Row{CollectiveKind::reduce_scatter, 8 * 0.875},
        Row{CollectiveKind::all_gather, 8 * 0.875}, Row{CollectiveKind::reduce, 8.0}, Row{CollectiveKind::broadcast, 8.0}}) {
    INFO(name(row.kind));
    const auto plan = plan_collective(dgx1(), {first(8), 1, {}}, row.kind, nccl()).value();
    double all = 0.0;
    for (const LinkWeight& use : collective_call(plan, Bytes(1e9)).weights) all += use.weight;
    CHECK_THAT(all, WithinRel(row.hops, 1e-9));
  }
  // 32 pairs are linked, the other 24 go over one relay each: 80 links of an eighth.
  const auto pairs = plan_collective(dgx1(), {first(8), 1, {}}, CollectiveKind::all_to_all, nccl()).value();
  double all = 0.0;
  for (const LinkWeight& use : collective_call(pairs, Bytes(1e9)).weights) all += use.weight;
  CHECK_THAT(all, WithinRel(80.0 / 8.0, 1e-9));
}

TEST_CASE("kinds are found by their names, whatever the case and dashes") {
  for (const std::string& kind : collective_names()) CHECK(name(*parse_collective(kind)) == kind);
  CHECK(parse_collective("AllReduce") == CollectiveKind::all_reduce);
  CHECK(parse_collective("all_gather") == CollectiveKind::all_gather);
  CHECK_FALSE(parse_collective("all"));
}

TEST_CASE("no message costs the latency, and a call never undercuts its links") {
  for (const int gpus : {2, 4, 5, 8}) {
    for (const int nodes : {1, 2, 16}) {
      const auto plan = plan_collective(dgx1(), {first(gpus), nodes, dgx1().network}, CollectiveKind::all_reduce, nccl()).value();
      CHECK(collective_call(plan, Bytes(0.0)).time == collective_call(plan, Bytes(0.0)).latency);
      CHECK(collective_call(plan, Bytes(0.0)).time > Seconds(0.0));
      for (const double bytes : {1.0, 1e3, 1e6, 1e8, 1e10}) {
        const CollectiveCall call = collective_call(plan, Bytes(bytes));
        CHECK(call.time > call.latency);
        for (const LinkWeight& use : call.weights) {
          const double least = use.weight * bytes / plan.links[static_cast<std::size_t>(use.link)].capacity.base();
          CHECK((call.time - call.latency).base() >= least * (1 - 1e-12));
        }
      }
    }
  }
}

TEST_CASE("a flat ring over thousands of ranks costs in proportion to nodes") {
  const auto time = [](int nodes) {
    const auto plan = plan_collective(dgx1(), {first(8), nodes, dgx1().network}, CollectiveKind::all_reduce, nccl("2.1")).value();
    return (collective_call(plan, Bytes(0.0)).time - costs(nccl(), NcclFabric::mesh).base).base();
  };
  CHECK_THAT(time(512) / time(64), WithinRel(8.0, 0.02));
  // Trees grow with the logarithm.
  const auto tree = [](int nodes) {
    const auto plan = plan_collective(dgx1(), {first(8), nodes, dgx1().network}, CollectiveKind::all_reduce, nccl()).value();
    return (collective_call(plan, Bytes(0.0)).time - costs(nccl(), NcclFabric::mesh).base).base();
  };
  CHECK(tree(512) < 3.0 * tree(8));
}

TEST_CASE("a way of launching that does not exist, to the letter") {
  const auto plan = plan_collective(dgx1(), {first(2), 1, {}, "threads"}, CollectiveKind::all_reduce, nccl());
  REQUIRE_FALSE(plan);
  CHECK(to_text(plan.error()) == "no way of launching called \"threads\"; there are one-process, process-per-gpu, framework\n");
}

TEST_CASE(
    "calls over PCIe take from kernels beside them, the less the longer they wait for a network, those over NVLink nothing but "
    "multiprocessors") {
  for (const auto& [id, fabric] : {std::pair{"rtx-2080-ti", NcclFabric::host}, {"a6000", NcclFabric::peer}}) {
    const System boards = load_system({TBDSIM_SOURCE_DIR}, id, 4).value();
    Network network = *dgx1().network;
    const auto beside = [&](int nodes, double bandwidth) {
      network.achieved = BytesPerSecond(bandwidth);
      return plan_collective(boards, {first(4), nodes, network}, CollectiveKind::all_reduce, nccl()).value().beside;
    };
    CHECK(beside(1, 1e9) == costs(nccl(), fabric).beside);
    CHECK(beside(1, 1e9) > 0.5);
    CHECK(beside(2, 100e9) == beside(1, 1e9));
    CHECK(beside(2, 1e9) < 0.3 * beside(1, 1e9));
    CHECK(beside(2, 1e9) > 1.9 * beside(2, 0.5e9));
  }
  CHECK(plan_collective(dgx1(), {first(8), 1, {}}, CollectiveKind::all_reduce, nccl()).value().beside == 0.0);
}

TEST_CASE("an all-reduce of one NVL72 rack never takes longer than one over two racks") {
  const System racks = load_system({TBDSIM_SOURCE_DIR}, "gb200-nvl72").value();
  const auto time = [&](int gpus, int nodes, Bytes message) {
    const auto plan = plan_collective(racks, {first(gpus), nodes, racks.network}, CollectiveKind::all_reduce, nccl("2.27"));
    return collective_call(plan.value(), message).time;
  };
  for (const int gpus : {8, 32, 36, 64, 72})
    for (double bytes = 65536; bytes <= 1.1e9; bytes *= 4) {
      INFO(gpus << " GPUs, " << bytes << " bytes");
      CHECK(time(gpus, 1, Bytes(bytes)) <= time(gpus, 2, Bytes(bytes)));
      if (gpus >= 32) CHECK(time(gpus, 1, Bytes(bytes)) <= time(gpus / 2, 2, Bytes(bytes)));
    }
}
