// What machines and boards cost, and which of them are worth it.
#include <algorithm>
#include <set>
#include <string>

#include "model/configuration/configure.hpp"
#include "model/prediction/cost.hpp"
#include "model/report/compare_report.hpp"
#include "model/study/compare.hpp"
#include "model/study/compare_front.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

/// Paid for at so many USD an hour.
Payment paid(double hour) { return {Usd(hour), Usd(hour), {}}; }

}  // namespace

TEST_CASE("an hour costs what is known of the machine, else the cheapest instance, else its GPUs over three years") {
  System system;
  system.id = system.device.id = "d";  // a GPU alone
  const auto basis = [&](const std::vector<Price>& prices) { return cost_basis(system, prices, 4, 1)->payment.basis.basis; };
  CHECK_FALSE(cost_basis(system, {}, 4, 1));
  system.device.launch_price = Usd(8760.0 * 3.0);
  CHECK_THAT(cost_basis(system, {}, 4, 1)->payment.hour.base(), Catch::Matchers::WithinRel(4.0, 1e-12));
  Price price;
  price.device = "d";
  price.kind = "on_demand";
  price.gpus = 8;
  price.rent = UsdPerSecond(16.0 / 3600.0);
  CHECK_THAT(cost_basis(system, {price}, 4, 1)->payment.hour.base(), Catch::Matchers::WithinRel(16.0, 1e-12));  // whole
  CHECK_THAT(cost_basis(system, {price}, 4, 4)->payment.hour.base(), Catch::Matchers::WithinRel(64.0, 1e-12));
  Price small = price;
  small.gpus = 1;
  small.rent = UsdPerSecond(3.0 / 3600.0);
  CHECK_THAT(cost_basis(system, {price, small}, 1, 1)->payment.hour.base(), Catch::Matchers::WithinRel(3.0, 1e-12));
  CHECK_THAT(cost_basis(system, {price, small}, 2, 1)->payment.hour.base(), Catch::Matchers::WithinRel(16.0, 1e-12));
  CHECK_THAT(cost_basis(system, {small}, 2, 1)->payment.hour.base(), Catch::Matchers::WithinRel(6.0, 1e-12));
  CHECK(basis({}) == "launch_price");
  CHECK(basis({price}) == "on_demand");
  // A machine is not let for what another provider asks for one with the same GPUs, unless the user says so.
  system.id = "box";
  CHECK(basis({price}) == "launch_price");
  CHECK_FALSE(rent_basis(system, {price}, 4, 1));
  system.rent_kind = "on_demand";
  CHECK(basis({price}) == "on_demand");
  system.provider = "AWS";
  price.provider = "Lambda";
  CHECK_FALSE(cost_basis(system, {price}, 4, 1));
  price.provider = "AWS";
  CHECK(basis({price}) == "on_demand");
  system.rent_kind = system.provider = "";
  system.id = "d";
  system.device.own_price = true;
  CHECK(basis({price}) == "launch_price");
  system.device.own_price = false;
  system.price = Usd(8760.0 * 3.0 * 7.0);
  CHECK(basis({price}) == "price");
  CHECK_THAT(cost_basis(system, {price}, 4, 2)->payment.hour.base(), Catch::Matchers::WithinRel(14.0, 1e-12));
  system.rent = UsdPerSecond(3.0 / 3600.0);
  CHECK(basis({price}) == "rent");
  CHECK_THAT(cost_basis(system, {price}, 4, 2)->payment.hour.base(), Catch::Matchers::WithinRel(6.0, 1e-12));
  system.rent_kind = "on_demand";
  CHECK(basis({price}) == "on_demand");
  system.rent_kind = "spot";
  CHECK_FALSE(cost_basis(system, {price}, 4, 1));
  system.device.power_limit = Watts(200.0);
  CHECK_THAT(average_power(system.device, 1.0)->base(), Catch::Matchers::WithinRel(200.0, 1e-12));
  CHECK_THAT(average_power(system.device, 0.0)->base(), Catch::Matchers::WithinRel(30.0, 1e-12));
}

