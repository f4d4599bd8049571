// Collectives behind a switch: how the library plans, closed forms, and what holds for every call.
#include "model/cost/switched_collective.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::WithinRel;

namespace {

constexpr double kMiB = 1048576.0;

NcclLibrary library() { return load_nccl(TBDSIM_SOURCE_DIR, "2.29").value(); }

/// Round numbers, near Hopper's.
NcclSwitched round_costs() {
  NcclSwitched costs;
  costs.architecture = "Round";
  costs.planned_link = 20.0_GBps;
  costs.speeds = {40.0_GBps, 20.0_GBps};
  costs.planned_ll = 100.0_GBps;
  costs.base = 5.0_us;
  costs.start = {0.0_us, 7.0_us, 2.0_us};
  costs.step = {0.6_us, 1.0_us, 3.0_us};
  costs.ll_slice = 16.0_GBps;
  costs.ll_lag = 2.0;
  costs.efficiency = 0.8;
  costs.ll_share = 0.7;
  costs.drain = {0.75, 0.75, 0.75};
  costs.pairs = {1.3_us, 0.3_us, 4.5_us, 6.0_GBps, 0.7, 0.2, 0.1, Bytes(8.0 * kMiB)};
  costs.reduction = NcclSwitchedReduction{5, 0.85, 25.0_us, 10.0_us, 0.65, 50.0_us, Bytes(32.0 * kMiB)};
  return costs;
}

SwitchedGroup group(int ranks) { return {ranks, 450.0_GBps, 18.0, 1.0, {}}; }

const SwitchedMethod& way(const std::vector<SwitchedMethod>& ways, CollectiveAlgorithm algorithm, Protocol protocol) {
  for (const SwitchedMethod& one : ways) {
    if (one.algorithm == algorithm && one.protocol == protocol) return one;
  }
  FAIL("no such way");
  return ways.front();
}

double us(const SwitchedMethod& one, double bytes) { return paced_time(one.call, Bytes(bytes)).base() * 1e6; }

struct Box {
  const char* architecture;
  BytesPerSecond port;
  double links;
};
constexpr Box kBoxes[] = {
    {"Ampere", BytesPerSecond(300e9), 12}, {"Hopper", BytesPerSecond(450e9), 18}, {"Blackwell", BytesPerSecond(900e9), 18}};

std::vector<SwitchedMethod> ways_of(const NcclLibrary& nccl, const Box& box, int ranks, CollectiveKind kind, double pace = 1.0) {
  return switched_methods(*switched_costs(nccl, box.architecture), nccl.release, {ranks, box.port, box.links, pace, {}}, kind);
}

}  // namespace

TEST_CASE("channels of the plan: Ampere 12 x 20, Hopper 12 x 30, Blackwell 16 x 45 GB/s") {
  const NcclLibrary nccl = library();
  const auto planned = [&](const char* architecture, double links) {
    const PlannedChannels found = planned_channels(*switched_costs(nccl, architecture), links);
    return std::pair{found.count, found.rate.base() / 1e9};
  };
  CHECK(planned("Ampere", 12) == std::pair{12, 20.0});
  CHECK(planned("Hopper", 18) == std::pair{12, 30.0});
  CHECK(planned("Blackwell", 18) == std::pair{16, 45.0});
  // Eight of Hopper's links (H800): 164.8 GB/s, of which 3 x 50 are beaten by 4 x 40, which are too few to be kept whole.
  CHECK(planned("Hopper", 8) == std::pair{8, 20.0});
}

TEST_CASE("first size of each method, as the sweeps of A100 and H100 show their steps") {
  const NcclLibrary nccl = library();
  struct Row {
    const Box& box;
    CollectiveKind kind;
    int ranks;
    double ll128, simple, nvls;  // MiB; 0: never
  };
  for (const Row& row :
       {Row{kBoxes[0], CollectiveKind::all_reduce, 2, 0, 1, 0}, Row{kBoxes[0], CollectiveKind::all_reduce, 4, 2, 8, 0},
        Row{kBoxes[0], CollectiveKind::all_reduce, 8, 4, 32, 0}, Row{kBoxes[0], CollectiveKind::all_gather, 2, 0, 2, 0},
        Row{kBoxes[0], CollectiveKind::all_gather, 4, 0, 2, 0}, Row{kBoxes[0], CollectiveKind::all_gather, 8, 4, 16, 0},
        Row{kBoxes[1], CollectiveKind::all_reduce, 2, 0, 2, 0}, Row{kBoxes[1], CollectiveKind::all_reduce, 4, 4, 16, 0},
        Row{kBoxes[1], CollectiveKind::all_reduce, 8, 0, 0, 2}, Row{kBoxes[1], CollectiveKind::all_gather, 2, 0, 4, 0},
        Row{kBoxes[1], CollectiveKind::all_gather, 4, 0, 4, 0}, Row{kBoxes[1], CollectiveKind::all_gather, 8, 8, 32, 0},
        Row{kBoxes[2], CollectiveKind::all_gather, 8, 0, 16, 0}, Row{kBoxes[2], CollectiveKind::all_reduce, 4, 0, 8, 0}}) {
    INFO(row.box.architecture << " " << name(row.kind) << " " << row.ranks);
    const auto ways = ways_of(nccl, row.box, row.ranks, row.kind);
    double ll128 = 0, simple = 0, nvls = 0;
    for (double mib = 1.0 / 2048; mib <= 512; mib *= 2) {
      const SwitchedMethod& taken = chosen(ways, Bytes(mib * kMiB));
      double& first = taken.algorithm == CollectiveAlgorithm::nvls ? nvls : taken.protocol == Protocol::ll128 ? ll128 : simple;
      if (taken.protocol != Protocol::ll && first == 0) first = mib;
      if (taken.algorithm == CollectiveAlgorithm::nvls && nvls == 0) nvls = mib;
    }
    CHECK(ll128 == row.ll128);
    CHECK(simple == row.simple);
    CHECK(nvls == row.nvls);
  }
}

