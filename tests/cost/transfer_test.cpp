// Where a device's parameters come from: its own file, its row, or relatives by weight.
#include "model/cost/transfer.hpp"
#include "model/cost/board_rates.hpp"

#include <cmath>

#include "model/hardware/cluster.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

Device device(const std::string& architecture = "Pascal") {
  Device d;
  d.id = "under-test";
  d.name = "Tesla T";
  name_architecture(d, architecture);
  d.memory_kind = "GDDR5";
  d.fp32_lanes = 128;
  d.multiprocessors = 20;
  d.peak.fp32 = FlopPerSecond(10e12);
  d.power_limit = Watts(300.0);
  d.memory_bandwidth = BytesPerSecond(400e9);
  return d;
}

BoardParameters board(const std::string& id, const std::string& architecture, double compute, double bandwidth = 0.8) {
  BoardParameters b;
  b.device = id;
  name_architecture(b, architecture);
  b.memory_kind = "GDDR5";
  b.limits.power_limit = Watts(300.0);
  b.limits.peak_fp32 = FlopPerSecond(10e12);
  b.parameters = {"convolution", "fp32", compute, bandwidth, Seconds(5e-6), 0.2, 40, "fitted: a test"};
  return b;
}

ResolvedParameters resolve(const Device& d, std::vector<BoardParameters> boards) {
  KernelConstants constants;
  constants.boards = std::move(boards);
  return resolve_parameters(d, "convolution", "fp32", constants);
}

double compute(const Device& d, std::vector<BoardParameters> boards) {
  return resolve(d, std::move(boards)).parameters.compute_efficiency;
}

/// Share of the second of two boards in a weighted geometric mean of 0.5 and 1.
double second_share(double mean) { return 1.0 - std::log(mean) / std::log(0.5); }

}  // namespace

TEST_CASE("the device's own calibration comes before its row, its row before relatives") {
  Device d = device();
  const auto row = board("under-test", "Pascal", 0.7);
  const auto relative = board("other", "Pascal", 0.9);
  const ResolvedParameters from_row = resolve(d, {relative, row});
  CHECK(from_row.parameters.compute_efficiency == 0.7);
  CHECK(from_row.parameters.source == "fitted: a test");
  CHECK_FALSE(from_row.transferred);
  CHECK(from_row.distance == 0.0);

  const ResolvedParameters borrowed = resolve(d, {relative});
  CHECK_THAT(borrowed.parameters.compute_efficiency, WithinRel(0.9, 1e-12));
  CHECK(borrowed.parameters.source == "transferred: from other");
  CHECK(borrowed.parameters.samples == 0);
  CHECK(borrowed.transferred);
  CHECK(borrowed.distance == 1.0);

  d.calibration.families = {{"convolution", "fp32", 0.6, 0.5, Seconds(3e-6), 0.1, 12, "fitted: own samples"}};
  const ResolvedParameters own = resolve(d, {relative, row});
  CHECK(own.parameters.compute_efficiency == 0.6);
  CHECK(own.parameters.source == "fitted: own samples");
  CHECK_FALSE(own.transferred);
}

TEST_CASE("another family or precision is no relative") {
  auto gemm = board("other", "Pascal", 0.9), half = gemm;
  gemm.parameters.family = "gemm";
  half.parameters.precision = "fp16";
  const ResolvedParameters none = resolve(device(), {gemm, half});
  CHECK(none.transferred);
  CHECK(none.parameters.source == "assumed: no samples of this family");
  CHECK(none.parameters.spread >= 0.2);
}

TEST_CASE("the same architecture counts more than its neighbours, those more than distant ones") {
  const auto share = [](const std::string& second) {
    return second_share(compute(device("Pascal"), {board("a", "Pascal", 0.5), board("b", second, 1.0)}));
  };
  CHECK_THAT(share("Pascal"), WithinRel(0.5, 1e-12));
  CHECK(share("Volta") < 0.05);
  CHECK_THAT(share("Maxwell"), WithinRel(share("Volta"), 1e-12));  // one generation either way
  CHECK(share("Turing") < share("Volta"));
  CHECK(share("Ampere") < share("Turing"));
  CHECK(share("Hopper") < share("Ampere"));
  CHECK_THAT(share("Ada Lovelace"), WithinRel(share("Hopper"), 1e-12));  // contemporaries
  CHECK(share("Vega 10") < 0.0001);
  CHECK(share("Kepler 2.0") < share("Maxwell"));
}

