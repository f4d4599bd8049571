// MXNet's stores on a DGX-1: homes, routes, and steps that add up.
#include <algorithm>
#include <map>

#include "model/configuration/session.hpp"
#include "model/engine/timeline.hpp"
#include "model/schedule/exchange/bucketed_all_reduce.hpp"
#include "model/schedule/exchange/p2p_store.hpp"
#include "model/schedule/lower.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const System& dgx1() {
  static const System kSystem = load_system({TBDSIM_SOURCE_DIR}, "dgx1").value();
  return kSystem;
}

std::vector<CopyRoute> routes(const std::vector<int>& devices, UnlinkedRoute unlinked) {
  return peer_routes(dgx1(), devices, unlinked).value();
}

const std::vector<int> kAll{0, 1, 2, 3, 4, 5, 6, 7};

BytesPerSecond dgx1_link() { return BytesPerSecond(23.94e9); }

std::int64_t ways(const std::vector<CopyRoute>& routes, CopyRoute::Way way) {
  return std::count_if(routes.begin(), routes.end(), [&](const CopyRoute& r) { return r.way == way; });
}

}  // namespace

TEST_CASE("homes: largest key first, each to the GPU with the fewest elements, of several the first") {
  CHECK(key_homes({10, 100, 50, 40, 10}, 2) == std::vector<std::int32_t>{1, 0, 1, 1, 0});
  // 100 to 0; 50, 40 to 1 (90); the first 10 to 1 (100); the second to 0, the first of equals.
  CHECK(key_homes({7, 7, 7}, 3) == std::vector<std::int32_t>{0, 1, 2});
  CHECK(key_homes({5, 6}, 1) == std::vector<std::int32_t>{0, 0});
  CHECK(key_homes({}, 4).empty());
}

TEST_CASE("routes of a DGX-1: 32 ordered pairs are linked, the other 24 go over a second GPU or through the host") {
  const auto two_hop = routes(kAll, UnlinkedRoute::two_hop), host = routes(kAll, UnlinkedRoute::host);
  CHECK(ways(two_hop, CopyRoute::Way::direct) == 32);
  CHECK(ways(two_hop, CopyRoute::Way::relayed) == 24);
  CHECK(ways(host, CopyRoute::Way::direct) == 32);
  CHECK(ways(host, CopyRoute::Way::through_host) == 24);
  CHECK(describe_routes(host) == "copies between 32 direct, 24 through the host pairs of GPUs");
  for (const CopyRoute& route : two_hop) CHECK(route.hops.size() <= 2);
}

TEST_CASE("pairs without a link are named with the GPU between, which belongs to the job") {
  const auto copies = indirect_copies(dgx1(), kAll, routes(kAll, UnlinkedRoute::two_hop));
  REQUIRE(copies.size() == 24);
  CHECK(copies.front().from == "gpu0");
  CHECK(copies.front().to == "gpu5");
  CHECK((copies.front().over == "gpu1" || copies.front().over == "gpu4"));
  // GPUs 0 and 5 alone: neither 1 nor 4 is there to pass anything on.
  const std::vector<int> two{0, 5};
  const auto alone = indirect_copies(dgx1(), two, routes(two, UnlinkedRoute::two_hop));
  REQUIRE(alone.size() == 2);
  CHECK(alone.front().over.empty());
  CHECK(indirect_copies(dgx1(), {0, 1, 2, 3}, routes({0, 1, 2, 3}, UnlinkedRoute::two_hop)).empty());
}

TEST_CASE("cards that refuse peer access copy at the staged rate, whatever their links let through") {
  const auto pair = [](const System& system) { return peer_routes(system, {0, 1}, UnlinkedRoute::host).value()[1]; };
  System cards = load_system({TBDSIM_SOURCE_DIR}, "pcie-4x-rtx-4090-patched-driver").value();
  CHECK(pair(cards).most == BytesPerSecond(0.0));  // with the driver that lets them
  CHECK(pair(cards).way == CopyRoute::Way::direct);
  CHECK(indirect_copies(cards, {0, 1}, peer_routes(cards, {0, 1}, UnlinkedRoute::host).value()).empty());
  for (LinkBundle& link : cards.topology.links) {
    link.peer_access = false;
    if (link.kind == LinkKind::pcie) link.staged = BytesPerSecond(6e9);
  }
  const CopyRoute refused = pair(cards);
  CHECK(refused.most == BytesPerSecond(6e9));
  CHECK(refused.way == CopyRoute::Way::through_host);
  for (const auto& hop : refused.hops) CHECK(hop.capacity > BytesPerSecond(6e9));
  // Across the sockets of a DGX-1 the link between them is the narrow one, as a staged copy was measured: 10 GB/s.
  for (const CopyRoute& route : routes(kAll, UnlinkedRoute::host)) {
    CHECK(route.most == BytesPerSecond(0.0));
    if (route.way != CopyRoute::Way::through_host) continue;
    const auto narrow = std::min_element(route.hops.begin(), route.hops.end(),
                                         [](const auto& a, const auto& b) { return a.capacity < b.capacity; });
    CHECK(narrow->capacity == BytesPerSecond(10e9));
  }
}

TEST_CASE("relays are balanced: no NVLink serves more than two relayed copies a direction") {
  std::map<std::string, double> uses;
  for (const CopyRoute& route : routes(kAll, UnlinkedRoute::two_hop)) {
    if (route.way != CopyRoute::Way::relayed) continue;
    for (const auto& hop : route.hops) uses[hop.link] += dgx1_link() / hop.capacity;
  }
  for (const auto& [link, copies] : uses) {
    INFO(link);
    CHECK(copies <= 2.0);
  }
}

