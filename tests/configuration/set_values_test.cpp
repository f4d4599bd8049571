#include "model/configuration/set_values.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"

#include <algorithm>

#include "model/configuration/configure.hpp"
#include "model/configuration/what_if.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

PredictOptions two_of_dgx1(std::vector<std::string> set) {
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "resnet50";
  options.gpus = 2;
  options.batch = 16;
  options.set = std::move(set);
  return options;
}

Configuration configured(std::vector<std::string> set) {
  const auto session = open_session(kCatalogue);
  auto configuration = configure(*session, two_of_dgx1(std::move(set)));
  INFO((configuration ? "" : to_text(configuration.error())));
  REQUIRE(configuration);
  return std::move(*configuration);
}

DocumentRecord document(std::string role, std::vector<DocumentLeaf> leaves, std::vector<std::string> tables) {
  return {std::move(role), "", std::move(leaves), std::move(tables)};
}

}  // namespace

TEST_CASE("a value of every kind of input file can be set") {
  const Configuration plain = configured({});
  const Configuration edited = configured({"hw.device.memory_bandwidth=1800GB/s", "hw.link.nvlink.bandwidth=0.5x",
                                           "hw.host.cores=7", "hw.network.latency=3 us", "stack.host.dispatch=1 us",
                                           "hw.kernels.gemm.fp32.reread=2x", "parallel.batch=3x", "parallel.precision=amp"});
  CHECK(edited.hardware().device.memory_bandwidth == BytesPerSecond(1800e9));
  CHECK(edited.hardware().host.cores == 7);
  CHECK(edited.network->latency == Seconds(3e-6));
  CHECK(edited.stack.host.dispatch == Seconds(1e-6));
  CHECK(edited.batch == 48);
  CHECK(edited.precision == Precision::amp);
  // Achieved figures keep their share of the nominal one.
  const LinkBundle& before = plain.hardware().topology.links.front();
  const LinkBundle& after = edited.hardware().topology.links.front();
  CHECK(after.bandwidth.base() == 0.5 * before.bandwidth.base());
  CHECK(after.sm_copy.base() - 0.5 * before.sm_copy.base() == 0.0);
  CHECK(edited.set.size() == 8);
  CHECK(edited.notices.at(1) == "hw.link.nvlink.bandwidth: \"25 GB/s\" becomes \"12.5 GB/s\"; achieved, sm_copy in proportion");
}

TEST_CASE("a value set to what it was changes nothing, and a later prediction knows nothing of an earlier change") {
  const auto session = open_session(kCatalogue);
  const auto plain = predict(*session, two_of_dgx1({}));
  const auto slower = predict(*session, two_of_dgx1({"memory_bandwidth=0.5x"}));
  const auto same = predict(*session, two_of_dgx1({"memory_bandwidth=1x"}));
  const auto again = predict(*session, two_of_dgx1({}));
  REQUIRE(plain);
  CHECK(slower->step_time.value > plain->step_time.value);
  CHECK(same->step_time.value == plain->step_time.value);
  CHECK(again->step_time.value == plain->step_time.value);
}

TEST_CASE("a value set to what it was is not told") {
  CHECK(configured({"memory_bandwidth=1x", "parallel.batch=1x"}).notices == configured({}).notices);
  PredictOptions options = two_of_dgx1({"stack.update.kind=multi_tensor", "stack.update.kernels_per_array=1"});
  options.model = "bert-base";
  options.optimizer = "bert-adam";
  options.attention = "unfused";
  const auto session = open_session(kCatalogue);
  const auto fused = configure(*session, options);
  REQUIRE(fused);
  REQUIRE(fused->notices.size() == 1);
  CHECK(fused->notices.front() == "stack.update.kernels_per_array: 4 becomes 1");
}

TEST_CASE("a named change that sets what stands already says that it has no effect") {
  PredictOptions options = two_of_dgx1({"network.rdma=true"});
  options.gpus = 4;
  options.nodes = 4;
  const auto session = open_session(kCatalogue);
  const auto infiniband = configure(*session, options);
  REQUIRE(infiniband);
  const std::string told = "--set network.rdma=true: without effect, since it is true already";
  CHECK(std::count(infiniband->notices.begin(), infiniband->notices.end(), told) == 1);
  CHECK_FALSE(is_no_effect_notice(told));
  options.network = "10gbe";
  const auto ethernet = configure(*session, options);
  REQUIRE(ethernet);
  CHECK(std::count(ethernet->notices.begin(), ethernet->notices.end(), told) == 0);
}

