// What candidates of a comparison cost: prices beside prices, rents beside rents.
#include "model/report/price_report.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

Candidate candidate(const std::string& label, double throughput, double speedup) {
  Candidate c;
  c.label = label;
  c.speedup.value = speedup;
  c.prediction.throughput.value = throughput;
  c.prediction.memory.gpus.resize(1);
  return c;
}

Payment payment(double amount, double hour, const std::string& text) {
  return {Usd(amount), Usd(hour), {"", text, "datasheet: a/b@0123456789abcdef0123456789abcdef01234567", "", "2019"}};
}

}  // namespace

TEST_CASE("prices are ranked among prices, rents among rents, and what has neither stands apart") {
  Comparison comparison;
  comparison.candidates = {candidate("board", 100.0, 1.0), candidate("machine", 800.0, 8.0), candidate("cloud", 700.0, 7.0),
                           candidate("unknown", 900.0, 9.0)};
  comparison.candidates[0].prediction.cost.bought = payment(1500.0, 0.06, "one board");
  comparison.candidates[0].bought_ratio = 1.0;
  comparison.candidates[1].prediction.cost.bought = payment(149000.0, 5.67, "one machine");
  comparison.candidates[1].bought_ratio = 149000.0 / 1500.0;
  comparison.candidates[2].prediction.cost.rented = payment(24.48, 24.48, "a rent");
  CHECK(price_report(comparison) ==
        "\nBought: samples of three years of constant use, without power and staff\n"
        "            USD  price ratio  speed-up  speed-up/price  samples/USD  front\n"
        "board      1500         1.00      1.00            1.00       6.00 M  *\n"
        "machine  149000         99.3      8.00          0.0805        508 k  *\n"
        "  board: one board [1]\n"
        "  machine: one machine [1]\n"
        "\nRented\n"
        "       USD/h  price ratio  speed-up  speed-up/price  samples/USD  front\n"
        "cloud  24.48            -      7.00               -        103 k  *\n"
        "  cloud: a rent [1]\n"
        "\nPrices are from\n"
        "  [1] datasheet: a/b@0123456\n"
        "\nNo price is known of: unknown (--set hw.price='9000 USD' or hw.rent='3\n"
        "  USD/h').\n");
}

TEST_CASE("without any price nothing is told of prices but that") {
  Comparison comparison;
  comparison.candidates = {candidate("unknown", 900.0, 1.0)};
  CHECK(price_report(comparison) ==
        "\nNo price is known of: unknown (--set hw.price='9000 USD' or hw.rent='3\n"
        "  USD/h').\n");
}
