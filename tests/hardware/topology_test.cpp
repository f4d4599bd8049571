// The link graph of DGX-1V and DGX-1P against published tables; routes, rings and clusters.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/hardware/cluster.hpp"
#include "model/input/csv_reader.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

System system_of(const std::string& name) {
  auto system = load_system(kCatalogue, name, 4);
  INFO((system ? "" : to_text(system.error())));
  REQUIRE(system);
  return *system;
}

std::vector<VertexId> members(const Topology& topology, const std::vector<int>& indices) {
  std::vector<VertexId> group;
  for (const int i : indices) group.push_back(topology.gpus()[static_cast<std::size_t>(i)]);
  return group;
}

std::vector<VertexId> first(const Topology& topology, int count) {
  const auto gpus = topology.gpus();
  return {gpus.begin(), gpus.begin() + count};
}

std::string names(const Topology& topology, const std::vector<VertexId>& vertices) {
  std::string text;
  for (const VertexId v : vertices) text += (text.empty() ? "" : " ") + topology.vertices[static_cast<std::size_t>(v.value)].name;
  return text;
}

std::string order_text(const Ring& ring) {
  std::string text;
  for (const VertexId v : ring.order) text += fmt::format("{}{}", text.empty() ? "" : " ", v.value);
  return text;
}

/// "0-3" and "0,3" of the reference table.
std::vector<int> indices_of(const std::string& text) {
  const auto dash = text.find('-');
  if (dash == std::string::npos) return {text[0] - '0', text[2] - '0'};
  std::vector<int> indices;
  for (int i = text[0] - '0'; i <= text[dash + 1] - '0'; ++i) indices.push_back(i);
  return indices;
}

const std::map<std::string, std::string> kSystemOf = {{"DGX-1V", "dgx1"}, {"DGX-1P", "dgx1-p100"}};
constexpr double kGB = 1e9;

}  // namespace

TEST_CASE("all pairs of DGX-1V and DGX-1P are related as NVIDIA's description says") {
  auto table = CsvTable::open(TBDSIM_SOURCE_DIR "/tests/hardware/data/dgx1_links.csv");
  REQUIRE(table);
  REQUIRE(table->rows() == 56);
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto cell = [&](std::string_view column) { return table->text(row, *table->column(column)); };
    const System system = system_of(kSystemOf.at(cell("system")));
    const Topology& t = system.topology;
    const VertexId a = *t.find("gpu" + cell("a")), b = *t.find("gpu" + cell("b"));
    INFO(cell("system") << " " << cell("a") << " " << cell("b"));
    const PairRelation pair = relation(t, a, b);
    CHECK(std::to_string(pair.nvlinks) == cell("nvlinks"));
    CHECK(cell("pcie").find("(" + pair.pcie + ")") != std::string::npos);
    CHECK(pair.peer_access == (cell("p2p") == "yes"));
    CHECK(pair.hops == (pair.nvlinks > 0 ? 1 : 2));
    CHECK_THAT(system.device.nvlink_bandwidth->base() * pair.nvlinks / kGB, WithinAbs(std::stod(cell("peak_gb_s")), 1e-9));
    std::string relays;
    for (const VertexId r : pair.relays) {
      relays +=
          fmt::format("{}{}:{},{}", relays.empty() ? "" : "; ", r.value, relation(t, a, r).nvlinks, relation(t, r, b).nvlinks);
    }
    CHECK(relays == cell("relays"));
    CHECK(relation(t, b, a) == pair);
  }
}

TEST_CASE("claim C38: 32 of 56 ordered pairs have peer access on a cube mesh") {
  CHECK(peer_pairs(system_of("dgx1").topology) == 32);
  CHECK(peer_pairs(system_of("dgx1-p100").topology) == 32);
  CHECK(peer_pairs(system_of("vm-8x-v100").topology) == 32);
  const auto matrix = pair_matrix(system_of("dgx1").topology);
  int links = 0;
  for (const auto& row : matrix) {
    int ports = 0;
    for (const PairRelation& pair : row) ports += pair.nvlinks;
    CHECK(ports == 6);
    links += ports;
  }
  CHECK(links == 2 * 24);
}

TEST_CASE("claim C37: peer copies over NVLink") {
  const auto copy = [](const char* system, int a, int b, int count) {
    Topology t = system_of(system).topology;
    for (LinkBundle& link : t.links) {
      if (link.name == fmt::format("gpu{}-gpu{}", a, b)) link.count = count;
    }
    return find_route(t, t.gpus()[static_cast<std::size_t>(a)], t.gpus()[static_cast<std::size_t>(b)], Via::direct)
               ->bandwidth.base() /
           kGB;
  };
  CHECK_THAT(copy("dgx1", 0, 3, 2), WithinRel(47.9, 0.03));
  CHECK_THAT(copy("dgx1-p100", 0, 1, 1), WithinRel(18.3, 0.03));
  CHECK_THAT(copy("dgx1-p100", 0, 1, 2), WithinRel(36.4, 0.03));
}

