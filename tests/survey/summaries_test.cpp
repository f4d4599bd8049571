// Kernel summary, epochs, counts of a network, survey of a node: what reports show beyond the prediction itself.
#include "model/prediction/epoch.hpp"
#include "model/prediction/kernel_summary.hpp"
#include "model/survey/topology_survey.hpp"
#include "model/survey/workload_summary.hpp"
#include "model/workload/saved_tensors.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

namespace tbdsim {
namespace {

KernelTime kernel(const std::string& name, double seconds, double utilization, const char* bound = "compute") {
  KernelTime k;
  k.name = name;
  k.algorithm = "gemm";
  k.bound = bound;
  k.time = Seconds(seconds);
  k.fp32_utilization = utilization;
  k.stalls = {0.0, 1.0 - utilization, 0.0, utilization, 0.0};
  return k;
}

TEST_CASE("Kernels gather by name, longest first, with means weighted by time") {
  Prediction p;
  p.detail.kernels = {kernel("a", 1, 0.2), kernel("b", 6, 0.5), kernel("a", 3, 0.6, "memory")};
  const KernelSummary summary = summarize_kernels(p);
  REQUIRE(summary.groups.size() == 2);
  CHECK(summary.groups[0].name == "b");
  CHECK(summary.groups[1].launches == 2);
  CHECK(summary.groups[1].bound == "memory");  // of 3 of its 4 s
  CHECK_THAT(summary.groups[1].time_share, WithinRel(0.4, 1e-12));
  CHECK_THAT(summary.groups[1].fp32_utilization, WithinRel(0.5, 1e-12));  // (1 x 0.2 + 3 x 0.6) / 4
  CHECK_THAT(summary.mean_fp32_utilization, WithinRel(0.5, 1e-12));       // (0.2 + 3 + 1.8) / 10
  // Pipe busy for as much as the units are.
  CHECK_THAT(summary.groups[1].stalls[static_cast<std::size_t>(Stall::pipe_busy)], WithinRel(0.5, 1e-12));
  REQUIRE(summary.stalls.size() == kStallCount);
  CHECK_THAT(summary.stalls[0].second + summary.stalls[1].second, WithinRel(1.0, 1e-12));
}

TEST_CASE("A kernel of exactly the mean utilisation is not below it, each list holds five") {
  Prediction p;
  for (int i = 0; i < 6; ++i) p.detail.kernels.push_back(kernel("low" + std::to_string(i), 1, 0.25));
  for (int i = 0; i < 6; ++i) p.detail.kernels.push_back(kernel("high" + std::to_string(i), 1, 0.75));
  p.detail.kernels.push_back(kernel("mean", 2, 0.5));
  const KernelSummary summary = summarize_kernels(p);
  REQUIRE(summary.mean_fp32_utilization == 0.5);
  CHECK(summary.long_below_mean.size() == 5);
  REQUIRE(summary.long_above_mean.size() == 5);
  CHECK(summary.groups[summary.long_above_mean.front()].name == "mean");
}

TEST_CASE("No kernels, no shares") {
  const KernelSummary summary = summarize_kernels(Prediction());
  CHECK(summary.groups.empty());
  CHECK(summary.mean_fp32_utilization == 0.0);
}

TEST_CASE("An epoch is the start-up and whole steps, further ones of a run have no start-up") {
  Prediction p;
  p.job.global_batch = 256;
  p.start_up = Seconds(10.0);
  p.step_time = {Seconds(0.1), Seconds(0.08), Seconds(0.12)};
  CHECK(estimate_epochs(p, 256, 1).steps == 1);
  CHECK(estimate_epochs(p, 257, 1).steps == 2);
  const EpochEstimate e = estimate_epochs(p, 2560, 3);
  CHECK(e.start_up == Seconds(10.0));
  CHECK_THAT(e.epoch.value.base(), WithinRel(11.0, 1e-12));
  CHECK_THAT(e.epoch.high.base(), WithinRel(11.2, 1e-12));
  CHECK_THAT(e.total.value.base(), WithinRel(13.0, 1e-12));
  CHECK_THAT(e.total.low.base(), WithinRel(12.4, 1e-12));
  CHECK_FALSE(e.cost);
  p.cost.hour = Usd(36.0);
  CHECK_THAT(estimate_epochs(p, 2560, 3).cost->base(), WithinRel(0.13, 1e-12));
}

TEST_CASE("Layers of every catalogued network add up to the network") {
  for (const ZooEntry& entry : zoo()) {
    INFO(entry.name << '@' << entry.variant);
    const auto graph = entry.build(entry, {});
    REQUIRE(graph);
    const WorkloadSummary summary = summarize_workload(*graph);
    std::int64_t parameters = 0, forward = 0, backward = 0;
    Bytes saved;
    for (const LayerCounts& layer : summary.layers) {
      parameters += layer.parameters;
      forward += layer.macs.forward;
      backward += layer.macs.backward;
      saved += layer.saved;
    }
    CHECK(parameters == summary.parameters);
    CHECK(forward == summary.macs.forward);
    CHECK(backward == summary.macs.backward);
    CHECK(saved == summary.saved_per_sample);
  }
}

System dgx1() {
  auto system = load_system({TBDSIM_SOURCE_DIR}, "dgx1");
  REQUIRE(system);
  return *system;
}

TEST_CASE("Survey of the cube mesh: 32 of 56 ordered pairs are linked") {
  const auto surveyed = survey(dgx1(), {0, 1, 2, 3, 4, 5, 6, 7}, {});
  REQUIRE(surveyed);
  CHECK(surveyed->peer_pairs == 32);
  CHECK(surveyed->pairs[0][3].nvlinks == 2);
  CHECK(surveyed->relays[0][7] == std::vector<std::string>{"gpu3", "gpu4"});
  CHECK(surveyed->ring_orders.size() == 6);
  CHECK_THAT(surveyed->ring_bandwidth.base(), WithinRel(6 * surveyed->rings.bandwidth.base(), 1e-12));
}

TEST_CASE("Survey refuses GPUs that a node lacks, repeats and nothing") {
  const System system = dgx1();
  CHECK(survey(system, {0, 7}, {}));
  CHECK(survey(system, {0, 8}, {}).error().front().message == "--devices 8: dgx1 has GPUs 0..7");
  CHECK(survey(system, {1, 1}, {}).error().front().message == "--devices names GPU 1 twice");
  CHECK(survey(system, {}, {}).error().front().message == "dgx1: no GPUs chosen");
}

TEST_CASE("A transfer takes the latency and its bytes over the narrowest link, no bytes still cost the latency") {
  const System system = dgx1();
  const auto linked = transfer_ways(system, "gpu0", "gpu3", Bytes(1e9));
  REQUIRE(linked);
  REQUIRE(linked->size() == 2);  // the relayed way of linked GPUs is the direct one
  CHECK(linked->front().via == "direct");
  CHECK(linked->back().via == "host");
  const auto none = transfer_ways(system, "gpu0", "gpu5", Bytes(0.0));
  REQUIRE(none);
  CHECK(none->front().via == "relay");
  CHECK(none->front().time == none->front().latency);
  const auto some = transfer_ways(system, "gpu0", "gpu5", Bytes(1e9));
  REQUIRE(some);
  CHECK_THAT((some->front().time - some->front().latency).base(), WithinRel(1e9 / some->front().bandwidth.base(), 1e-9));
  // Between the sockets GPUs are no peers: through host memory at the 10 GB/s measured there; alone as among others.
  CHECK_THAT(some->back().bandwidth.base(), WithinRel(10e9, 1e-9));
  CHECK(some->back().bandwidth == shared_transfers(system, {"gpu0", "gpu5", "gpu1", "gpu2"}, Bytes(1.0))->front().share.alone);
  CHECK_THAT(transfer_ways(system, "gpu0", "cpu1", Bytes(1e9))->front().bandwidth.base(), WithinRel(10e9, 1e-9));
}

TEST_CASE("Transfers between what does not exist or is the same are refused, each end told") {
  const System system = dgx1();
  const auto neither = transfer_ways(system, "gpu8", "pcie_swich1", Bytes(1.0));
  REQUIRE_FALSE(neither);
  REQUIRE(neither.error().size() == 2);
  CHECK(neither.error()[0].message == "--route: no vertex \"gpu8\", did you mean \"gpu0\"?");
  CHECK(neither.error()[1].message == "--route: no vertex \"pcie_swich1\", did you mean \"pcie_switch1\"?");
  CHECK(transfer_ways(system, "gpu1", "gpu1", Bytes(1.0)).error().front().message == "--route: gpu1 is both ends");
}

}  // namespace
}  // namespace tbdsim
