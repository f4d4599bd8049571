// Collectives of a layout on their share of the links: rows that reach a node once, and what a call takes from kernels beside it.
#include "model/schedule/divided/group_plans.hpp"

#include <algorithm>

#include "model/configuration/configure.hpp"
#include "model/schedule/divided/pass_time.hpp"
#include "model/schedule/divided/tier_traffic.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

Configuration configured(int gpus, int experts) {
  static const std::shared_ptr<Session> kSession = open_session({TBDSIM_SOURCE_DIR});
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "deepseek-v3";
  options.stack = "megatron-core-0.14";
  options.precision = "bf16";
  options.gpus = gpus;
  options.batch = 1;
  if (experts > 1) options.expert_parallel = experts;
  const auto configuration = configure(*kSession, options);
  INFO((configuration ? std::string() : to_text(configuration.error())));
  REQUIRE(configuration);
  return *configuration;
}

RankPlaces places_of(const Configuration& c) { return {c.hardware(), c.devices, c.network, **c.nccl}; }

constexpr ExpertChoice kChoice{256, 8, 8, 4};

}  // namespace

// Of k rows of a token D/k cross the network, each with probability (n-1)/n, and all of them a node's links but for (1/l).
TEST_CASE("rows that reach a node once: a copy for each node over the network, one for each expert inside nodes") {
  for (const int nodes : {2, 4, 8}) {
    INFO(nodes);
    const Configuration c = configured(8 * nodes, 8 * nodes);
    GroupPlans plans(places_of(c), c.layout);
    const Bytes rows(512e6);
    const GroupCall once = plans.once_per_node(rows, kChoice), plain = plans.call(Axis::expert, CollectiveKind::all_to_all, rows);
    const double n = nodes, copies = nodes_reached(kChoice, nodes) / 8.0;
    const double across = copies * (n - 1.0) / n, within = 7.0 / 8.0;
    CHECK_THAT(once.sent / rows, WithinRel(across + within, 1e-12));
    CHECK_THAT(plain.sent / rows, WithinRel((8.0 * n - 1.0) / (8.0 * n), 1e-12));
    CHECK(once.time < plain.time);
    CHECK(once.leaves_node);
    const auto tiers = tier_shares(places_of(c), c.layout, Axis::expert, &kChoice);
    double network = 0.0;
    for (const TierShare& tier : tiers) network += tier.network ? tier.share : 0.0;
    CHECK_THAT(network, WithinRel(across / (across + within), 1e-9));
  }
}

TEST_CASE("within one node every row goes by itself") {
  const Configuration c = configured(8, 8);
  GroupPlans plans(places_of(c), c.layout);
  const GroupCall once = plans.once_per_node(Bytes(512e6), kChoice),
                  plain = plans.call(Axis::expert, CollectiveKind::all_to_all, Bytes(512e6));
  CHECK(once.sent == plain.sent);
  CHECK(once.time == plain.time);
  CHECK_FALSE(once.leaves_node);
}

// model/schedule/divided/README.md: time = alone / (1 - lost).
TEST_CASE("a kernel beside a collective lacks its channels, or the memory that what it sends and receives takes") {
  const Configuration c = configured(8, 1);
  GroupPlans plans(places_of(c), c.layout);
  const GroupCall call = plans.call(Axis::data, CollectiveKind::all_gather, Bytes(4e9));
  const double memory = 2.0 * call.sent / (call.time * c.hardware().device.memory_bandwidth);
  CHECK_THAT(call.taken.memory, WithinRel(std::min(0.9, memory), 1e-12));
  REQUIRE(call.taken.sms > 0.0);
  REQUIRE(call.taken.memory > 0.0);
  const PassItem gather{PassItem::Kind::hidden, call.time, Seconds(0.0), Axis::data, call.sent, call.taken, false};
  const PassItem join{PassItem::Kind::join, Seconds(0.0), Seconds(0.0), Axis::data, {}, {}, false};
  for (const bool bound_by_memory : {false, true}) {
    INFO(bound_by_memory);
    const Seconds alone = 0.5 * call.time;
    const PassItem kernel{PassItem::Kind::kernel, alone, Seconds(0.0), Axis::tensor, {}, {}, bound_by_memory};
    const double lost = bound_by_memory ? std::max(call.taken.sms, call.taken.memory) : call.taken.sms;
    // Behind the join another kernel runs at its own pace.
    const PassTime pass = pass_time(std::vector<PassItem>{gather, kernel, join, kernel});
    const Seconds beside = (1.0 / (1.0 - lost)) * alone;
    CHECK_THAT(pass.time.base(), WithinRel((std::max(call.time, beside) + alone).base(), 1e-9));
    CHECK_THAT(pass.kernels.base(), WithinRel((beside + alone).base(), 1e-9));
  }
}