TEST_CASE("distance is to the nearest relative: one, and one more for each generation") {
  CHECK(resolve(device("Pascal"), {board("a", "Pascal", 0.5), board("b", "Hopper", 1.0)}).distance == 1.0);
  CHECK(resolve(device("Pascal"), {board("a", "Volta", 0.5), board("b", "Hopper", 1.0)}).distance == 2.0);
  CHECK(resolve(device("Blackwell"), {board("a", "Turing", 0.5), board("b", "Volta", 1.0)}).distance == 4.0);
  CHECK(resolve(device("CDNA 2"), {board("a", "CDNA 1", 0.5)}).distance == 1.0);
  CHECK(resolve(device("CDNA 2"), {board("a", "GCN 5.0", 0.5)}).distance == 4.0);
  // Far from everything, relatives still weigh against each other from the nearest one.
  const double far = second_share(compute(device("Blackwell"), {board("a", "Volta", 0.5), board("b", "Maxwell", 1.0)}));
  const double near = second_share(compute(device("Volta"), {board("a", "Volta", 0.5), board("b", "Maxwell", 1.0)}));
  CHECK_THAT(far, WithinRel(near, 1e-12));
}

TEST_CASE("Kepler's 192 lanes are fed 128 at a time, narrower multiprocessors are not touched") {
  for (const auto& [lanes, share] : {std::pair{64, 1.0}, std::pair{128, 1.0}, std::pair{192, 128.0 / 192}}) {
    Device d = device("Kepler");
    d.fp32_lanes = lanes;
    d.power_limit = Watts(1000.0);
    CHECK_THAT(compute(d, {board("a", "Maxwell", 0.6)}), WithinRel(0.6 * share, 1e-12));
  }
}

TEST_CASE("128 lanes behind schedulers that issue one instruction reach no more than the multiply-adds among these") {
  Device d = device("Ada");
  d.chip = chip("Ada", "8.9");
  d.power_limit = Watts(2000.0);
  auto volta = board("a", "Volta", 1.0), ada = board("b", "Ada", 0.4);
  volta.fp32_lanes = 64;
  volta.multiprocessors = 40;
  ada.chip = d.chip;
  ada.fp32_lanes = 128;
  ada.multiprocessors = 20;
  CHECK_THAT(compute(d, {volta}), WithinRel(0.69, 1e-9));
  CHECK_THAT(compute(d, {ada}), WithinRel(0.4, 1e-9));
  // A relative that is short of power would lend 0.4 x 4: above what is issued.
  ada.limits.power_limit = Watts(12.8e-12 * 0.69 * 5e12 / std::pow(4.0, 1.0 / 0.55));
  CHECK_THAT(compute(d, {ada}), WithinRel(0.69, 1e-9));
  // GeForce boards run above the clock that they list.
  d.board_class = BoardClass::consumer;
  CHECK_THAT(compute(d, {ada}), WithinRel(0.69 * 1.07, 1e-9));
}