TEST_CASE("routes of a DGX-1V") {
  const Topology t = system_of("dgx1").topology;
  const auto gpus = t.gpus();
  // 0 and 7 share no link. Both 3 and 4 are linked to both; only by way of 4 are both steps two links wide.
  const auto any = find_route(t, gpus[0], gpus[7]);
  REQUIRE(any);
  CHECK(names(t, any->vertices) == "gpu0 gpu4 gpu7");
  CHECK_THAT(any->bandwidth.base() / kGB, WithinRel(47.88, 1e-12));
  CHECK(any->hops() == 2);
  CHECK_THAT(any->latency.base(), WithinRel(2 * 9.6e-6, 1e-12));
  CHECK(names(t, find_route(t, gpus[0], gpus[7], Via::relay)->vertices) == "gpu0 gpu4 gpu7");
  CHECK_FALSE(find_route(t, gpus[0], gpus[7], Via::direct));
  // Through the host: PCIe 12 GB/s a link, the two QPI links 10 GB/s together; 4 x 4.875 us of PCIe.
  const auto host = find_route(t, gpus[0], gpus[7], Via::host);
  REQUIRE(host);
  CHECK(names(t, host->vertices) == "gpu0 pcie_switch0 cpu0 cpu1 pcie_switch3 gpu7");
  CHECK_THAT(host->bandwidth.base() / kGB, WithinRel(10.0, 1e-12));
  CHECK_THAT(host->latency.base(), WithinRel(19.5e-6, 1e-12));
  CHECK(names(t, find_route(t, gpus[0], gpus[1], Via::host)->vertices) == "gpu0 pcie_switch0 gpu1");
  CHECK(names(t, find_route(t, gpus[0], gpus[3], Via::direct)->vertices) == "gpu0 gpu3");
  CHECK(find_route(t, gpus[0], gpus[0])->hops() == 0);
  Topology apart = t;
  apart.links.clear();
  CHECK_FALSE(find_route(apart, gpus[0], gpus[1]));
}

TEST_CASE("rings are those of NCCL's search") {
  auto table = CsvTable::open(TBDSIM_SOURCE_DIR "/tests/hardware/data/nccl_rings.csv");
  REQUIRE(table);
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> wanted;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    wanted[{table->text(row, 0), table->text(row, 1)}].push_back(table->text(row, 3));
  }
  CHECK(wanted.size() == 7);
  for (const auto& [key, orders] : wanted) {
    INFO(key.first << " " << key.second);
    const Topology t = system_of(kSystemOf.at(key.first)).topology;
    const RingSet set = find_rings(t, members(t, indices_of(key.second)));
    std::vector<std::string> found;
    for (const Ring& ring : set.rings) found.push_back(order_text(ring));
    CHECK(found == orders);
    CHECK(set.over_nvlink);
    CHECK_FALSE(set.relayed);
  }
}

TEST_CASE("ring counts over group sizes") {
  struct Row {
    const char* system;
    std::vector<double> effective;
    double rate;
  };
  // Measured plateaus: vTrain's 8-GPU V100 box (n = 2..8) and the DGX-1P of Tartan; 0 stands for the host.
  for (const Row& row : {Row{"dgx1", {1, 2, 4, 2, 2, 4, 6}, 22.84}, Row{"dgx1-p100", {1, 2, 3, 0, 2, 2, 4}, 17.4}}) {
    const System system = system_of(row.system);
    for (int n = 2; n <= 8; ++n) {
      INFO(row.system << " " << n);
      const RingSet set = find_rings(system.topology, first(system.topology, n), default_ring_options(system.device));
      const double wanted = row.effective[static_cast<std::size_t>(n - 2)];
      CHECK(set.over_nvlink == (wanted > 0));
      CHECK(set.effective_rings == (wanted > 0 ? wanted : 1.0));
      CHECK(set.relayed == (n == 5 && wanted > 0));
      if (wanted > 0) CHECK_THAT(set.bandwidth.base() / kGB, WithinRel(row.rate, 1e-12));
    }
  }
  const Topology p100 = system_of("dgx1-p100").topology;
  // Host: staging 6 GB/s is the narrowest; 5.57 GB/s is measured.
  CHECK_THAT(find_rings(p100, first(p100, 5), {false, true}).bandwidth.base() / kGB, WithinRel(6.0, 1e-12));
  CHECK(find_rings(p100, first(p100, 4), {false, false}).effective_rings == 2);
  CHECK(find_rings(p100, first(p100, 5), {true, true}).relayed);
  const Topology v100 = system_of("dgx1").topology;
  CHECK_FALSE(find_rings(v100, first(v100, 5), {false, true}).over_nvlink);
  CHECK(find_rings(v100, first(v100, 1)).rings.empty());
}