TEST_CASE("the user's word of price or rent sets the other of the file aside") {
  const auto session = open_session(kCatalogue);
  const auto price = [&](const char* hardware, std::vector<std::string> set) {
    PredictOptions options;
    options.hardware = hardware;
    options.model = "lenet";
    options.gpus = 8;
    options.set = std::move(set);
    const auto p = predict(*session, options);
    REQUIRE(p);
    return *p;
  };
  const Prediction bought = price("dgx-a100-40gb", {});
  CHECK(bought.cost.price.basis == "price");  // although clouds let its GPUs
  CHECK_THAT(bought.cost.hour->base(), Catch::Matchers::WithinRel(199000.0 / (3.0 * 8760.0), 1e-12));
  const Prediction let = price("dgx-a100-40gb", {"hw.rent=on_demand"});
  CHECK(let.cost.price.basis == "on_demand");
  CHECK(*let.cost.hour > Usd(20.0));
  CHECK(price("dgx-a100-40gb", {"hw.rent=5 USD/h"}).cost.price.text == "rent of dgx-a100-40gb, 5 USD/h");
  CHECK(price("aws-p4d.24xlarge", {}).cost.price.basis == "rent");
  const Prediction set = price("aws-p4d.24xlarge", {"hw.price=262800 USD"});
  CHECK(set.cost.price.basis == "price");
  CHECK(set.cost.price.source == "--set");
  CHECK_THAT(set.cost.hour->base(), Catch::Matchers::WithinRel(10.0, 1e-12));
  CHECK_THAT(price("v100-sxm2-16gb", {"hw.device.launch_price=26280 USD"}).cost.hour->base(),
             Catch::Matchers::WithinRel(8.0, 1e-12));
  const Prediction none = price("dgx1", {"hw.rent=capacity_block"});
  CHECK_FALSE(none.cost.hour);
  CHECK(none.notices.back() ==
        "rent = \"capacity_block\": the catalogue has no such rent of v100-sxm2-16gb, so no price is told");
}

TEST_CASE("what has no price is on no front of costs, and on one of time and memory where nothing has") {
  Comparison comparison;
  comparison.candidates.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    Prediction& p = comparison.candidates[i].prediction;
    p.memory.gpus.resize(1);
    p.throughput.value = 100.0 * static_cast<double>(i + 1);
    comparison.candidates[i].label = std::string("machine ") + static_cast<char>('a' + i);
  }
  CHECK(compare_front(comparison) == std::vector<bool>{false, false, true});
  comparison.candidates[0].prediction.cost.bought = paid(1.0);
  CHECK(compare_front(comparison) == std::vector<bool>{true, false, false});
  CHECK(compare_table(comparison).find("No price is known of: machine b, machine c") != std::string::npos);
}

TEST_CASE("boards are bought with a host, rents are of the machine's own provider, and ratios are of one kind") {
  const auto session = open_session(kCatalogue);
  const StudyGrid grid{{{"hw", {"titan-xp", "azure-nd96asr-v4", "aws-p4d.24xlarge", "dgx1"}}, {"model", {"resnet18"}}}, {}};
  const auto comparison = compare(*session, grid, 0);
  REQUIRE(comparison);
  const Prediction& board = comparison->candidates[0].prediction;
  REQUIRE(board.cost.bought);
  CHECK(board.cost.bought->amount.base() == 1199.0 + 2630.0);
  CHECK(board.cost.bought->basis.text ==
        "1 x titan-xp at 1199 USD (2017-04-06) and 1 x host without GPUs at 2630 USD (2019-01-31), over 3 years of constant use, "
        "without power and staff");
  CHECK_FALSE(board.cost.rented);
  const Prediction& azure = comparison->candidates[1].prediction;
  CHECK_FALSE(azure.cost.rented);
  CHECK_FALSE(azure.cost.hour);
  const Prediction& aws = comparison->candidates[2].prediction;
  REQUIRE(aws.cost.rented);
  CHECK_FALSE(aws.cost.bought);
  CHECK(aws.cost.rented->basis.text == "rent of aws-p4d.24xlarge, 32.8 USD/h (2022-2023 catalogue)");
  CHECK_FALSE(comparison->candidates[2].bought_ratio);
  CHECK_FALSE(comparison->candidates[2].rented_ratio);
  const Candidate& dgx1 = comparison->candidates[3];
  REQUIRE(dgx1.bought_ratio);
  CHECK(*dgx1.bought_ratio == 149000.0 / 3829.0);
}