TEST_CASE("softmax borrows bandwidth by the bytes that a multiprocessor must keep in flight, up to those that were sampled") {
  const auto share = [](double bytes_per_clock, bool known = true) {
    Device d = device("Ampere");
    d.memory_bandwidth = BytesPerSecond(bytes_per_clock * d.multiprocessors * d.peak.fp32.base() / (2.0 * 20 * 128));
    auto lender = board("a", "Ampere", 1.0, 0.7);
    lender.parameters.family = "softmax";
    lender.fp32_lanes = 128;
    lender.multiprocessors = 20;
    if (known) lender.memory_bandwidth = BytesPerSecond(10.2 * 20 * 10e12 / (2.0 * 20 * 128));
    KernelConstants constants;
    constants.boards = {lender};
    return resolve_parameters(d, "softmax", "fp32", constants).parameters.bandwidth_efficiency;
  };
  CHECK_THAT(share(10.2), WithinRel(0.7, 1e-9));
  CHECK_THAT(share(40.0), WithinRel(0.7, 1e-9));
  CHECK_THAT(share(5.1), WithinRel(0.7 * std::cbrt((1.0 + std::pow(10.2 / 11.5, 3)) / (1.0 + std::pow(5.1 / 11.5, 3))), 1e-9));
  CHECK(share(5.1, false) == 0.7);
}

TEST_CASE("consumer boards of one generation run at one clock, whatever they list, but never below their own") {
  auto lender = board("a", "Pascal", 0.6);
  lender.board_class = BoardClass::consumer;
  lender.multiprocessors = 20;
  lender.fp32_lanes = 128;
  Device borrower = device();
  borrower.board_class = BoardClass::consumer;
  borrower.peak.fp32 = FlopPerSecond(8e12);  // lists 0.8 times the lender's clock
  CHECK_THAT(compute(borrower, {lender}), WithinRel(0.6 / 0.8, 1e-9));
  borrower.peak.fp32 = FlopPerSecond(10.6e12);
  CHECK_THAT(compute(borrower, {lender}), WithinRel(0.6 / 1.06, 1e-9));
  // Consumer boards run 7 % above what they list: the lender at 1.07 times its clock, below this board's own.
  borrower.power_limit = Watts(1000.0);
  borrower.peak.fp32 = FlopPerSecond(20e12);
  CHECK_THAT(compute(borrower, {lender}), WithinRel(0.6 / 1.07, 1e-9));
}

TEST_CASE("consumer boards lend less and borrow more: they run above their listed clock") {
  const auto consumer = [](auto thing) {
    thing.board_class = BoardClass::consumer;
    return thing;
  };
  BoardParameters tesla = board("a", "Pascal", 0.6);
  tesla.multiprocessors = 20;
  tesla.fp32_lanes = 128;
  const BoardParameters lender = consumer(tesla);
  Device borrower = consumer(device());
  const double up = compute(borrower, {tesla}), down = compute(device(), {lender});
  CHECK(up > 0.6);
  CHECK(down < 0.6);
  CHECK_THAT(up * down, WithinRel(0.36, 1e-12));                   // the same factor both ways
  CHECK_THAT(compute(borrower, {lender}), WithinRel(0.6, 1e-12));  // and none among themselves
  // The class decides, never what the board is called.
  borrower.name = "my spare board";
  CHECK(compute(borrower, {tesla}) == up);
}

TEST_CASE("a board's own samples act at the clock that it is left with, wherever they stand") {
  // 42e-12 J per lane and cycle let Pascal keep its listed clock: 210 W of 5e12 lanes x cycles/s.
  const auto row = board("under-test", "Pascal", 0.6);
  Device d = device();
  d.boost_clock = Hertz(1953.125e6);  // 20 x 128 lanes x 2 FLOP of it are 10 TFLOP/s
  const ResolvedParameters as_measured = resolve(d, {row});
  CHECK(as_measured.parameters.compute_efficiency == 0.6);
  CHECK(as_measured.parameters.compute_sigma == 0.0);
  d.power_limit = Watts(105.0);
  const ResolvedParameters starved = resolve(d, {row});
  CHECK_THAT(starved.parameters.compute_efficiency, WithinRel(0.6 * std::pow(0.5, 0.55), 1e-9));
  CHECK(starved.parameters.bandwidth_efficiency == as_measured.parameters.bandwidth_efficiency);
  CHECK(starved.parameters.compute_sigma > 0.0);
  CHECK_FALSE(starved.transferred);
  CHECK(starved.parameters.source == "fitted: a test; at 0.68 of the clock of its samples");
  d.sustained_clock = Hertz(1562.5e6);
  CHECK_THAT(compute(d, {row}), WithinRel(0.6 * 0.8, 1e-12));
  // Samples that were themselves taken at a stated clock, or with little power, are not lowered again.
  auto slow = row;
  slow.limits.boost_clock = Hertz(1953.125e6);
  slow.limits.sustained_clock = Hertz(1562.5e6);
  CHECK(compute(d, {slow}) == 0.6);
  // A description with samples of its own: its limits when it was read count as those of the samples.
  Device own = device();
  own.calibration.families.push_back({"convolution", "fp32", 0.5, 0.8, Seconds(4e-6), 0.1, 30, "fitted: a test"});
  own.calibration.measured = clock_limits(own);
  CHECK(compute(own, {}) == 0.5);
  own.power_limit = Watts(105.0);
  CHECK_THAT(compute(own, {}), WithinRel(0.5 * std::pow(0.5, 0.55), 1e-9));
}

