#include "model/survey/network_profile.hpp"

#include <algorithm>
#include <cmath>

#include "model/configuration/set_values.hpp"
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
  CHECK(fifo.exchange == Exchange::ps);
  CHECK(p3.exchange == Exchange::ps_p3);
  REQUIRE(fifo.least_to_reach);
  REQUIRE(p3.least_to_reach);
  CHECK(*p3.least_to_reach < *fifo.least_to_reach);
  CHECK(*fifo.least_to_pay < *fifo.least_to_reach);
  options.target = 0.7;
  CHECK(*profile(options).schedules[0].least_to_reach < *fifo.least_to_reach);
}

TEST_CASE("arrays and the slowest GPU make up what a prediction counts as exposed exchange and as updates of servers") {
  for (const char* exchange : {"ps", "ps-p3", "allreduce"}) {
    for (const int accumulate : {1, 4}) {
      INFO(exchange << ", " << accumulate << " micro-batches");
      NetworkOptions options = job("resnet50", "ethernet-1g", exchange, 2);
      options.job.accumulate = accumulate;
      const NetworkProfile p = profile(options);
      Seconds arrays(0.0);
      for (const ArrayTraffic& a : p.arrays) arrays += a.exposed;
      const Seconds waits = p.predicted.phases.exchange_exposed + p.predicted.phases.store_update;
      CHECK_THAT((arrays + p.waiting_for_slowest).base(), Catch::WithinRel(waits.base(), 1e-6));
      // Compute varies between ranks by 1 %; of two, the larger is 0.564 standard deviations above the mean.
      const double compute = (p.predicted.phases.forward + p.predicted.phases.backward).base();
      CHECK_THAT(p.waiting_for_slowest.base(), Catch::WithinRel(0.01 * 0.5642 * compute, 1e-2));
    }
  }
}

TEST_CASE("the least line rate is where the verdict turns") {
  NetworkOptions options = job("resnet50", "ethernet-10g", "ps");
  const double least = profile(options).schedules[0].least_to_reach->base();
  for (const double factor : {0.98, 1.02}) {
    options.job.set = {"network.bandwidth=" + std::to_string(factor * least / 1e9) + " GB/s"};
    CHECK(profile(options).reaches == (factor > 1.0));
  }
}

TEST_CASE("the least line rate keeps what TCP gets of it on a network made for RDMA") {
  NetworkOptions options = job("resnet50", "infiniband-edr", "ps");
  const auto least = profile(options).schedules[0].least_to_reach;
  REQUIRE(least);
  for (const double factor : {0.98, 1.02}) {
    const double rate = factor * least->base() / 1e9;
    options.job.set = {"network.bandwidth=" + std::to_string(rate) + " GB/s",
                       "network.tcp=" + std::to_string(rate * 8.8 / 12.5) + " GB/s"};
    CHECK(profile(options).reaches == (factor > 1.0));
  }
}

