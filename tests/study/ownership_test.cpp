// What hardware costs over years of use, on one basis for what is bought and what is rented.
#include "model/study/ownership.hpp"

#include <cmath>

#include "model/configuration/configure.hpp"
#include "model/hardware/price.hpp"
#include "model/prediction/cost.hpp"
#include "model/report/compare_report.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

constexpr double kHours = 3.0 * 8760.0 * 0.6;
const CostTerms kTerms{3.0, 0.6, Usd(0.2) / Joules(3.6e6), 1.5, std::nullopt, Objective::cost};

/// 100 samples/s from a board of 1,600 USD in a host of 2,400 USD; 300 W and 200 W; or let for 2 USD/h.
Prediction board() {
  Prediction p;
  p.throughput.value = 100.0;
  p.memory.fits = true;
  p.cost.gpu_power = Watts(300.0);
  p.cost.host_power = Watts(200.0);
  p.cost.bought = Payment{Usd(4000.0), Usd(4000.0 / (3.0 * 8760.0)), {}, Usd(2400.0)};
  p.cost.rented = Payment{Usd(2.0), Usd(2.0), {}, Usd(0.0)};
  return p;
}

}  // namespace

TEST_CASE("Bought: boards, host, and the power of the hours in use, rented: those hours") {
  const auto bought = ownership(board(), kTerms, PaidBy::purchase);
  REQUIRE(bought);
  CHECK(bought->machines.base() == 1600.0);
  CHECK(bought->host.base() == 2400.0);
  // 0.5 kW and half as much for cooling, at 0.2 USD/kWh: 0.15 USD an hour.
  CHECK_THAT(bought->power.base(), WithinRel(0.15 * kHours, 1e-12));
  CHECK_THAT(bought->total.base(), WithinRel(4000.0 + 0.15 * kHours, 1e-12));
  CHECK_THAT(bought->sample.base(), WithinRel((4000.0 + 0.15 * kHours) / (100.0 * 3600.0 * kHours), 1e-12));
  const auto rented = ownership(board(), kTerms, PaidBy::rent);
  REQUIRE(rented);
  CHECK_THAT(rented->total.base(), WithinRel(2.0 * kHours, 1e-12));
  CHECK(rented->power.base() == 0.0);
  CHECK_THAT(sample_energy(board(), kTerms)->base(), WithinRel(1.5 * 500.0 / 100.0, 1e-12));
  Prediction unknown = board();
  unknown.cost.rented.reset();
  CHECK_FALSE(ownership(unknown, kTerms, PaidBy::rent));
  CostTerms no_power = kTerms;
  no_power.power_price.reset();
  CHECK(ownership(board(), no_power, PaidBy::purchase)->total.base() == 4000.0);
}

TEST_CASE("A full year of use on the catalogue's terms costs what the hour of a prediction says") {
  CostTerms terms;
  terms.years = 3.0;
  const auto bought = ownership(board(), terms, PaidBy::purchase);
  CHECK_THAT(bought->sample.base(), WithinRel(sample_cost(board(), *board().cost.bought).base(), 1e-12));
  const auto rented = ownership(board(), terms, PaidBy::rent);
  CHECK_THAT(rented->sample.base(), WithinRel(sample_cost(board(), *board().cost.rented).base(), 1e-12));
}

TEST_CASE("Buying pays when the rent that is saved, less power, has paid for the machine") {
  Comparison comparison;
  comparison.candidates.resize(1);
  comparison.candidates[0].prediction = board();
  // 4000 USD against 2 - 0.15 USD for each of 5,256 hours a year.
  const auto even = break_even(comparison, rank_offers(comparison, kTerms), kTerms);
  REQUIRE(even);
  REQUIRE(even->years);
  CHECK_THAT(*even->years, WithinRel(4000.0 / (1.85 * 0.6 * 8760.0), 1e-12));
  comparison.candidates[0].prediction.cost.rented->hour = Usd(0.1);
  CHECK_FALSE(break_even(comparison, rank_offers(comparison, kTerms), kTerms)->years);
  comparison.candidates[0].prediction.cost.rented.reset();
  CHECK_FALSE(break_even(comparison, rank_offers(comparison, kTerms), kTerms));
}