TEST_CASE("lanes that the peak rate does not count do no work") {
  constexpr double kPeak = 10e12;
  for (const auto& [architecture, lanes] : {std::pair{"Pascal", 128}, std::pair{"Volta", 64}}) {
    Device d = device(architecture);
    d.fp32_lanes = lanes;
    d.boost_clock = Hertz(kPeak / (2.0 * d.multiprocessors * lanes));
    for (const int wider : {lanes, 2 * lanes, 4 * lanes, 16 * lanes}) {
      d.fp32_lanes = wider;
      INFO(architecture << " " << wider << " lanes");
      CHECK_THAT(compute(d, {board("a", architecture, 0.6)}), WithinRel(0.6, 1e-9));
      CHECK_THAT(compute(d, {board("under-test", architecture, 0.6)}), WithinRel(0.6, 1e-9));
    }
  }
}

TEST_CASE("lanes added to a board with samples are fed no more than a borrower's") {
  for (const auto& [lanes, fed] : {std::pair{128, 1.0}, std::pair{192, 128.0 / 192}, std::pair{256, 0.5}}) {
    Device d = device();
    d.power_limit = Watts(1000.0);
    d.boost_clock = Hertz(1953.125e6);
    d.fp32_lanes = lanes;
    d.peak.fp32 = FlopPerSecond(10e12 * lanes / 128.0);
    INFO(lanes << " lanes");
    CHECK_THAT(compute(d, {board("a", "Pascal", 0.6)}), WithinRel(0.6 * fed, 1e-9));
    const ResolvedParameters own = resolve(d, {board("under-test", "Pascal", 0.6)});
    CHECK_THAT(own.parameters.compute_efficiency, WithinRel(0.6 * fed, 1e-9));
    if (lanes == 256) CHECK(own.parameters.source == "fitted: a test; schedulers feed 0.50 of its lanes");
  }
}

TEST_CASE("every NVIDIA architecture feels its power limit") {
  for (const Architecture& row : all_architectures().families()) {
    if (!row.generation) continue;
    INFO(row.family);
    Device d = device(row.name);
    d.power_limit = Watts(1.0);
    CHECK(compute(d, {board("a", "Pascal", 0.5)}) < 0.2);
  }
}

TEST_CASE("a power limit lowers the clock that borrowed compute keeps, a stated clock comes before it") {
  // 42e-12 J per lane and cycle let Pascal keep its listed clock: 5e12 lanes x cycles/s need 210 W.
  const auto share = [](double watts, std::optional<double> stated = {}) {
    Device d = device();
    d.power_limit = Watts(watts);
    d.boost_clock = Hertz(1953.125e6);
    if (stated) d.sustained_clock = Hertz(*stated);
    auto lender = board("a", "Pascal", 0.5);
    lender.limits.power_limit = Watts(300.0);
    return compute(d, {lender});
  };
  CHECK_THAT(share(210.0), WithinRel(0.5, 1e-12));
  CHECK_THAT(share(400.0), WithinRel(0.5, 1e-12));
  CHECK_THAT(share(105.0), WithinRel(0.5 * std::pow(0.5, 0.55), 1e-9));
  CHECK_THAT(share(105.0, 1562.5e6), WithinRel(0.5 * 0.8, 1e-12));
  CHECK_THAT(share(400.0, 1562.5e6), WithinRel(0.5 * 0.8, 1e-12));
  // A lender that is short of power lends what it would keep with enough.
  auto starved = board("a", "Pascal", 0.3);
  starved.limits.power_limit = Watts(105.0);
  Device d = device();
  d.power_limit = Watts(300.0);
  CHECK_THAT(compute(d, {starved}), WithinRel(0.3 / std::pow(0.5, 0.55), 1e-9));
  starved.limits.power_limit.reset();  // unknown: no statement
  CHECK_THAT(compute(d, {starved}), WithinRel(0.3, 1e-12));
}