TEST_CASE("an array is pushed, then fetched, what delays most stands first") {
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

TEST_CASE("VGG-11 as the TBD network profiler saw it: the front layers wait behind fc6") {
  // Two machines at about 10 Gb/s, 9.6 of them delivered: set by the end of fc6's push, 245 ms. Its pull ended at 780 ms,
  // the first layer's push and pull, the last of all, at 355 and 795 ms.
  NetworkOptions options = job("vgg11", "ethernet-10g", "ps", 2);
  options.job.batch = 64;
  options.job.set = {"network.achieved=1.2 GB/s"};
  const NetworkProfile p = profile(options);
  const auto of = [&](const std::string& name) {
    const auto found = std::find_if(p.arrays.begin(), p.arrays.end(), [&](const ArrayTraffic& a) { return a.name == name; });
    REQUIRE(found != p.arrays.end());
    return *found;
  };
  const ArrayTraffic fc6 = of("fc6_weight"), first = of("conv1_1_weight");
  CHECK(std::abs(fc6.send_end.base() / 0.245 - 1.0) < 0.05);
  CHECK(std::abs(fc6.receive_end.base() / 0.780 - 1.0) < 0.15);
  CHECK(std::abs(first.send_end.base() / 0.355 - 1.0) < 0.15);
  CHECK(std::abs(first.receive_end.base() / 0.795 - 1.0) < 0.15);
  // Small arrays end the waits, but it is fc6's turn for most of them.
  CHECK(p.arrays.front().name == "fc6_weight");
  Seconds waits(0.0);
  for (const ArrayTraffic& a : p.arrays) waits += a.exposed;
  CHECK(fc6.exposed > 0.9 * waits);
  CHECK(waits < p.schedules.front().step);
  for (const ArrayTraffic& a : p.arrays) {
    CHECK(a.send_end <= std::max(first.send_end, of("conv1_1_bias").send_end));
    CHECK(a.receive_end <= std::max(first.receive_end, of("conv1_1_bias").receive_end));
  }
}

TEST_CASE("arrays are as large as what travels: half in 16 bits") {
  NetworkOptions options = job("alexnet", "ethernet-10g", "ps", 2);
  const auto largest = [&] {
    Bytes most;
    for (const ArrayTraffic& array : profile(options).arrays) most = std::max(most, array.bytes);
    return most;
  };
  const Bytes single = largest();
  options.job.precision = "fp16";
  CHECK(largest() == 0.5 * single);
}

TEST_CASE("emulated on one machine, a worker's PCIe is the network where none is named") {
  NetworkOptions pcie = job("vgg11", "", "ps", 1);
  const NetworkProfile copied = profile(pcie), slower = profile(job("vgg11", "ethernet-10g", "ps", 1));
  CHECK(copied.emulated);
  // 12 GB/s to and from the host, against 1 GB/s: all of VGG-11's 532 MB pass the link once each way.
  const auto longest_push = [](const NetworkProfile& p) {
    Seconds longest(0.0);
    for (const ArrayTraffic& array : p.arrays) longest = std::max(longest, array.send_end - array.send_start);
    return longest.base();
  };
  CHECK(longest_push(copied) == Approx(411.04e6 / 12e9).epsilon(0.02));
  CHECK(longest_push(slower) == Approx(411.04e6 / 1e9).epsilon(0.02));
  CHECK(copied.predicted.step_time.value < slower.predicted.step_time.value);
  pcie.job.set = {"hw.link.pcie.bandwidth=0.5x"};
  CHECK(longest_push(profile(pcie)) == Approx(411.04e6 / 6e9).epsilon(0.02));
}

TEST_CASE("nodes behind one file server are worth one of them") {
  NetworkOptions options = job("resnet50", "infiniband-edr", "ps");
  options.job.input = "imagenet-files";
  options.job.storage = "nfs-1g";
  options.job.workers = 8;
  const NetworkProfile p = profile(options);
  PredictOptions one = options.job;
  one.nodes = 1;
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  CHECK_THAT(p.one_node_step.base(), Catch::WithinRel(predict(*session, one).value().step_time.value.base(), 1e-9));
}

TEST_CASE("one node alone loads what its own GPUs take, as a prediction of one node does") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  NetworkOptions options;
  options.job.hardware = "dgx1";
  options.job.model = "resnet50";
  options.job.network = "infiniband-edr";
  options.job.input = "imagenet-files";
  options.job.storage = "hdd";
  PredictOptions one = options.job;
  one.nodes = 1;
  for (const int hosts : {0, 4}) {
    if (hosts > 0) options.job.input_hosts = one.input_hosts = hosts;
    const Seconds alone = predict(*session, one).value().step_time.value;
    for (const int nodes : {2, 4}) {
      INFO(nodes << " nodes, " << hosts << " other machines that prepare samples");
      options.job.nodes = nodes;
      CHECK_THAT(profile(options).one_node_step.base(), Catch::WithinRel(alone.base(), 1e-9));
    }
  }
}