TEST_CASE("an achieved figure that is set as well is left as it was set") {
  const Configuration edited = configured({"hw.link.nvlink.bandwidth=2x", "hw.link.nvlink.sm_copy=30 GB/s"});
  CHECK(edited.hardware().topology.links.front().sm_copy == BytesPerSecond(30e9));
  CHECK(edited.hardware().topology.links.front().achieved == BytesPerSecond(47.88e9));
}

TEST_CASE("what is set of a part counts over what the machine's file says of it") {
  const auto memory = [](std::vector<std::string> set) {
    return configured(std::move(set)).hardware().host.memory_capacity.value();
  };
  CHECK(memory({}) == Bytes(512e9));
  CHECK(memory({"hw.host.memory_capacity=64 GB"}) == Bytes(64e9));
  CHECK(memory({"hw.host_memory=32 GB"}) == Bytes(32e9));
  CHECK(memory({"hw.host_memory=32 GB", "hw.host.memory_capacity=64 GB"}) == Bytes(32e9));

  const auto clock = [](std::vector<std::string> set) {
    PredictOptions options = two_of_dgx1(std::move(set));
    options.hardware = "aws-p3.16xlarge";
    const auto session = open_session(kCatalogue);
    const auto configuration = configure(*session, options);
    REQUIRE(configuration);
    return configuration->hardware().device.sustained_clock.value();
  };
  CHECK(clock({}) == Hertz(1312e6));
  CHECK(clock({"hw.device.sustained_clock=1000 MHz"}) == Hertz(1000e6));
  CHECK(clock({"hw.sustained_clock=1100 MHz"}) == Hertz(1100e6));
}

TEST_CASE("elements of arrays go by index or by name") {
  PredictOptions options;
  options.hardware = "p4000";
  options.model = TBDSIM_SOURCE_DIR "/tests/data/networks/small_cnn.toml";
  options.set = {"layer.conv1.kernel=5", "model.layer[0].pad=2"};
  const auto session = open_session(kCatalogue);
  const auto configuration = configure(*session, options);
  INFO((configuration ? "" : to_text(configuration.error())));
  REQUIRE(configuration);
  CHECK(configuration->notices.front() == "model.layer[0].kernel: 3 becomes 5");
}

TEST_CASE("a key means the one value whose path ends so") {
  const std::vector<DocumentRecord> documents{
      document("hw", {{"link.a.bandwidth", "", "1 GB/s", true}, {"gpus", "", "8", false}}, {"", "link", "link.a"}),
      document("hw.device", {{"bandwidth", "", "2 GB/s", true}}, {""})};
  const auto key = [&](const std::string& set) {
    const auto resolved = resolve_values({set}, documents, {});
    return resolved.errors.empty() ? resolved.changes.front().key + " = " + resolved.changes.front().literal
                                   : to_text(resolved.errors);
  };
  CHECK(key("hw.device.bandwidth=3x") == "hw.device.bandwidth = \"6 GB/s\"");
  CHECK(key("a.bandwidth=5 GB/s") == "hw.link.a.bandwidth = \"5 GB/s\"");
  CHECK(key("hw.gpus=0.5x") == "hw.gpus = 4");
  CHECK(key("hw.link.a.latency=1 us") == "hw.link.a.latency = \"1 us\"");
  // No file could hold these, and nothing would be changed.
  CHECK(key("a.bandwidth=\x1b[31m") == "--set:1:1: a.bandwidth: expected a value in printable UTF-8, got \"\\x1b[31m\"\n");
  CHECK(key("a.bandwidth=\xff") == "--set:1:1: a.bandwidth: expected a value in printable UTF-8, got \"\\xff\"\n");
  CHECK(key("hw.bandwidth=3x") ==
        "--set:1:1: hw.bandwidth: fits 2 values: hw.link.a.bandwidth, hw.device.bandwidth\n"
        "   1 | hw.bandwidth=3x\n     | ^~~~~~~~~~~~\n");
}

