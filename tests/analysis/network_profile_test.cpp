#include "model/analysis/network_profile.hpp"

#include <cmath>

#include "model/analysis/set_values.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

NetworkOptions job(const std::string& model, const std::string& network, const std::string& exchange, int nodes = 4) {
  NetworkOptions options;
  options.job.hardware = "p4000";
  options.job.model = model;
  options.job.stack = "mxnet-1.2";
  options.job.nodes = nodes;
  options.job.network = network;
  options.job.exchange = exchange;
  return options;
}

NetworkProfile profile(const NetworkOptions& options) {
  static const auto kSession = open_session({TBDSIM_SOURCE_DIR});
  return profile_network(*kSession, options).value();
}

}  // namespace

TEST_CASE("P3 needs less of the network than first come, first served, and both less for a lower target") {
  NetworkOptions options = job("resnet50", "ethernet-10g", "ps");
  const NetworkProfile high = profile(options);
  REQUIRE(high.schedules.size() == 2);
  const ScheduleVerdict &fifo = high.schedules[0], &p3 = high.schedules[1];
  CHECK(fifo.exchange == "ps");
  CHECK(p3.exchange == "ps-p3");
  REQUIRE(fifo.least_to_reach);
  REQUIRE(p3.least_to_reach);
  CHECK(*p3.least_to_reach < *fifo.least_to_reach);
  CHECK(*fifo.least_to_pay < *fifo.least_to_reach);
  options.target = 0.7;
  CHECK(*profile(options).schedules[0].least_to_reach < *fifo.least_to_reach);
}

TEST_CASE("the least line rate is where the verdict turns") {
  NetworkOptions options = job("resnet50", "ethernet-10g", "ps");
  const double least = profile(options).schedules[0].least_to_reach->base();
  for (const double factor : {0.98, 1.02}) {
    options.job.set = {"network.bandwidth=" + std::to_string(factor * least / 1e9) + " GB/s"};
    CHECK(profile(options).reaches == (factor > 1.0));
  }
}

TEST_CASE("an array is pushed, then fetched; what delays most stands first") {
  const NetworkProfile p = profile(job("alexnet", "ethernet-1g", "ps", 2));
  CHECK_FALSE(p.pays);
  REQUIRE(p.arrays.size() > 10);
  CHECK(p.arrays.front().exposed > Seconds(0.0));
  for (std::size_t i = 0; i < p.arrays.size(); ++i) {
    const ArrayTraffic& a = p.arrays[i];
    CHECK(a.send_start <= a.send_end);
    CHECK(a.send_end <= a.receive_end);
    if (i > 0) CHECK(a.exposed <= p.arrays[i - 1].exposed);
  }
}
