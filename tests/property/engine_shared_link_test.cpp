// Max-min fairness has a certificate: an allocation is max-min fair if and only if every flow runs at its own limit
// or crosses a full link on which no flow has a larger share (Bertsekas & Gallager, "Data Networks", section 6.5.2).
#include <algorithm>
#include <random>
#include <vector>

#include "model/engine/shared_link.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::engine;

namespace {

constexpr double kTolerance = 1e-9;

struct Network {
  std::vector<BytesPerSecond> capacities;
  std::vector<std::vector<LinkUse>> uses;
  std::vector<FlowRoute> flows;
};

Network random_network(std::mt19937_64& random, int links, int flows, bool symmetric) {
  Network network;
  for (int l = 0; l < links; ++l)
    network.capacities.emplace_back(symmetric ? 25e9 : static_cast<double>(1 + random() % 50) * 1e9);
  for (int f = 0; f < flows; ++f) {
    std::vector<LinkUse> route;
    for (std::int32_t l = 0; l < links; ++l) {
      if (random() % static_cast<std::uint64_t>(links) >= 3) continue;
      route.push_back({{l}, symmetric ? 1.0 : static_cast<double>(1 + random() % 8) / 4.0});
    }
    if (route.empty()) route.push_back({{static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(links))}});
    network.uses.push_back(route);
  }
  for (const auto& route : network.uses) {
    network.flows.push_back({route, BytesPerSecond(random() % 3 == 0 ? static_cast<double>(1 + random() % 20) * 1e8 : 0.0)});
  }
  return network;
}

double share(const FlowRoute& flow, BytesPerSecond rate) {
  double largest = 0.0;
  for (const LinkUse& use : flow.uses) largest = std::max(largest, use.weight);
  return largest * rate.base();
}

void check_certificate(const Network& network, const SharedLinks& shared, const std::vector<bool>& moving) {
  std::vector<double> carried(network.capacities.size()), largest(network.capacities.size());
  for (std::size_t f = 0; f < network.flows.size(); ++f) {
    const BytesPerSecond rate = shared.rate(static_cast<std::int32_t>(f));
    REQUIRE((rate > BytesPerSecond(0.0)) == moving[f]);
    for (const LinkUse& use : network.flows[f].uses) {
      const auto link = static_cast<std::size_t>(use.link.value);
      carried[link] += use.weight * rate.base();
      largest[link] = std::max(largest[link], share(network.flows[f], rate));
    }
  }
  for (std::size_t l = 0; l < carried.size(); ++l) REQUIRE(carried[l] <= network.capacities[l].base() * (1.0 + kTolerance));
  for (std::size_t f = 0; f < network.flows.size(); ++f) {
    if (!moving[f]) continue;
    const FlowRoute& flow = network.flows[f];
    const BytesPerSecond rate = shared.rate(static_cast<std::int32_t>(f));
    const bool limited = flow.max_rate > BytesPerSecond(0.0);
    if (limited) REQUIRE(rate <= flow.max_rate * (1.0 + kTolerance));
    const bool at_limit = limited && rate >= flow.max_rate * (1.0 - kTolerance);
    const bool at_bottleneck = std::ranges::any_of(flow.uses, [&](const LinkUse& use) {
      const auto link = static_cast<std::size_t>(use.link.value);
      return carried[link] >= network.capacities[link].base() * (1.0 - kTolerance) &&
             share(flow, rate) >= largest[link] * (1.0 - kTolerance);
    });
    INFO("flow " << f);
    REQUIRE((at_limit || at_bottleneck));
  }
}

}  // namespace

TEST_CASE("engine: rates carry a certificate of max-min fairness through starts and stops") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    const int links = 1 + static_cast<int>(random() % 30);
    const int flows = 1 + static_cast<int>(random() % 80);
    const Network network = random_network(random, links, flows, seed % 4 == 0);
    SharedLinks shared(network.capacities, network.flows);
    std::vector<bool> moving(network.flows.size(), false);
    for (int change = 0; change < 60; ++change) {
      INFO("seed " << seed << ", change " << change);
      for (std::uint64_t together = 1 + random() % 3; together > 0; --together) {
        const std::size_t f = random() % network.flows.size();
        moving[f] ? shared.stop(static_cast<std::int32_t>(f)) : shared.start(static_cast<std::int32_t>(f));
        moving[f] = !moving[f];
      }
      shared.update();
      check_certificate(network, shared, moving);
    }
  }
}

TEST_CASE("engine: rates do not depend on the history that led to a set of flows") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Network network = random_network(random, 12, 40, false);
    SharedLinks stepwise(network.capacities, network.flows), at_once(network.capacities, network.flows);
    for (std::int32_t f = 0; f < 40; ++f) {
      stepwise.start(f);
      stepwise.update();
    }
    for (std::int32_t f = 0; f < 40; f += 2) {
      stepwise.stop(f);
      stepwise.update();
    }
    for (std::int32_t f = 1; f < 40; f += 2) at_once.start(f);
    at_once.update();
    for (std::int32_t f = 1; f < 40; f += 2) REQUIRE_THAT(stepwise.rate(f).base(), WithinRel(at_once.rate(f).base(), kTolerance));
  }
}