TEST_CASE("a factor multiplies what assignments before it have set") {
  const Device plain = configured({}).hardware().device;
  CHECK(configured({"hw.device.memory_bandwidth=3x", "hw.device.memory_bandwidth=2x"}).hardware().device.memory_bandwidth ==
        6.0 * plain.memory_bandwidth);
  const Configuration stated = configured({"hw.device.memory_bandwidth=1.2 TB/s", "hw.device.memory_bandwidth=2x"});
  CHECK(stated.hardware().device.memory_bandwidth == BytesPerSecond(2.4e12));
  CHECK(stated.notices[1] == "hw.device.memory_bandwidth: \"1.2 TB/s\" becomes \"2.4 TB/s\"");
  CHECK(configured({"hw.device.boost_clock=2x", "hw.device.boost_clock=2x"}).hardware().device.peak.fp32 ==
        4.0 * plain.peak.fp32);
  CHECK(configured({"parallel.batch=16", "parallel.batch=2x"}).batch == 32);
  CHECK(configured({"parallel.batch=2x", "parallel.batch=0.5x"}).batch == configured({}).batch);
}

TEST_CASE("a changed latency of links is told to be without effect where collectives are all that travels") {
  const auto told = [](const std::string& exchange, int gpus) {
    PredictOptions options = two_of_dgx1({"hw.link.nvlink.latency=10x"});
    options.gpus = gpus;
    options.exchange = exchange;
    const Configuration c = configure(*open_session(kCatalogue), options).value();
    return std::count(c.notices.begin(), c.notices.end(),
                      "--set hw.link.nvlink.latency=10x: without effect, since it is the start of a copy; collectives go by the "
                      "steps of hardware/nccl.toml");
  };
  CHECK(told("", 2) == 1);
  CHECK(told("", 1) == 0);
  CHECK(told("dataparallel", 2) == 0);
}

TEST_CASE("a changed network that joins no nodes is told to be without effect, once an assignment") {
  const std::string notice = one_node_notice("--set network.bandwidth=2x");  // `achieved` follows it
  const auto told = [&](const Configuration& c) { return std::count(c.notices.begin(), c.notices.end(), notice); };
  CHECK(told(configured({"network.bandwidth=2x", "memory_bandwidth=2x"})) == 1);
  PredictOptions nodes = two_of_dgx1({"network.bandwidth=2x"});
  nodes.nodes = 2;
  CHECK(told(configure(*open_session(kCatalogue), nodes).value()) == 0);
}

TEST_CASE("peak rates follow the boost clock that they are rates at, unless they are set as well") {
  const Device plain = configured({}).hardware().device;
  const Device faster = configured({"hw.device.boost_clock=2x"}).hardware().device;
  CHECK(faster.peak.fp32 == 2.0 * plain.peak.fp32);
  CHECK(*faster.peak.fp16_tensor == 2.0 * *plain.peak.fp16_tensor);
  CHECK(faster.memory_bandwidth == plain.memory_bandwidth);
  const Configuration own = configured({"hw.device.boost_clock=3060 MHz", "hw.device.peak_fp32=20 TFLOP/s"});
  CHECK(own.hardware().device.peak.fp32 == FlopPerSecond(20e12));
  CHECK(*own.hardware().device.peak.fp16_tensor == 2.0 * *plain.peak.fp16_tensor);
  CHECK(own.notices.front() ==
        "hw.device.boost_clock: \"1530 MHz\" becomes \"3060 MHz\"; peak_fp16_tensor, peak_fp16_vector, peak_fp64 in proportion");
}

TEST_CASE("a network that gets RDMA has its latency and share of the line rate, one that has it stays as it is") {
  const auto on = [&](const std::string& name, std::vector<std::string> set) {
    PredictOptions options = two_of_dgx1(std::move(set));
    options.gpus.reset();
    options.nodes = 2;
    options.network = name;
    const auto configuration = configure(*open_session(kCatalogue), options);
    REQUIRE(configuration);
    return configuration->network.value();
  };
  const Network roce = on("ethernet-100g", {"network.rdma=true"});
  CHECK(roce.latency == Seconds(0.5e-6));
  CHECK(roce.transport == "rdma");
  CHECK_THAT(roce.achieved.base(), Catch::Matchers::WithinRel(0.976 * 12.5e9, 1e-12));
  CHECK_THAT(on("ethernet-100g", {"network.bandwidth=2x", "network.rdma=true"}).achieved.base(),
             Catch::Matchers::WithinRel(0.976 * 25e9, 1e-12));
  CHECK(on("ethernet-100g", {"network.rdma=true", "network.latency=3 us"}).latency == Seconds(3e-6));
  // Programs that speak TCP have what they had.
  CHECK(on("ethernet-10g", {"network.rdma=true"}).tcp == BytesPerSecond(1e9));
  CHECK_THAT(on("ethernet-10g", {"network.rdma=true"}).tcp_latency.base(), Catch::Matchers::WithinRel(60e-6, 1e-12));
  CHECK_THAT(on("ethernet-10g", {"network.bandwidth=2x", "network.rdma=true"}).tcp.base(),
             Catch::Matchers::WithinRel(2e9, 1e-12));
  CHECK(on("ethernet-10g", {"network.rdma=true", "network.tcp=1.1 GB/s"}).tcp == BytesPerSecond(1.1e9));
  CHECK(on("efa-200g", {"network.rdma=true"}).transport == "rdma");
  const Network before = on("infiniband-ndr", {}), after = on("infiniband-ndr", {"network.rdma=true"});
  CHECK(after.latency == before.latency);
  CHECK(after.achieved == before.achieved);
}

