// Transfers that start together: shares and ends in closed form.
#include "model/survey/transfer_contention.hpp"

#include "model/survey/topology_survey.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

System dgx1() { return load_system({TBDSIM_SOURCE_DIR}, "dgx1").value(); }

std::string refusal(const std::vector<std::string>& names) {
  const auto transfers = shared_transfers(dgx1(), names, Bytes(1.0));
  REQUIRE_FALSE(transfers);
  std::string text;
  for (const Error& error : transfers.error()) text += error.message + "\n";
  return text;
}

}  // namespace

TEST_CASE("two copies the same way over two NVLinks: half each, and both end after twice the time") {
  // 47.88 GB/s; 100 MB alone 2.0886 ms, in both directions apart.
  const auto both = shared_transfers(dgx1(), {"gpu0", "gpu3", "gpu0", "gpu3", "gpu3", "gpu0"}, Bytes(100e6)).value();
  const double start = 9.6e-6, alone = 100e6 / 47.88e9;
  for (const std::size_t i : {0U, 1U}) {
    CHECK_THAT(both[i].share.contended.base(), WithinRel(47.88e9 / 2, 1e-9));
    CHECK_THAT(both[i].share.time.base(), WithinRel(start + 2 * alone, 1e-6));
  }
  CHECK_THAT(both[2].share.contended.base(), WithinRel(47.88e9, 1e-9));
  CHECK_THAT(both[2].share.time.base(), WithinRel(start + alone, 1e-6));
}

TEST_CASE("three staged copies across the sockets of a DGX-1 share 10 GB/s, a linked pair keeps its own") {
  const auto shares =
      shared_transfers(dgx1(), {"gpu0", "gpu5", "gpu2", "gpu7", "gpu1", "gpu6", "gpu0", "gpu1"}, Bytes(1e6)).value();
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(shares[i].share.staged);
    CHECK_THAT(shares[i].share.alone.base(), WithinRel(10e9, 1e-9));
    CHECK_THAT(shares[i].share.contended.base(), WithinRel(10e9 / 3, 1e-9));
  }
  CHECK_THAT(shares[3].share.contended.base(), WithinRel(23.94e9, 1e-9));
}

TEST_CASE("transfers that end leave their share to the others") {
  // Over the 10 GB/s between the sockets: the copy to the CPU's memory is no staged one.
  const auto shares = shared_transfers(dgx1(), {"gpu0", "gpu5", "gpu1", "gpu4", "gpu2", "gpu7"}, Bytes(100e6)).value();
  for (const SharedTransfer& transfer : shares) {
    CHECK(transfer.share.time > transfer.share.route.latency + transfer.bytes / transfer.share.alone);
    CHECK(transfer.share.time <= transfer.share.route.latency + transfer.bytes / transfer.share.contended + Seconds(1e-9));
  }
}

TEST_CASE("transfers: what cannot be") {
  CHECK(refusal({"gpu0", "gpu9", "gpux", "gpu1"}) ==
        "--route: no vertex \"gpu9\", did you mean \"gpu0\"?\n--route: no vertex \"gpux\", did you mean \"gpu0\"?\n");
  CHECK(refusal({"gpu0", "gpu0", "gpu1", "gpu2"}) == "--route: gpu0 is both ends\n");
}
