// MXNet's static plan, against a published allocation trace and small cases worked by hand.
#include <fmt/format.h>
#include <map>

#include "model/memory/mxnet_graph.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

OpGraph network(const char* name, ZooOptions options = {}) {
  const ZooEntry* entry = find_network(name, "mxnet").value();
  return entry->build(*entry, options).value();
}

}  // namespace

TEST_CASE("scratch") {
  const StoragePlan plan = plan_storage(mxnet_graph(network("resnet50"), SavingRules::mxnet_later, 16, Bytes(4.0)));
  std::map<double, int> sizes;
  for (const Bytes b : plan.blocks) ++sizes[b.base()];
  for (auto [b, n] : sizes) fmt::print("{} x {}\n", b, n);
  fmt::print("{} blocks, {} MB\n", plan.blocks.size(), plan.total().base() / 1e6);
  for (auto [n, image] : {std::pair{"lenet",224}, {"alexnet",224}, {"resnet50",224}, {"googlenet",299}, {"inception_v3",299}}) {
    const auto g=network(n, ZooOptions{image, std::nullopt});
    for (double b : {16., 32., 64.}) {
      const auto p = plan_storage(mxnet_graph(g, SavingRules::mxnet, b, Bytes(4.0)));
      fmt::print("{} {} {:.1f} MB/image\n", n, b, p.total().base()/1e6/b);
    }
  }
}
