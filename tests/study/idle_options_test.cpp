// Options without effect: what a notice says of them, and how a study tells them once.
#include "model/study/idle_options.hpp"

#include "model/configuration/network_notices.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

using Texts = std::vector<std::string>;

constexpr const char* kTcp = "--set network.rdma=true: without effect, since the servers of --exchange ps speak TCP";

}  // namespace

TEST_CASE("a notice of an option without effect names option, value and reason") {
  const auto network = idle_option(one_node_notice("network ethernet-10g"));
  REQUIRE(network);
  CHECK(network->name == "network");
  CHECK(network->value == "ethernet-10g");
  CHECK(network->reason == ": without effect, since the job runs on one node; use --nodes, such as --nodes 2");
  const auto zero = idle_option(one_copy_notice(1));
  REQUIRE(zero);
  CHECK(zero->name == "--zero");
  CHECK(zero->value == "1");
  CHECK(zero->reason == ": there is one copy of the network, and nothing to shard over it");
  const auto stood = idle_option(stood_notice("network.rdma=true", "true"));
  REQUIRE(stood);
  CHECK(stood->name == "--set");
  CHECK(stood->value == "network.rdma=true");
  CHECK_FALSE(idle_option("no samples stand behind attention on this GPU's tensor cores"));
  CHECK_FALSE(idle_option(""));
}

TEST_CASE("what is without effect in every prediction is told as one of them says it, with all values") {
  IdleOptions idle;
  idle.add({one_node_notice("network a"), "another notice"});
  idle.add({one_node_notice("network b"), kTcp, kTcp});
  CHECK(idle.notices("rows") == Texts{one_node_notice("network a, b"), std::string(kTcp) + " (1 of 2 rows)"});
}

TEST_CASE("what is without effect in some predictions is told once, with their number") {
  IdleOptions idle;
  CHECK(idle.notices("candidates").empty());
  for (const char* network : {"a", "b", "c", "d", "e", "f", "g"}) {
    idle.add({one_node_notice(std::string("network ") + network)});
    idle.add({});
  }
  CHECK(idle.notices("candidates") == Texts{one_node_notice("network a, b, c, d, e and 2 more") + " (7 of 14 candidates)"});
}
