// Tiers beyond a node: shares of links against a count of every rank, tapers, rails, and every message to the letter.
#include "model/hardware/fabric.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "model/hardware/hardware_file.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};
constexpr BytesPerSecond kPort(50e9);

/// Nodes of 8 GPUs with 8 ports; leaves of 4 nodes, pods of 16 with a taper of 2, a spine with another of 3.5.
Fabric three_tiers(bool rails = false) {
  return {8,
          {{"leaf", 4, 8, kPort, 8 * kPort, Seconds(1e-6), rails},
           {"pod", 16, 8, kPort, 8 * kPort / 2.0, Seconds(2e-6), false},
           {"spine", std::nullopt, 8, kPort, 8 * kPort / 7.0, Seconds(3e-6), false}}};
}

/// Copies that leave a unit of `ranks` ranks and the members of one inside it: the most of any unit.
struct Counted {
  int sharing = 0, members = 0;
};
Counted counted(const RankGroup& group, int ranks) {
  std::map<int, int> crossing;  // by unit
  Counted most;
  for (int c = 0; c < group.copies; ++c) {
    std::map<int, int> inside;  // members by unit
    for (int r = 0; r < group.size; ++r)
      ++inside[(c / group.stride * group.stride * group.size + c % group.stride + r * group.stride) / ranks];
    if (inside.size() < 2) continue;
    for (const auto& [unit, members] : inside) {
      most.sharing = std::max(most.sharing, ++crossing[unit]);
      most.members = std::max(most.members, members);
    }
  }
  return most;
}

std::string message(const std::string& fabric, const std::string& head = "network = \"infiniband-ndr\"\nnics = 8\n") {
  const auto parsed = parse_system(
      kCatalogue,
      "schema = 1\nname = \"box\"\ndevice = \"h100-sxm5-80gb\"\ngpus = 8\n" + head + "source = \"assumed: a test\"\n" + fabric,
      "my.toml");
  std::string places;  // without the excerpts
  if (parsed) return places;
  for (const Error& error : parsed.error()) places += to_text({error}).substr(0, to_text({error}).find('\n') + 1);
  return places;
}

}  // namespace

TEST_CASE("A group lies in the smallest unit that its blocks divide") {
  const Fabric fabric = three_tiers();
  CHECK(reach(fabric, {1, 8, 64}).tier == 0);
  CHECK(reach(fabric, {4, 2, 64}).tier == 0);
  CHECK(reach(fabric, {1, 16, 32}).tier == 1);
  CHECK(reach(fabric, {8, 4, 64}).tier == 1);
  CHECK(reach(fabric, {8, 16, 8}).tier == 2);
  CHECK(reach(fabric, {1, 256, 1}).tier == 3);
  CHECK(reach(fabric, {128, 2, 128}).tier == 3);
  CHECK(reach(fabric, {1, 1, 256}).tier == 0);
  CHECK(reach(fabric, {1, 3, 2}).tier == 0);  // ranks 0 to 5
  CHECK(reach(fabric, {1, 3, 3}).tier == 1);  // the third copy holds ranks 6 to 8
  CHECK(reach(fabric, {8, 16, 8}).latency == Seconds(2e-6));
}

TEST_CASE("Copies share the links of a unit, and a member sends through the port beside it") {
  const Fabric fabric = three_tiers();
  // One member in each node, eight copies: each has a port. Alone it has no more.
  CHECK(reach(fabric, {8, 4, 8}).ring() == kPort);
  CHECK(reach(fabric, {8, 4, 1}).ring() == kPort);
  // All eight GPUs of a node in one group: its rings use all ports.
  CHECK(reach(fabric, {1, 32, 1}).ring() == 8 * kPort);
  // Two members in each node, four copies.
  CHECK(reach(fabric, {4, 8, 4}).ring() == 2 * kPort);
  // Four nodes of a leaf have 16 ports' worth into the pod: eight copies that each cross once get two ports, their own is less.
  CHECK(reach(fabric, {8, 16, 8}).ring() == kPort);
  // All 32 ranks of a leaf send to ranks of other leaves: half a port each.
  CHECK(reach(fabric, {32, 4, 32}).ring() == kPort / 2.0);
  CHECK(reach(fabric, {32, 4, 32}).pair(fabric) == kPort / 2.0);
  // Through the spine a seventh of a port.
  CHECK_THAT((reach(fabric, {128, 2, 128}).pair(fabric) / kPort), Catch::Matchers::WithinRel(1.0 / 7.0, 1e-12));
  // All to all over 16 nodes: of 127 peers 120 are in other nodes and share 8 ports among 8 members; 96 in other leaves, at half.
  const GroupReach all = reach(fabric, {1, 128, 1});
  CHECK_THAT((all.exchange(128) / kPort), Catch::Matchers::WithinRel(0.5 * 127.0 / 96.0, 1e-12));
}

