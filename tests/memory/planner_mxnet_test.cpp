// MXNet's static plan, against a published allocation trace and small cases worked by hand.
#include <map>

#include "model/memory/mxnet_graph.hpp"
#include "model/memory/rank_buffers.hpp"
#include "model/workload/graph_builder.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

OpGraph network(const char* name, ZooOptions options = {}) {
  const ZooEntry* entry = find_network(name, "mxnet").value();
  return entry->build(*entry, options).value();
}

StoragePlan plan(const OpGraph& graph, SavingRules rules, double batch) {
  return plan_storage(mxnet_graph(graph, rules, batch, Bytes(4.0)));
}

/// Nodes that each read the entry before them and make one entry of the given sizes.
PlanGraph chain(const std::vector<double>& sizes) {
  PlanGraph graph;
  std::int32_t last = -1;
  for (const double bytes : sizes) {
    PlanNode node;
    if (last >= 0) node.inputs = {last};
    const PlanEntry made{Bytes(bytes), MemoryPart::feature_maps, OpId{}, false};
    last = graph.add(node, {&made, 1});
  }
  graph.heads = {last};
  return graph;
}

}  // namespace

// UofT-EcoSystem/MXNet-GPU_Memory_Profiler, benchmarks/saved_artifacts/resnet-gpu_memory_profile-L_50-B_32.csv: ResNet-50
// v2, 16 images on each of two GPUs; arrays named after operators, requested bytes of one GPU.
TEST_CASE("the published allocation trace of ResNet-50, block by block") {
  const StoragePlan resnet = plan(network("resnet50"), SavingRules::mxnet_later, 16);
  const std::map<double, int> published{{64, 1},       {12, 2},      {256, 16},      {512, 16},      {1024, 30},    {2048, 20},
                                        {4096, 12},    {8192, 6},    {64000, 2},     {131072, 2},    {1605632, 10}, {3211264, 22},
                                        {6422528, 21}, {9633792, 2}, {12845056, 29}, {25690112, 10}, {51380224, 10}};
  std::map<double, int> blocks;
  for (const Bytes block : resnet.blocks) ++blocks[block.base()];
  CHECK(blocks == published);
  CHECK(resnet.blocks.size() == 211);
  CHECK_THAT(resnet.total().base(), WithinRel(1384.6e6, 1e-4));
  Bytes rounded;
  for (const Bytes block : resnet.blocks) rounded += driver_rounded(block);
  CHECK_THAT(rounded.base(), WithinRel(1528.9e6, 1e-4));
}

TEST_CASE("what the driver gives: pages of 4 KiB up to 2 MiB, then 2 MiB") {
  CHECK(driver_rounded(Bytes(12)) == Bytes(4096));
  CHECK(driver_rounded(Bytes(4096)) == Bytes(4096));
  CHECK(driver_rounded(Bytes(2097152)) == Bytes(2097152));
  CHECK(driver_rounded(Bytes(2097153)) == Bytes(4194304));
  CHECK(driver_rounded(Bytes(12845056)) == Bytes(14680064));
  CHECK(driver_rounded(Bytes(0)) == Bytes(0));
}

TEST_CASE("a chain needs two blocks, and the smaller grows") {
  // a (100) lives with b (50); then c (100) takes a's block; d (60) takes b's, which grows; e (10) takes the large one.
  const StoragePlan five = plan_storage(chain({100, 50, 100, 60, 10}));
  CHECK(five.blocks == std::vector{Bytes(100), Bytes(60)});
  CHECK(five.storage == std::vector<std::int32_t>{0, 1, 0, 1, 0});
}

TEST_CASE("a free block serves up to a sixteenth of its size, and grows at most sixteenfold") {
  CHECK(plan_storage(chain({1600, 1, 100})).blocks.size() == 2);
  CHECK(plan_storage(chain({1601, 1, 100})).blocks.size() == 3);  // 1601 > 16 x 100, and 1 < 100 / 16 is still in use
  CHECK(plan_storage(chain({100, 9000, 1600})).blocks == std::vector{Bytes(1600), Bytes(9000)});
  CHECK(plan_storage(chain({99, 9000, 1600})).blocks == std::vector{Bytes(99), Bytes(9000), Bytes(1600)});
}

TEST_CASE("in place where nobody else reads the input") {
  GraphBuilder alone("alone", "mxnet", "image", {8}, 1), shared("shared", "mxnet", "image", {8}, 1);
  const auto build = [](GraphBuilder& g, bool reuse) {
    const TensorId x = g.linear(g.input(), 8);
    const TensorId y = g.relu(x);
    g.softmax_loss(g.linear(reuse ? g.plus(y, x) : g.plus(y, y), 8));
    return std::move(g).finish().value();
  };
  const StoragePlan a = plan(build(alone, false), SavingRules::mxnet_later, 1),
                    b = plan(build(shared, true), SavingRules::mxnet_later, 1);
  CHECK(a.storage[1] == a.storage[2]);
  CHECK(b.storage[1] != b.storage[2]);
}

TEST_CASE("no two arrays that live together share a block, in any network") {
  for (const char* name : {"lenet", "alexnet", "resnet50", "googlenet", "inception_v3", "inception_bn", "resnet152"}) {
    INFO(name);
    for (const SavingRules rules : {SavingRules::mxnet, SavingRules::mxnet_later}) {
      const OpGraph graph = network(name, ZooOptions{name == std::string("googlenet") ? std::optional(299) : std::nullopt, {}});
      const StoragePlan p = plan(graph, rules, 4);
      const auto positions = static_cast<std::int32_t>(p.order.size());
      const MemoryProfile profile = memory_profile(p.lifetimes, positions);
      CHECK(profile.at_peak.total() <= p.total());
      CHECK(p.total() < 1.5 * profile.at_peak.total());
      for (const Lifetime& l : p.lifetimes) CHECK((l.birth <= l.death && l.death <= positions));
    }
  }
}