TEST_CASE("the seven boards of the poster have a price each") {
  for (const char* board : {"titan-xp", "titan-v", "gtx-1080-ti", "p4000", "p100-pcie-16gb", "v100-pcie-16gb", "vega-fe"}) {
    INFO(board);
    const auto device = load_device(kCatalogue, board);
    REQUIRE(device);
    CHECK(device->launch_price);
    CHECK_FALSE(device->launch_price_date.empty());
    CHECK_FALSE(device->launch_price_source.empty());
  }
}

TEST_CASE("gaming boards are the most cost effective: GTX 1080 Ti best, P100 and V100 worst") {
  const auto session = open_session(kCatalogue);
  const StudyGrid grid{{{"hw", {"titan-xp", "titan-v", "gtx-1080-ti", "p4000", "p100-pcie-16gb", "v100-pcie-16gb"}},
                        {"model", {"resnet50"}},
                        {"stack", {"mxnet-1.2"}}},
                       {}};
  const auto comparison = compare(*session, grid, 0);
  REQUIRE(comparison);
  std::vector<std::pair<Usd, std::string>> ranked;
  for (const Candidate& c : comparison->candidates) {
    INFO(c.label);
    REQUIRE(c.prediction.cost.bought);
    ranked.emplace_back(sample_cost(c.prediction, *c.prediction.cost.bought), c.label);
  }
  std::sort(ranked.begin(), ranked.end());
  CHECK(ranked[0].second == "gtx-1080-ti");
  CHECK(std::set<std::string>{ranked[4].second, ranked[5].second} == std::set<std::string>{"p100-pcie-16gb", "v100-pcie-16gb"});
}

TEST_CASE("one machine, one throughput: boards without peer access as a box and by themselves, patched, it says so") {
  const auto session = open_session(kCatalogue);
  const auto of = [&](const char* hardware) {
    PredictOptions options;
    options.hardware = hardware;
    options.model = "bert_base";
    options.gpus = 4;
    const auto p = predict(*session, options);
    REQUIRE(p);
    return *p;
  };
  const Prediction alone = of("rtx-4090"), box = of("pcie-4x-rtx-4090"), patched = of("pcie-4x-rtx-4090-patched-driver");
  CHECK_THAT(box.throughput.value, Catch::Matchers::WithinRel(alone.throughput.value, 0.02));
  CHECK(patched.throughput.value > 1.5 * box.throughput.value);
  const auto told = [](const Prediction& p, const std::string& words) {
    return std::any_of(p.notices.begin(), p.notices.end(),
                       [&](const std::string& notice) { return notice.find(words) != std::string::npos; });
  };
  CHECK(told(patched, "needs a driver that is patched to allow peer access"));
  CHECK(told(box, "With a patched driver, as this name meant before, it is pcie-4x-rtx-4090-patched-driver"));
}

TEST_CASE("the front of a comparison: what nothing of the same work beats in time, cost and memory") {
  const auto candidate = [](double throughput, std::optional<double> cost, double peak, std::size_t base) {
    Candidate c;
    c.base = base;
    c.prediction.throughput.value = throughput;
    if (cost) c.prediction.cost.bought = paid(*cost * throughput * 3600e-6);
    c.prediction.memory.fits = true;
    c.prediction.memory.gpus.resize(1);
    c.prediction.memory.gpus[0].peak = Bytes(peak);
    return c;
  };
  Comparison comparison;
  comparison.candidates = {candidate(100, 1.0, 4, 0), candidate(90, 1.1, 5, 0),           // beaten in all three by the first
                           candidate(90, 0.9, 5, 0),  candidate(80, std::nullopt, 4, 0),  // cheaper; without a price
                           candidate(10, 9.0, 9, 4),  candidate(200, 0.1, 1, 0)};         // of other work; does not fit
  comparison.candidates[5].prediction.memory.fits = false;
  CHECK(compare_front(comparison, PaidBy::purchase) == std::vector<bool>{true, false, true, false, true, false});
  CHECK(payments_of(comparison) == std::vector<PaidBy>{PaidBy::purchase});
  // Rents are ranked among themselves: what is cheap to buy beats no rent.
  comparison.candidates[1].prediction.cost.rented = paid(1.0);
  comparison.candidates[3].prediction.cost.rented = paid(2.0);
  CHECK(compare_front(comparison, PaidBy::rent) == std::vector<bool>{false, true, false, true, false, false});
  CHECK(compare_front(comparison) == std::vector<bool>{true, true, true, true, true, false});
}
