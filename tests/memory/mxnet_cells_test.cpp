// Unrolled LSTM cells under MXNet, and how the driver packs what its pool asks for.
#include "model/memory/mxnet_cells.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "model/memory/mxnet_graph.hpp"
#include "model/memory/rank_buffers.hpp"
#include "model/workload/graph_builder.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

constexpr std::int64_t kSteps = 5, kInput = 3, kHidden = 7, kClasses = 2;
constexpr double kBatch = 2;

/// Words, `layers` layers of cells, scores of every step.
OpGraph translator(int layers) {
  GraphBuilder g("cells", "file", "sentence", Shape{kSteps}, 2);
  TensorId x = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{11, kInput}, "words");
  for (int i = 0; i < layers; ++i) x = g.add(OpKind::lstm, {x}, RecurrentAttributes{kHidden}, "cells" + std::to_string(i));
  g.softmax_loss(g.linear(x, kClasses, "scores"), "loss");
  return std::move(g).finish().value();
}

/// Bytes of feature maps of `op` that exist when the backward pass begins.
Bytes kept(const OpGraph& graph, const std::string& op) {
  const PlanGraph plan = mxnet_graph(graph, SavingRules::mxnet, kBatch, Bytes(4.0));
  const StoragePlan stored = plan_storage(plan);
  std::int32_t turn = 0;
  while (!plan.nodes[static_cast<std::size_t>(stored.order[static_cast<std::size_t>(turn)])].backward) ++turn;
  Bytes sum;
  for (const Lifetime& l : stored.lifetimes)
    if (l.birth < turn && turn < l.death && graph.op(l.op).name == op) sum += l.bytes;
  return sum;
}

}  // namespace

// Four slices, four activations, cell state, its tanh, hidden state: 11 states a step; a slice of the input. Where no cells
// follow, the joined output, and nobody reads the last hidden state any more.
TEST_CASE("an unrolled layer keeps eleven states a step") {
  const double one = kBatch * kHidden * 4.0, state = kSteps * one, input = kSteps * kBatch * kInput * 4.0;
  CHECK(kept(translator(1), "cells0") == Bytes(12.0 * state - one + input));
  CHECK(kept(translator(2), "cells0") == Bytes(11.0 * state + input));
  CHECK(kept(translator(2), "cells1") == Bytes(12.0 * state - one));
}

TEST_CASE("unrolled cells: every array is read or wanted, and gradients of parameters appear once") {
  const PlanGraph plan = mxnet_graph(translator(2), SavingRules::mxnet, kBatch, Bytes(4.0));
  CHECK(execution_order(plan).size() == plan.nodes.size());
  CHECK(plan.heads.size() == 1 + 4);  // the loss; words, two layers, scores
}

TEST_CASE("the driver packs small arrays side by side and takes large ones whole") {
  constexpr Bytes kSlab(2097152.0);
  CHECK(driver_held({}) == Bytes(0.0));
  // 256 KiB and 32 B: seven to a slab, not eight.
  const std::vector<Bytes> seven(7, Bytes(262144.0)), eight(8, Bytes(262144.0));
  CHECK(driver_held(seven) == kSlab);
  CHECK(driver_held(eight) == 2.0 * kSlab);
  CHECK(driver_held(std::vector{kSlab - Bytes(32.0)}) == kSlab);
  CHECK(driver_held(std::vector{kSlab}) == 2.0 * kSlab);
}

// Executors of shorter sentences take their blocks from the longest one's, largest first, each the smallest that holds it
// (apache/mxnet 1.1.0 src/executor/graph_executor.cc, InitDataEntryMemory). What finds none is added.
TEST_CASE("executors of shorter buckets add next to nothing to the longest one's pool") {
  const ZooEntry* entry = find_network("sockeye", "mxnet").value();
  const auto blocks = [&](int length) {
    ZooOptions options;
    options.seq_len = length;
    const OpGraph graph = build_network(*entry, options).value();
    std::vector<Bytes> sizes = plan_storage(mxnet_graph(graph, SavingRules::mxnet, 64, Bytes(4.0))).blocks;
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    return sizes;
  };
  const auto sum = [](const std::vector<Bytes>& all) { return std::accumulate(all.begin(), all.end(), Bytes(0.0)); };
  std::vector<Bytes> pool = blocks(100);
  const Bytes first = sum(pool);
  for (const int length : {90, 50, 20}) {
    std::multiset<Bytes> free(pool.begin(), pool.end());
    for (const Bytes wanted : blocks(length)) {
      const auto found = free.lower_bound(wanted);
      if (found == free.end())
        pool.push_back(wanted);
      else
        free.erase(found);
    }
  }
  CHECK(sum(pool) < 1.01 * first);
}