TEST_CASE("closed forms with round constants") {
  const NcclLibrary nccl = library();
  const NcclSwitched costs = round_costs();
  // Simple, all-gather over 8: 5 + 2 + 7 x 3 us, 7/8 of 576 MiB at 360 GB/s, and of a loop of 24 x 8 x 2 MiB one whole and one
  // half: 0.75 MiB x 20 channels over 360 GB/s, times 1 + sqrt(1/2). 18 links at 20 GB/s are 9 channels of 40, split in 18: 36
  // run.
  const auto gather = switched_methods(costs, nccl.release, group(8), CollectiveKind::all_gather);
  const double loop = 36.0 * 8.0 * 2.0 * kMiB, drain = 0.75 * kMiB * 36.0 / 360e9 * 1e6;
  CHECK_THAT(us(way(gather, CollectiveAlgorithm::ring, Protocol::simple), 1.5 * loop),
             WithinRel(28.0 + 0.875 * 1.5 * loop / 360e9 * 1e6 + drain * (1.0 + std::sqrt(0.5)), 1e-12));
  // LL, all-reduce of 16 KiB over 2: 5 + 2 x 0.6 us, two slices of 4 KiB at 16 GB/s, and 2 + 2 halves at 0.7 x 360 GB/s.
  const auto reduce = switched_methods(costs, nccl.release, group(2), CollectiveKind::all_reduce);
  CHECK_THAT(us(way(reduce, CollectiveAlgorithm::ring, Protocol::ll), 16384), WithinRel(6.842031746031746, 1e-9));
  // In the switch, 64 MiB over 8: 5 + 10 us, 9/8 of the message at 0.65 x 450 GB/s, the whole ramp.
  const auto eight = switched_methods(costs, nccl.release, group(8), CollectiveKind::all_reduce);
  CHECK_THAT(us(way(eight, CollectiveAlgorithm::nvls, Protocol::simple), 64 * kMiB), WithinRel(323.11101538461537, 1e-9));
  // All-to-all of 16 MiB over 4, Simple: 5 + 1.3 + 2 x 0.3 + 4.5 us, 3.2 parts of 4 MiB at 315 GB/s, half of the drain's square.
  const auto pairs = switched_methods(costs, nccl.release, group(4), CollectiveKind::all_to_all);
  CHECK_THAT(us(way(pairs, CollectiveAlgorithm::pairwise, Protocol::simple), 16 * kMiB), WithinRel(61.54104584319456, 1e-9));
  // Send and receive, LL: 5 us and the message at 6 GB/s.
  const auto send = switched_methods(costs, nccl.release, group(4), CollectiveKind::send_receive);
  CHECK_THAT(us(way(send, CollectiveAlgorithm::pairwise, Protocol::ll), 6e3), WithinRel(6.0, 1e-12));
}

TEST_CASE("no message is faster than its bytes on a port, and NVLS needs enough GPUs") {
  const NcclLibrary nccl = library();
  for (const Box& box : kBoxes) {
    for (const CollectiveFacts& fact : collective_facts()) {
      for (const int ranks : {2, 3, 4, 5, 8}) {
        const auto ways = ways_of(nccl, box, ranks, fact.kind);
        INFO(box.architecture << " " << fact.name << " " << ranks);
        for (const SwitchedMethod& one : ways) {
          // Reduction in the switch moves the message once and a part of the result.
          const double share = one.algorithm == CollectiveAlgorithm::nvls ? 1.0 + 1.0 / ranks : sent_share(fact.kind, ranks);
          for (double bytes = 512; bytes < 1e10; bytes *= 4)
            CHECK(paced_time(one.call, Bytes(bytes)) > share * Bytes(bytes) / box.port);
          CHECK(one.call.most_channels >= 1);
          CHECK(channels_in_use(one.call, Bytes(0.0)) >= 1);
          CHECK(channels_in_use(one.call, Bytes(1e10)) == one.call.most_channels);
        }
        const bool has =
            std::any_of(ways.begin(), ways.end(), [](const auto& w) { return w.algorithm == CollectiveAlgorithm::nvls; });
        const int fewest = std::string(box.architecture) == "Hopper" ? 5 : std::string(box.architecture) == "Blackwell" ? 6 : 99;
        CHECK(has == (fact.kind == CollectiveKind::all_reduce && ranks >= fewest));
      }
    }
  }
}