TEST_CASE("the relayed rings of five GPUs pass GPU 0 twice") {
  const Topology t = system_of("dgx1").topology;
  const RingSet set = find_rings(t, first(t, 5));
  REQUIRE(set.rings.size() == 2);
  for (const Ring& ring : set.rings) {
    REQUIRE(ring.via.size() == 5);
    CHECK(std::count_if(ring.via.begin(), ring.via.end(), [](const auto& via) { return via.has_value(); }) == 1);
    CHECK(ring.order[4].value == 4);    // GPU 4 is linked to GPU 0 only,
    CHECK(ring.via[3] == t.gpus()[0]);  // so the step to it goes through GPU 0
  }
}

TEST_CASE("rings of every group of a DGX-1V use no link direction more often than it exists") {
  const Topology t = system_of("dgx1").topology;
  const auto matrix = pair_matrix(t);
  for (unsigned bits = 0; bits < 256; ++bits) {
    std::vector<int> indices;
    for (int i = 0; i < 8; ++i) {
      if (bits >> i & 1U) indices.push_back(i);
    }
    if (indices.size() < 2) continue;
    const RingSet set = find_rings(t, members(t, indices));
    REQUIRE_FALSE(set.rings.empty());
    if (!set.over_nvlink) continue;
    std::map<std::pair<int, int>, int> used;
    for (const Ring& ring : set.rings) {
      std::vector<VertexId> sorted = ring.order;
      std::sort(sorted.begin(), sorted.end());
      CHECK(sorted == members(t, indices));
      for (std::size_t i = 0; i < ring.order.size(); ++i) {
        const int from = ring.order[i].value, to = ring.order[(i + 1) % ring.order.size()].value;
        const int via = !ring.via.empty() && ring.via[i] ? ring.via[i]->value : from;
        if (via != from) ++used[{from, via}];
        ++used[{via, to}];
      }
    }
    for (const auto& [ends, count] : used) {
      CHECK(count <= matrix[static_cast<std::size_t>(ends.first)][static_cast<std::size_t>(ends.second)].nvlinks);
    }
  }
}

TEST_CASE("switched, bridged and PCIe boxes") {
  const Topology a100 = system_of("dgx-a100-40gb").topology;
  const PairRelation pair = relation(a100, a100.gpus()[0], a100.gpus()[7]);
  CHECK(pair.nvlinks == 12);
  CHECK(pair.hops == 1);
  CHECK(pair.peer_access);
  CHECK(pair.pcie == "SYS");
  for (const int n : {2, 3, 8}) {
    const RingSet set = find_rings(a100, first(a100, n));
    CHECK(set.effective_rings == 12);
    CHECK_THAT(set.bandwidth.base() / kGB, WithinRel(0.79 * 25, 1e-9));
  }
  CHECK(find_rings(system_of("gb200-nvl72").topology, first(system_of("gb200-nvl72").topology, 72)).effective_rings == 18);

  // Measured all-reduce bus bandwidth of 4 x RTX 4090 with peer access: 25.3 GB/s; 0.785 of PCIe 4.0 x16 is 24.7.
  const Topology rtx = system_of("pcie-4x-rtx-4090-patched-driver").topology;
  const RingSet over_pcie = find_rings(rtx, first(rtx, 4));
  CHECK_FALSE(over_pcie.over_nvlink);
  CHECK(over_pcie.rings.size() == 1);
  CHECK_THAT(over_pcie.bandwidth.base() / kGB, WithinRel(0.785 * 31.5, 1e-9));
  // The same GPUs as a bare device name: no patched driver, so every step is staged in host memory.
  const Topology plain = system_of("rtx-4090").topology;
  CHECK(peer_pairs(plain) == 0);
  CHECK_THAT(find_rings(plain, first(plain, 4)).bandwidth.base() / kGB, WithinRel(8.0, 1e-12));
  const Topology bridged = system_of("pcie-8x-a100-bridged").topology;
  CHECK(find_rings(bridged, first(bridged, 2)).effective_rings == 12);
  CHECK_FALSE(find_rings(bridged, first(bridged, 4)).over_nvlink);
}

TEST_CASE("a ring over the host goes from GPU to nearest GPU, in whatever order they are named") {
  const Topology t = system_of("aws-p2.16xlarge").topology;
  const auto ring = [&](const std::vector<int>& devices) { return find_rings(t, members(t, devices)).rings.front().order; };
  CHECK(names(t, ring({0, 8, 1, 9})) == "gpu0 gpu1 gpu8 gpu9");
  CHECK(names(t, ring({8, 0, 9, 1})) == "gpu8 gpu9 gpu0 gpu1");
  CHECK(names(t, ring({0, 1, 2, 3})) == "gpu0 gpu1 gpu2 gpu3");
}