TEST_CASE("four GPUs of one half are all linked") {
  CHECK(ways(routes({0, 1, 2, 3}, UnlinkedRoute::host), CopyRoute::Way::direct) == 12);
}

namespace {

/// A step of `model` at batch 16 under `stack` with an exchange style, on identical ranks or apart.
struct Bench {
  std::shared_ptr<Session> session = open_session({TBDSIM_SOURCE_DIR});
  Stack stack;
  KernelModel kernels;
  std::shared_ptr<const Result<Workload>> workload;

  Bench(const char* model, const char* stack_name)
      : stack(**session->stack(stack_name)),
        kernels(KernelModel::make(dgx1().device, Precision::fp32, stack, **session->constants()).value()),
        workload(session->workload(model, stack.zoo_variant, {})) {}

  [[nodiscard]] LoweredStep lowered(ExchangeStyle& style) const {
    return lower((**workload).graph, (**workload).step, kernels, stack, style, {16.0});
  }
};

/// When the last kernel of an iteration ends on any rank.
std::int64_t ends(const LoweredStep& step, const engine::Timeline& timeline, std::int32_t iteration) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    if (step.tasks[i].work == Work::kernel && step.tasks[i].iteration == iteration)
      last = std::max(last, timeline.end[i].picoseconds);
  }
  return last;
}

}  // namespace

TEST_CASE("ranks held apart take as long as one rank that stands for all") {
  for (const char* stack : {"mxnet-1.2", "pytorch-1.13"}) {
    const Bench bench("alexnet", stack);
    const auto plan = plan_collective(dgx1(), {{0, 1, 2, 3}, 1, {}}, CollectiveKind::all_reduce, {}).value();
    BucketPolicy policy;
    policy.bucket = bench.stack.exchange.bucket;
    BucketedAllReduce together(plan, policy), apart(plan, policy, 4);
    const LoweredStep one = bench.lowered(together), four = bench.lowered(apart);
    CHECK(four.ranks == 4);
    CHECK(engine::simulate(one.graph).makespan == engine::simulate(four.graph).makespan);
  }
}

TEST_CASE("the device store reaches its steady state by the last iteration it asks for") {
  const Bench bench("alexnet", "mxnet-ngc-18.04");
  for (const int gpus : {2, 4, 8}) {
    std::vector<int> devices(kAll.begin(), kAll.begin() + gpus);
    P2pStore style(gpus, routes(devices, UnlinkedRoute::two_hop), 2, bench.kernels, Seconds(1e-4));
    const LoweredStep step = bench.lowered(style);
    CHECK(step.iterations == 5);
    const engine::Timeline timeline = engine::simulate(step.graph);
    const auto length = [&](std::int32_t k) { return ends(step, timeline, k) - ends(step, timeline, k - 1); };
    INFO(gpus << " GPUs");
    CHECK_THAT(static_cast<double>(length(4)), WithinRel(static_cast<double>(length(3)), 2e-3));
  }
}

TEST_CASE("copy and fetch: an array is wholly on the relay before it goes on") {
  // GPUs 0, 1, 5: the pair 0 5 goes over GPU 1.
  const Bench bench("alexnet", "mxnet-ngc-18.04");
  const std::vector<int> three{0, 1, 5};
  const auto routed = routes(three, UnlinkedRoute::two_hop);
  REQUIRE(routed[2].relay == 1);  // 0 to 5
  P2pStore style(3, routed, 2, bench.kernels, Seconds(0.0));
  const LoweredStep step = bench.lowered(style);
  const engine::Timeline timeline = engine::simulate(step.graph);
  std::size_t relayed = 0;
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const StepTask& task = step.tasks[i];
    const engine::TaskId cause = timeline.held_by[i];
    if (task.work != Work::exchange || task.leg == Leg::merge || cause.value < 0) continue;
    const StepTask& before = step.tasks[static_cast<std::size_t>(cause.value)];
    const bool onward = before.work == Work::exchange && before.leg != Leg::merge && before.item == task.item && task.rank == 1;
    if (!onward || before.iteration != task.iteration || before.rank == 1) continue;
    ++relayed;
    CHECK(timeline.start[i] >= timeline.end[static_cast<std::size_t>(cause.value)]);
  }
  CHECK(relayed > 0);
}

TEST_CASE("the device store moves every gradient to its home and every weight away from it, over links within capacity") {
  const Bench bench("alexnet", "mxnet-ngc-18.04");
  P2pStore style(4, routes({0, 1, 2, 3}, UnlinkedRoute::host), 2, bench.kernels, Seconds(0.0));
  const LoweredStep step = bench.lowered(style);
  const engine::Timeline timeline = engine::simulate(step.graph);
  double carried = 0.0;
  for (std::size_t link = 0; link < step.graph.links(); ++link) {
    carried += timeline.link_bytes[link];
    const auto capacity = step.graph.link_capacity({static_cast<std::int32_t>(link)});
    CHECK(timeline.link_bytes[link] <= (capacity * timeline.link_busy[link].seconds()).base() * (1.0 + 1e-9));
  }
  // All pairs are linked directly: 3 copies of each gradient and 3 of each weight in each of 5 iterations.
  CHECK_THAT(carried, WithinRel(5.0 * 2.0 * 3.0 * step.exchanged.base(), 1e-9));
}