TEST_CASE("keys of the network mean the one that joins the nodes, and ports stay what they were under RDMA") {
  const auto on = [](const std::string& network, std::vector<std::string> set) {
    PredictOptions options = two_of_dgx1(std::move(set));
    options.gpus.reset();
    options.nodes = 2;
    options.network = network;
    return configure(*open_session(kCatalogue), options);
  };
  const auto refused = on("ethernet-10g", {"hw.network.bandwidth=2x"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().front().message == "hw.network.bandwidth: the job's network is ethernet-10g: use network.bandwidth");
  // A short key means it, too.
  CHECK(on("ethernet-10g", {"network.bandwidth=2x"})->network->bandwidth == BytesPerSecond(2.5e9));
  CHECK(on("", {"hw.network.latency=3 us"})->network->latency == Seconds(3e-6));
  for (const char* network : {"ethernet-10g", "ethernet-100g", "ethernet-100g-roce", "efa-100g", "infiniband-edr", ""}) {
    INFO(network);
    const Configuration before = on(network, {}).value();
    const int ports = node_ports(before.hardware(), *before.network);
    for (const char* change : {"network.rdma=true", "network.rdma=false"}) {
      const Configuration after = on(network, {change}).value();
      CHECK(node_ports(after.hardware(), *after.network) == ports);
    }
  }
}

TEST_CASE("an assignment that leaves nothing of an earlier one contradicts it") {
  CHECK(contradiction({}, "a=1").empty());
  CHECK(contradiction({"a=1"}, "a=1").empty());
  CHECK(contradiction({"a=1"}, "b=2").empty());
  CHECK(contradiction({"a=1"}, "a=2x").empty());  // of what was set
  CHECK(contradiction({"a=2x"}, "a=2x").empty());
  CHECK(contradiction({"a=1"}, "a=2") == "a=2 contradicts a=1; give one of them");
  CHECK(contradiction({"a=2x"}, "a=2") == "a=2 contradicts a=2x; give one of them");
  CHECK(contradiction({"a=2x"}, "a?=0.5x") == "a?=0.5x undoes a=2x; give one of them");
  // Named changes that exclude each other, and some that add up.
  const auto both = [](const char* first, const char* second) {
    const auto before = find_what_if(first), after = find_what_if(second);
    for (const std::string& change : after->set)
      if (std::string found = contradiction(before->set, change); !found.empty()) return found;
    return std::string();
  };
  CHECK(
      both("overlap", "no-overlap") ==
      "stack.exchange.overlaps_backward=false (no-overlap) contradicts stack.exchange.overlaps_backward=true (overlap); give one "
      "of them");
  CHECK_FALSE(both("cpu-2x", "cpu-half").empty());
  CHECK_FALSE(both("batch-2x", "batch-half").empty());
  CHECK_FALSE(both("samples-on-nvme", "samples-in-memory").empty());
  CHECK(both("cpu-2x", "host-2x").empty());
  CHECK(both("amp", "nvlink-2x").empty());
}

TEST_CASE("a bare number may stand for a share that the file writes in percent") {
  const std::vector<DocumentRecord> documents{
      document("operations", {{"sustained[0].share", "", "76 %", true}, {"restart.time", "", "12 min", true}}, {"restart"})};
  const auto literal = [&](const std::string& set) {
    const auto resolved = resolve_values({set}, documents, {});
    REQUIRE(resolved.changes.size() == 1);
    return resolved.changes.front().literal;
  };
  CHECK(literal("operations.sustained[0].share=0.9") == "0.9");
  CHECK(literal("operations.sustained[0].share=80 %") == "\"80 %\"");
  CHECK(literal("operations.sustained[0].share=0.5x") == "\"38 %\"");
  CHECK(literal("operations.restart.time=9") == "\"9\"");
}