TEST_CASE("a relative counts less the more its clock had to be corrected, in compute and not in bandwidth") {
  const auto resolved = [](double watts) {
    Device d = device();
    d.power_limit = Watts(300.0);
    auto first = board("a", "Pascal", 0.5, 0.5), second = board("b", "Pascal", 1.0, 1.0);
    first.limits.power_limit = Watts(300.0);
    second.limits.power_limit = Watts(watts);
    return resolve(d, {first, second}).parameters;
  };
  const auto compute_share = [&](double watts) {  // the second's 1.0 counts as 1 / kept
    const double kept = std::min(1.0, std::pow(watts / 210.0, 0.55));
    return std::log(resolved(watts).compute_efficiency / 0.5) / std::log(1.0 / kept / 0.5);
  };
  CHECK_THAT(compute_share(300), WithinRel(0.5, 1e-9));
  CHECK(compute_share(150) < 0.4);
  CHECK(compute_share(75) < compute_share(150));
  CHECK_THAT(resolved(75).bandwidth_efficiency, WithinRel(std::sqrt(0.5), 1e-12));
}

TEST_CASE("bandwidth is borrowed from boards with the same kind of memory first, compute does not care") {
  const auto share = [](const char* kind) {
    auto other = board("b", "Pascal", 1.0, 1.0);
    other.memory_kind = kind;
    const ResolvedParameters r = resolve(device(), {board("a", "Pascal", 0.5, 0.5), other});
    CHECK_THAT(second_share(r.parameters.compute_efficiency), WithinRel(0.5, 1e-12));
    return second_share(r.parameters.bandwidth_efficiency);
  };
  CHECK_THAT(share("GDDR5"), WithinRel(0.5, 1e-12));
  CHECK(share("GDDR6") < share("GDDR5"));
  CHECK(share("HBM2") < share("GDDR6"));
}

TEST_CASE("disagreeing relatives widen what the board shares, not the scatter of its kernels") {
  const FamilyParameters agreed = resolve(device(), {board("a", "Pascal", 0.8), board("b", "Pascal", 0.8)}).parameters;
  // ln 0.8 and ln 0.4 lie ln 2 / 2 on either side of their mean.
  const FamilyParameters apart = resolve(device(), {board("a", "Pascal", 0.8), board("b", "Pascal", 0.4)}).parameters;
  CHECK_THAT(agreed.spread, WithinRel(0.2, 1e-9));
  CHECK_THAT(apart.spread, WithinRel(0.2, 1e-9));
  CHECK_THAT(apart.compute_sigma, WithinRel(std::hypot(agreed.compute_sigma, std::log(2.0) / 2), 1e-9));
  // A farther architecture is worth less.
  const FamilyParameters far = resolve(device(), {board("a", "Volta", 0.8), board("b", "Volta", 0.8)}).parameters;
  CHECK(far.compute_sigma > agreed.compute_sigma);
}