TEST_CASE("Fewer ports than GPUs are shared, more belong to one GPU") {
  const Fabric few{8, {{"leaf", std::nullopt, 4, kPort, 4 * kPort, {}, false}}};
  CHECK(reach(few, {8, 4, 8}).ring() == kPort / 2.0);
  CHECK(reach(few, {8, 4, 1}).ring() == kPort);
  const Fabric many{8, {{"leaf", std::nullopt, 32, kPort, 32 * kPort, {}, false}}};
  CHECK(reach(many, {8, 4, 1}).ring() == 4 * kPort);
}

TEST_CASE("Groups that change rails take the next tier") {
  const Fabric rails = three_tiers(true), plain = three_tiers();
  for (const RankGroup& same : {RankGroup{8, 4, 8}, RankGroup{1, 32, 1}, RankGroup{2, 16, 2}, RankGroup{16, 2, 16}})
    CHECK(reach(rails, same).tier == reach(plain, same).tier);
  // Ranks 0, 12: indices 0 and 4 of their nodes. Each of the eight copies of a node gets an eighth of its taper.
  const RankGroup other{12, 2, 12};
  CHECK(reach(plain, other).tier == 1);
  CHECK(reach(rails, other).tier == 2);
  CHECK(reach(rails, other).crossings[1].unit_bandwidth == 4 * kPort);
}

