// Nodes joined by their NVSwitches against the node that they are made of.
#include "model/hardware/joined_nodes.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

System loaded(const char* name) {
  auto system = load_system(kCatalogue, name);
  REQUIRE(system);
  return std::move(*system);
}

std::vector<VertexId> all_gpus(const System& system) { return system.topology.gpus(); }

}  // namespace

TEST_CASE("GPUs of joined nodes reach each other as those of one node do") {
  const System node = loaded("dgx-h100");
  System joined = node;
  REQUIRE(join_nodes(joined, 2).empty());
  CHECK(joined.gpu_count == 16);
  CHECK(joined.nics == 16);
  CHECK(joined.topology.gpus().size() == 16);
  CHECK(joined.topology.links.size() == 2 * node.topology.links.size());
  const VertexId first = *joined.topology.find("gpu0"), far = *joined.topology.find("gpu15");
  CHECK(relation(joined.topology, first, far).peer_access);
  const Route inside = *find_route(node.topology, first, *node.topology.find("gpu7"), Via::direct);
  const Route across = *find_route(joined.topology, first, far, Via::direct);
  CHECK(across.bandwidth == inside.bandwidth);
  CHECK(across.hops() == inside.hops());
  const RingSet few = find_rings(node.topology, all_gpus(node)), more = find_rings(joined.topology, all_gpus(joined));
  CHECK(more.over_nvlink);
  CHECK(more.bandwidth == few.bandwidth);
  CHECK(more.rings.size() == few.rings.size());
}

TEST_CASE("Joined nodes hold, cost and draw what their nodes do together, and fill units of the fabric sooner") {
  const System node = loaded("dgx-h100");
  System joined = node;
  REQUIRE(join_nodes(joined, 4).empty());
  CHECK(*joined.price == 4.0 * *node.price);
  CHECK(*joined.power == 4.0 * *node.power);
  CHECK(*joined.host.memory_capacity == 4.0 * *node.host.memory_capacity);
  CHECK(joined.host.cores == 4 * node.host.cores);
  REQUIRE(!node.tiers.empty());
  CHECK(joined.tiers.front().nodes.value() == node.tiers.front().nodes.value() / 4);
  CHECK(node_bandwidth(joined, *joined.network) == 4.0 * node_bandwidth(node, *node.network));
}

TEST_CASE("Nodes without NVSwitches are not joined") {
  System mesh = loaded("dgx1");
  CHECK(join_nodes(mesh, 2) == "expected GPUs that are linked by NVSwitches alone, which can be joined");
  CHECK(mesh.gpu_count == 8);
}
