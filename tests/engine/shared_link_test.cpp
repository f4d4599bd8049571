#include "model/engine/shared_link.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::engine;

namespace {

constexpr double kTolerance = 1e-12;

/// Flows over links of the given capacities (B/s); all start together unless told otherwise.
struct Case {
  std::vector<BytesPerSecond> capacities;
  std::vector<std::vector<LinkUse>> uses;
  std::vector<double> max_rates;

  [[nodiscard]] SharedLinks links() const {
    std::vector<FlowRoute> flows;
    for (std::size_t f = 0; f < uses.size(); ++f) {
      flows.push_back({uses[f], BytesPerSecond(f < max_rates.size() ? max_rates[f] : 0.0)});
    }
    return SharedLinks(capacities, flows);
  }
  [[nodiscard]] std::vector<double> rates() const {
    SharedLinks shared = links();
    for (std::int32_t f = 0; f < static_cast<std::int32_t>(uses.size()); ++f) shared.start(f);
    shared.update();
    std::vector<double> result;
    for (std::int32_t f = 0; f < static_cast<std::int32_t>(uses.size()); ++f) result.push_back(shared.rate(f).base());
    return result;
  }
};

std::vector<BytesPerSecond> capacities(std::initializer_list<double> values) {
  std::vector<BytesPerSecond> result;
  for (const double value : values) result.emplace_back(value);
  return result;
}

void check(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("flow " << i);
    CHECK_THAT(found[i], WithinRel(expected[i], kTolerance));
  }
}

}  // namespace

TEST_CASE("one flow gets the narrowest link of its route") {
  check(Case{capacities({8.0, 5.0, 9.0}), {{{{0}}, {{1}}, {{2}}}}, {}}.rates(), {5.0});
}

TEST_CASE("equal flows share a link equally") {
  check(Case{capacities({9.0}), {{{{0}}}, {{{0}}}, {{{0}}}}, {}}.rates(), {3.0, 3.0, 3.0});
}

TEST_CASE("three flows over two links") {
  // A crosses both links of capacity 1, B and B' the first, C the second. The first link fills at a share of 1/3,
  // which stops A, B and B'; C then takes what A leaves on the second, 2/3.
  check(Case{capacities({1.0, 1.0}), {{{{0}}, {{1}}}, {{{0}}}, {{{0}}}, {{{1}}}}, {}}.rates(),
        {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0});
}

TEST_CASE("bottlenecks in sequence") {
  // Link 0 (cap 2): flows 0, 1 -> share 1. Link 1 (cap 4): flows 1, 2 -> flow 2 gets 4 - 1 = 3.
  // Link 2 (cap 10): flows 2, 3 -> flow 3 gets 10 - 3 = 7.
  check(Case{capacities({2.0, 4.0, 10.0}), {{{{0}}}, {{{0}}, {{1}}}, {{{1}}, {{2}}}, {{{2}}}}, {}}.rates(), {1.0, 1.0, 3.0, 7.0});
}

TEST_CASE("a flow at its own limit leaves the rest to others") {
  const Case limited{capacities({10.0}), {{{{0}}}, {{{0}}}, {{{0}}}}, {1.0, 0.0, 0.0}};
  check(limited.rates(), {1.0, 4.5, 4.5});
}

TEST_CASE("a limit just above, at and just below the fair share") {
  const auto rates_with = [](double limit) { return Case{capacities({10.0}), {{{{0}}}, {{{0}}}}, {limit}}.rates(); };
  check(rates_with(5.001), {5.0, 5.0});
  check(rates_with(5.0), {5.0, 5.0});
  check(rates_with(4.999), {4.999, 5.001});
}

TEST_CASE("limits below the share in several flows") {
  // 1 and 2 are below the equal share 12/4 = 3; the other two have (12 - 3) / 2 = 4.5, of which one only wants 4.
  check(Case{capacities({12.0}), {{{{0}}}, {{{0}}}, {{{0}}}, {{{0}}}}, {2.0, 1.0, 0.0, 4.0}}.rates(), {2.0, 1.0, 5.0, 4.0});
}

TEST_CASE("weights: what counts is the bytes on the wire") {
  // Each byte of flow 0 puts two on the link. Equal shares of 6 B/s on the wire are 3 B/s of flow 0 and 6 of flow 1.
  check(Case{capacities({12.0}), {{{{0}, 2.0}}, {{{0}}}}, {}}.rates(), {3.0, 6.0});
}

TEST_CASE("weights that differ along a route") {
  // Flow 0 puts 1 on link 0 and 1/2 on link 1: its share is that on link 0. Link 1 (cap 3) fills first, when
  // share / 2 + share = 3, at share 2: flow 0 runs at 2, flow 1 at 2. Link 0 (cap 10) is not full.
  check(Case{capacities({10.0, 3.0}), {{{{0}, 1.0}, {{1}, 0.5}}, {{{1}}}}, {}}.rates(), {2.0, 2.0});
}

TEST_CASE("a flow that uses no link runs at its limit") { check(Case{{}, {{}}, {7.0}}.rates(), {7.0}); }

TEST_CASE("flows start and stop") {
  const Case three{capacities({6.0, 4.0}), {{{{0}}}, {{{0}}}, {{{1}}}}, {}};
  SharedLinks shared = three.links();
  REQUIRE_FALSE(shared.changed());
  shared.start(0);
  shared.start(2);
  REQUIRE(shared.changed());
  shared.update();
  REQUIRE_FALSE(shared.changed());
  REQUIRE(shared.components() == 2);
  CHECK(shared.rate(0) == BytesPerSecond(6.0));
  CHECK(shared.rate(1) == BytesPerSecond(0.0));

  // Flow 1 shares link 0 with flow 0; flow 2 is on its own and is not looked at again.
  shared.start(1);
  shared.update();
  REQUIRE(shared.components() == 1);
  REQUIRE(shared.component(0).size() == 2);
  CHECK(shared.rate(0) == BytesPerSecond(3.0));
  CHECK(shared.rate(1) == BytesPerSecond(3.0));
  CHECK(shared.flows_on({0}) == 2);

  shared.stop(0);
  shared.update();
  CHECK(shared.rate(0) == BytesPerSecond(0.0));
  CHECK(shared.rate(1) == BytesPerSecond(6.0));
  CHECK(shared.rate(2) == BytesPerSecond(4.0));

  shared.stop(1);
  shared.update();
  CHECK(shared.components() == 0);
  CHECK(shared.flows_on({0}) == 0);
}

TEST_CASE("a flow that starts and stops between updates changes nothing") {
  const Case two{capacities({6.0}), {{{{0}}}, {{{0}}}}, {}};
  SharedLinks shared = two.links();
  shared.start(0);
  shared.start(1);
  shared.stop(1);
  shared.update();
  CHECK(shared.rate(0) == BytesPerSecond(6.0));
  CHECK(shared.rate(1) == BytesPerSecond(0.0));
}

TEST_CASE("a flow that leaves splits a component in two") {
  // Flow 1 bridges links 0 and 1.
  const Case bridge{capacities({2.0, 8.0}), {{{{0}}}, {{{0}}, {{1}}}, {{{1}}}}, {}};
  SharedLinks shared = bridge.links();
  for (std::int32_t f = 0; f < 3; ++f) shared.start(f);
  shared.update();
  REQUIRE(shared.components() == 1);
  CHECK(shared.rate(2) == BytesPerSecond(7.0));
  shared.stop(1);
  shared.update();
  REQUIRE(shared.components() == 2);
  CHECK(shared.rate(0) == BytesPerSecond(2.0));
  CHECK(shared.rate(2) == BytesPerSecond(8.0));
}