TEST_CASE("a rack reduces in its switches whatever its GPUs: the message once, and a part of at least a 32nd") {
  const NcclLibrary nccl = library();
  const double bytes = 64 * kMiB, rate = switched_costs(nccl, "Blackwell")->reduction->efficiency * kBoxes[2].port.base();
  Seconds before(1.0);
  for (int ranks = 8; ranks <= 72; ++ranks) {
    INFO(ranks);
    const auto ways = ways_of(nccl, kBoxes[2], ranks, CollectiveKind::all_reduce);
    const SwitchedMethod& taken = chosen(ways, Bytes(bytes));
    CHECK(taken.algorithm == CollectiveAlgorithm::nvls);
    CHECK_THAT(taken.call.rate.base(), WithinRel(rate / (1.0 + 1.0 / std::min(ranks, 32)), 1e-12));
    CHECK(paced_time(taken.call, Bytes(bytes)) <= before);
    before = paced_time(taken.call, Bytes(bytes));
  }
}

TEST_CASE("what passes all ranks whole goes by one protocol whatever their number, and never faster to more") {
  const NcclLibrary nccl = library();
  for (const Box& box : kBoxes)
    for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce})
      for (double bytes = 1024; bytes <= 1e9; bytes *= 2) {
        INFO(box.architecture << " " << name(kind) << " " << bytes);
        const auto two = ways_of(nccl, box, 2, kind);
        const Protocol protocol = chosen(two, Bytes(bytes)).protocol;
        Seconds before(0.0);
        for (int ranks = 2; ranks <= 8; ++ranks) {
          const auto ways = ways_of(nccl, box, ranks, kind);
          const SwitchedMethod& taken = chosen(ways, Bytes(bytes));
          CHECK(taken.protocol == protocol);
          CHECK(paced_time(taken.call, Bytes(bytes)) >= before);
          before = paced_time(taken.call, Bytes(bytes));
        }
      }
}

TEST_CASE("a bigger message is never faster, more bandwidth never slower, a longer pace never faster") {
  const NcclLibrary nccl = library();
  for (const Box& box : kBoxes) {
    for (const CollectiveFacts& fact : collective_facts()) {
      for (const int ranks : {2, 4, 8}) {
        INFO(box.architecture << " " << fact.name << " " << ranks);
        const auto ways = ways_of(nccl, box, ranks, fact.kind);
        const auto wider = ways_of(nccl, {box.architecture, 2.0 * box.port, box.links}, ranks, fact.kind);
        const auto slower = ways_of(nccl, box, ranks, fact.kind, 1.5);
        // Overall over doublings: within one, the library's own choice may lose up to a tenth.
        Seconds before(0.0);
        for (double bytes = 512; bytes <= 8e9; bytes *= 2) {
          const Seconds time = paced_time(chosen(ways, Bytes(bytes)).call, Bytes(bytes));
          CHECK(time >= before);
          before = time;
          CHECK(paced_time(chosen(wider, Bytes(bytes)).call, Bytes(bytes)) <= time);
          CHECK(paced_time(chosen(slower, Bytes(bytes)).call, Bytes(bytes)) >= time);
        }
        for (const SwitchedMethod& one : ways) {
          Seconds last(0.0);
          for (double bytes = 0; bytes < 2e8; bytes += 333333) {
            CHECK(paced_time(one.call, Bytes(bytes)) >= last);
            last = paced_time(one.call, Bytes(bytes));
          }
        }
      }
    }
  }
}

TEST_CASE("the table of collectives: kinds in order, both names parse, wire bytes") {
  for (const CollectiveFacts& fact : collective_facts()) {
    CHECK(&facts(fact.kind) == &fact);
    CHECK(parse_collective(fact.name) == fact.kind);
    CHECK(parse_collective(fact.sample_name) == fact.kind);
  }
  CHECK(sent_share(CollectiveKind::all_reduce, 8) == 1.75);
  CHECK(sent_share(CollectiveKind::all_to_all, 8) == 0.875);
  CHECK(sent_share(CollectiveKind::broadcast, 8) == 1.0);
  CHECK(sent_share(CollectiveKind::send_receive, 8) == 1.0);
  // An all-reduce is a reduce-scatter and an all-gather.
  for (const double ranks : {2.0, 3.0, 8.0})
    CHECK(sent_share(CollectiveKind::all_reduce, ranks) ==
          sent_share(CollectiveKind::reduce_scatter, ranks) + sent_share(CollectiveKind::all_gather, ranks));
}