TEST_CASE("Offers are ranked by the objective, within the budget, and what does not fit is not") {
  Comparison comparison;
  comparison.candidates.resize(3);
  for (Candidate& c : comparison.candidates) c.prediction = board();
  Prediction &fast = comparison.candidates[1].prediction, &big = comparison.candidates[2].prediction;
  fast.throughput.value = 400.0;
  fast.cost.bought->amount = Usd(40000.0);
  fast.cost.bought->host = Usd(0.0);
  fast.cost.rented.reset();
  fast.cost.gpu_power = Watts(2000.0);
  big.memory.fits = false;
  big.cost.rented.reset();
  const auto ranks = [&](const CostTerms& terms) {
    std::string text;
    for (const Offer& offer : rank_offers(comparison, terms))
      text += (offer.rank ? std::to_string(*offer.rank) : "-") + (offer.by == PaidBy::purchase ? "b" : "r") +
              std::to_string(offer.candidate) + " ";
    return text;
  };
  CHECK(ranks(kTerms) == "1b0 2b1 3r0 -b2 ");
  CostTerms terms = kTerms;
  terms.objective = Objective::time;
  CHECK(ranks(terms) == "1b1 2b0 3r0 -b2 ");
  terms.budget = Usd(40000.0);
  CHECK(ranks(terms) == "1b0 2r0 -b1 -b2 ");
  terms.objective = Objective::energy;
  CHECK(ranks(terms) == "1b0 2r0 -b2 -b1 ");
  // At the budget to the cent it is affordable, below it is not.
  const Usd total = ownership(board(), kTerms, PaidBy::purchase)->total;
  terms.budget = total;
  CHECK(ownership(board(), terms, PaidBy::purchase)->affordable);
  terms.budget = total - Usd(0.01);
  CHECK_FALSE(ownership(board(), terms, PaidBy::purchase)->affordable);
}

TEST_CASE("Power of a host: as its file states, else of the machine less its GPUs, else half of the GPUs' limits") {
  System system;
  CHECK_FALSE(host_power(system, 8, 1));
  system.gpu_count = 8;
  system.device.power_limit = Watts(400.0);
  CHECK(host_power(system, 4, 2)->base() == 800.0);
  system.power = Watts(6500.0);
  CHECK(host_power(system, 16, 2)->base() == 6600.0);
  system.host.power = Watts(900.0);
  CHECK(host_power(system, 16, 2)->base() == 1800.0);
}

TEST_CASE("The user's own prices set those of board, host and machine aside, what --set gave stays") {
  System system;
  system.id = "box";
  system.device.id = "board";
  system.host.id = "plain";
  system.rent = UsdPerSecond(1.0);
  const auto row = [](const char* what, const char* of, double usd) {
    Price price;
    price.own = true;
    price.price = Usd(usd);
    price.snapshot = "today";
    (std::string(what) == "system" ? price.system : price.host) = of;
    if (std::string(what) == "device") price.device = of, price.host.clear();
    return price;
  };
  const std::vector<Price> own{row("device", "board", 10.0), row("host", "plain", 20.0), row("system", "box", 30.0)};
  const System priced = with_own_prices(system, own);
  CHECK(priced.device.launch_price->base() == 10.0);
  CHECK(priced.device.launch_price_date == "today");
  CHECK(priced.host.price->base() == 20.0);
  CHECK(priced.price->base() == 30.0);
  CHECK(priced.rent->base() == 1.0);
  system.price_of = kAssignments;
  CHECK_FALSE(with_own_prices(system, own).price);
  Price theirs = row("device", "board", 99.0);
  theirs.own = false;
  CHECK_FALSE(with_own_prices(system, {theirs}).device.launch_price);
  // Rents: the user's own for this board alone, however dear.
  Price cheap, mine;
  cheap.device = mine.device = "board";
  cheap.kind = mine.kind = "on_demand";
  cheap.gpus = mine.gpus = 1;
  cheap.rent = UsdPerSecond(1.0);
  mine.rent = UsdPerSecond(9.0);
  mine.own = true;
  CHECK(cheapest_instances({mine, cheap}, "board", "on_demand", 1)->price.rent.base() == 9.0);
}

TEST_CASE("Long labels are numbered, and a legend tells them") {
  Comparison comparison;
  comparison.candidates.resize(2);
  for (Candidate& c : comparison.candidates) {
    c.prediction = board();
    c.prediction.memory.gpus.resize(1);
    c.label = "short";
  }
  CHECK(compare_table(comparison).find("#1") == std::string::npos);
  comparison.candidates[1].label = "azure-nd96isr-mi300x-v5 resnet50 64";
  const std::string text = compare_table(comparison, kTerms);
  CHECK(text.find("#2   azure-nd96isr-mi300x-v5 resnet50 64\n") != std::string::npos);
  CHECK(text.find("...") == std::string::npos);
  CHECK(text.find("On one basis: 3 year(s), in use 60 % of the time (15768 h)") != std::string::npos);
}