TEST_CASE("tf32 and bf16 take the parameters of fp16 where they have none of their own") {
  auto tensor = board("a", "Pascal", 0.5);
  tensor.parameters.precision = "fp16";
  KernelConstants constants;
  constants.boards = {tensor};
  Device d = device();
  CHECK(resolve_parameters(d, "convolution", "tf32", constants).parameters.compute_efficiency ==
        resolve_parameters(d, "convolution", "fp16", constants).parameters.compute_efficiency);
  d.calibration.families.push_back({"convolution", "tf32", 0.77, 0.8, Seconds(4e-6), 0.1, 30, "fitted: a test"});
  CHECK(resolve_parameters(d, "convolution", "tf32", constants).parameters.compute_efficiency == 0.77);
  CHECK_THAT(resolve_parameters(device(), "convolution", "bf16", constants).parameters.compute_efficiency, WithinRel(0.5, 1e-12));
}

TEST_CASE("own samples of one precision of tensor cores tell of the others before relatives do") {
  auto tensor = board("a", "Pascal", 0.5);
  tensor.parameters.precision = "fp16";
  KernelConstants constants;
  constants.boards = {tensor};
  Device d = device();
  d.calibration.families.push_back({"convolution", "bf16", 0.77, 0.8, Seconds(4e-6), 0.1, 30, "fitted: a test"});
  for (const char* precision : {"fp16", "tf32", "bf16", "fp8"})
    CHECK(resolve_parameters(d, "convolution", precision, constants).parameters.compute_efficiency == 0.77);
  CHECK(resolve_parameters(d, "convolution", "fp32", constants).transferred);
}

TEST_CASE("rates: shares of the description's peak and bandwidth, a stated clock is part of borrowed shares alone") {
  Device d = device();
  const FamilyParameters fitted{"gemm", "fp32", 0.5, 0.75, Seconds(4e-6), 0.1, 30, "fitted: a test"};
  d.boost_clock = Hertz(1500e6);
  d.sustained_clock = Hertz(1200e6);
  const KernelRates own = kernel_rates(d, d.peak.fp32, fitted, "fp32");
  CHECK_THAT(own.flops.base(), WithinRel(5e12, 1e-12));  // the samples ran at the real clock
  CHECK_THAT(own.bandwidth.base(), WithinRel(300e9, 1e-12));
  CHECK(own.launch == Seconds(4e-6));
  CHECK(own.multiprocessors == 20);
  CHECK(own.clock == Hertz(1200e6));
}

TEST_CASE("convolutions since Ampere take the rates of the board's products, until it has samples of convolutions itself") {
  const Catalogue catalogue{TBDSIM_SOURCE_DIR};
  const auto constants = read_kernel_constants(TBDSIM_SOURCE_DIR "/hardware/kernels.toml", all_architectures()).value();
  const auto resolved = [&](const Device& d, const char* family) { return resolve_parameters(d, family, "fp16", constants); };
  for (const char* id : {"a100-sxm4-80gb", "h100-sxm5-80gb", "l40s"}) {
    const Device d = load_device(catalogue, id).value();
    const ResolvedParameters convolution = resolved(d, "convolution"), products = resolved(d, "gemm");
    CHECK(convolution.parameters.compute_efficiency == products.parameters.compute_efficiency);
    CHECK(convolution.parameters.sustained_efficiency == products.parameters.sustained_efficiency);
    CHECK(convolution.transferred);
    CHECK(convolution.parameters.spread > products.parameters.spread);
    // What a fit of such samples writes, with the sustained share or without.
    for (const bool sustained : {true, false}) {
      Device own = d;
      own.calibration.families.push_back(
          {"convolution", "fp16", 0.3, 0.8, Seconds(5e-6), 0.1, 40, "fitted: a test", 0.02, 0.02, 0.1});
      if (sustained) own.calibration.families.back().sustained_efficiency = 0.25;
      CHECK(resolved(own, "convolution").parameters.compute_efficiency == 0.3);
      CHECK_FALSE(resolved(own, "convolution").transferred);
      CHECK(resolved(own, "gemm").parameters.compute_efficiency == products.parameters.compute_efficiency);
    }
  }
  const Device volta = load_device(catalogue, "v100-sxm2-16gb").value();
  CHECK_FALSE(resolved(volta, "convolution").transferred);
}