TEST_CASE("No unit's links carry more than they can, over random meshes") {
  constexpr unsigned kSeed = 23;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  const auto pick = [&](std::initializer_list<int> values) {
    return values.begin()[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
  };
  int aligned = 0;
  for (int i = 0; i < 10'000; ++i) {
    const int node = pick({1, 2, 4, 8, 6}), leaf = pick({2, 3, 4}), pod = leaf * pick({2, 4});
    const Fabric fabric{node,
                        {{"leaf", leaf, node, kPort, node * kPort, {}, false},
                         {"pod", pod, node, kPort, node * kPort / 2.0, {}, false},
                         {"spine", std::nullopt, node, kPort, node * kPort / 4.0, {}, false}}};
    RankGroup group{pick({1, 2, 3, 4, 5, 8, 16}), pick({2, 3, 4, 8}), 1};
    group.copies = std::max(1, group.stride * pick({1, 2, 3}) - pick({0, 0, 1}));
    const GroupReach found = reach(fabric, group);
    for (const int ranks : {node, node * leaf, node * pod}) {
      const Counted all = counted(group, ranks);
      const std::size_t level = ranks == node ? 0 : ranks == node * leaf ? 1 : 2;
      const auto crossing =
          std::find_if(found.crossings.begin(), found.crossings.end(), [&](const FabricCrossing& c) { return c.level == level; });
      CAPTURE(node, leaf, pod, group.stride, group.size, group.copies, ranks);
      if (crossing == found.crossings.end()) {
        REQUIRE(all.sharing == 0);
        continue;
      }
      REQUIRE(all.sharing <= crossing->sharing);
      REQUIRE(all.members <= crossing->members);
      REQUIRE(all.sharing * crossing->rate <= crossing->unit_bandwidth * (1.0 + 1e-12));
      const bool even = ranks % group.stride == 0 || group.stride % ranks == 0;
      if (group.stride * group.size % ranks != 0 || !even) continue;
      ++aligned;
      REQUIRE(all.sharing == crossing->sharing);
      REQUIRE(all.members == crossing->members);
    }
  }
  CHECK(aligned > 2'000);
}

TEST_CASE("A system without tiers has the ports of its nodes and nothing else") {
  auto dgx1 = load_system(kCatalogue, "dgx1");
  REQUIRE(dgx1);
  CHECK(dgx1->tiers.empty());
  const Fabric fabric = fabric_of(*dgx1, *dgx1->network);
  REQUIRE(fabric.levels.size() == 1);
  CHECK(fabric.levels[0].node_share == node_bandwidth(*dgx1, *dgx1->network));
  CHECK(fabric.node_ranks == 8);
  CHECK_FALSE(most_nodes(*dgx1));
}

TEST_CASE("Tiers of a file: the smallest first, tapers multiply, ports of their own stand apart") {
  const auto system =
      parse_system(kCatalogue,
                   "schema = 1\nname = \"box\"\ndevice = \"h100-sxm5-80gb\"\ngpus = 4\nnics = 4\n"
                   "network = \"infiniband-ndr\"\nsource = \"assumed: a test\"\n"
                   "[fabric.spine]\noversubscription = 3\nlatency = \"2 us\"\nsource = \"assumed: a test\"\n"
                   "[fabric.rack]\nnodes = 18\nports = 4\nbandwidth = \"720 GB/s\"\nsource = \"assumed: a test\"\n"
                   "[fabric.leaf]\nnodes = 144\noversubscription = 2\nrails = true\nsource = \"assumed: a test\"\n",
                   "my.toml");
  REQUIRE(system);
  const Fabric fabric = fabric_of(*system, *system->network);
  REQUIRE(fabric.levels.size() == 3);
  const BytesPerSecond adapter = system->network->achieved;
  CHECK(fabric.levels[0].name == "rack");
  CHECK(fabric.levels[0].node_share == BytesPerSecond(4 * 720e9));
  CHECK(fabric.levels[1].name == "leaf");
  CHECK(fabric.levels[1].node_share == 4 * adapter / 2.0);
  CHECK(fabric.levels[1].rails);
  CHECK(fabric.levels[2].node_share == 4 * adapter / 6.0);
  CHECK(fabric.levels[2].latency == system->network->latency + Seconds(2e-6));
  CHECK_FALSE(fabric.levels[2].nodes);
}

TEST_CASE("What is wrong with a tier is told with its place") {
  const std::string source = "source = \"assumed: a test\"\n";
  CHECK(message("[fabric.leaf]\nnodes = 4\n" + source) == "");
  CHECK(message("[fabric.leaf]\nnodes = 1\n" + source) ==
        "my.toml:9:9: fabric.leaf.nodes: expected a whole number from 2 to 1000000, got 1\n");
  CHECK(message("[fabric.leaf]\nnodes = 4\noversubscription = 0.5\n" + source) ==
        "my.toml:10:20: fabric.leaf.oversubscription: expected a number of at least 1, got 0.5\n");
  CHECK(message("[fabric.leaf]\nnodes = 4\n" + source + "[fabric.pod]\nnodes = 6\n" + source) ==
        "my.toml:11:1: fabric.pod: 6 nodes are not several units of leaf, of 4 nodes each\n");
  CHECK(message("[fabric.leaf]\n" + source + "[fabric.pod]\n" + source) ==
        "my.toml:10:1: fabric.pod: one tier alone may leave out `nodes`, and leaf does too\n");
  CHECK(message("[fabric.leaf]\nports = 4\n" + source) ==
        "my.toml:9:9: fabric.leaf.ports: a tier states both, `ports` of a node and their `bandwidth`, or neither\n");
  CHECK(message("[fabric.leaf]\nnodes = 4\n" + source, "") ==
        "my.toml:6:1: fabric.leaf: needs ports of its own (`ports`, `bandwidth`), because the system names no network\n");
  CHECK(message("[fabric.leaf]\nnode = 4\n") ==
        "my.toml:8:1: fabric.leaf.source: missing key, expected a string\n"
        "my.toml:9:1: fabric.leaf.node: unknown key, did you mean \"nodes\"?\n");
}

TEST_CASE("Machines of the catalogue: a taper of a cluster holds back groups that cross its pods") {
  const auto meta = load_system(kCatalogue, "grand-teton-h100");
  REQUIRE(meta);
  const Fabric fabric = fabric_of(*meta, *meta->network);
  const BytesPerSecond port = meta->network->achieved;
  // Eight GPUs of a node in tensor groups, 384 nodes of a pod in data groups: a port each.
  CHECK(reach(fabric, {8, 384, 8}).pair(fabric) == port);
  // Pipelines of which each stage is a pod: a seventh.
  CHECK_THAT((reach(fabric, {3072, 8, 3072}).pair(fabric) / port), Catch::Matchers::WithinRel(1.0 / 7.0, 1e-12));
  for (const char* name : {"dgx-h100", "dgx-h200", "dgx-b200", "dgx-b300", "gb200-nvl72"}) {
    const auto system = load_system(kCatalogue, name);
    REQUIRE(system);
    const Fabric even = fabric_of(*system, *system->network);
    const int gpus = system->gpu_count;
    CHECK(even.levels.size() == 2);
    CHECK(reach(even, {gpus, 4096, gpus}).ring() == system->network->achieved);
  }
}
