// Products since Ampere that the form itself made: the fit must find the constants and shares that they were made with.
#include <cmath>
#include <random>

#include "calibrate/fit/board_fit.hpp"
#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/kernel_fit.hpp"
#include "model/cost/board_rates.hpp"
#include "model/cost/pipelined_gemm.hpp"
#include "model/cost/product_power.hpp"
#include "model/cost/transfer.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

struct Truth {
  const char* id;
  int multiprocessors;
  double clock_mhz, watt, brief, bandwidth, sustained, launch_us;
};
constexpr Truth kBoards[] = {{"large", 108, 1400, 400, 0.97, 0.78, 0.75, 3.6}, {"small", 60, 1700, 200, 0.90, 0.80, 0.60, 2.9}};

Device device(const Truth& t) {
  Device d;
  d.id = d.name = t.id;
  d.architecture = "Ampere";
  d.compute_capability = "8.0";
  d.chip = chip(d.architecture, d.compute_capability);
  d.memory_kind = "HBM2e";
  d.multiprocessors = t.multiprocessors;
  d.fp32_lanes = 64;
  d.boost_clock = Hertz(t.clock_mhz * 1e6);
  d.peak.fp32 = FlopPerSecond(2.0 * t.multiprocessors * 64 * t.clock_mhz * 1e6);
  d.peak.fp16_tensor = d.peak.bf16_tensor = FlopPerSecond(2048.0 * t.multiprocessors * t.clock_mhz * 1e6);
  d.memory_bandwidth = BytesPerSecond(t.multiprocessors * 18e9);
  d.l2_capacity = Bytes(30e6);
  d.power_limit = Watts(t.watt);
  return d;
}

PipelinedConstants truth() {
  PipelinedConstants c;
  c.tile_penalty = 14.0;
  c.wave_smoothing = 0.45;
  c.resident_waves = 0.25;
  c.load_latency = Seconds(4.4e-9);
  c.epilogue = Seconds(75e-12);
  c.split_cycles = 2300.0;
  return c;
}

std::vector<Sample> samples(const Truth& t) {
  std::mt19937 random(11);
  std::vector<Sample> all;
  const Device d = device(t);
  FamilyParameters p;
  p.compute_efficiency = t.brief;
  p.bandwidth_efficiency = t.bandwidth;
  p.sustained_efficiency = t.sustained;
  p.launch = Seconds(t.launch_us * 1e-6);
  KernelRates rates = kernel_rates(d, *d.peak.bf16_tensor, p, "bf16");
  rates.power_time = kBenchmarkPowerTime;
  TileConstants tiles;
  tiles.pipelined = truth();
  for (const std::int64_t m : {1, 64, 129, 512, 1025, 4096, 16384}) {
    for (const std::int64_t n : {256, 1024, 5120, 12288}) {
      for (const std::int64_t k : {256, 1536, 4096, 16384}) {
        Sample s;
        s.device = t.id;
        s.family = "gemm";
        s.op = "linear";
        s.precision = "bf16";
        s.pass = "forward";
        s.library = "cublas; torch";
        s.shape = {{"b", 1}, {"m", m}, {"n", n}, {"k", k}, {"ta", 0}, {"tb", 1}};
        const GemmShape shape{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k), 1, true};
        s.time = std::exp(std::normal_distribution<double>(0.0, 0.03)(random)) * gemm_time(shape, Bytes(2.0), tiles, rates).time;
        s.line = static_cast<int>(all.size()) + 2;
        all.push_back(s);
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("products since Ampere: shared constants and the shares of two boards are found again") {
  std::vector<Sample> all;
  DeviceMap devices;
  for (const Truth& t : kBoards) {
    const auto own = samples(t);
    all.insert(all.end(), own.begin(), own.end());
    devices[t.id] = device(t);
  }
  const auto fit = fit_kernels(all, devices);
  REQUIRE(fit.has_value());
  CHECK(fit->constants.gemm.empty());  // no sample is of the older form
  const PipelinedConstants& found = fit->constants.pipelined.at("cudnn8-ampere");
  CHECK_THAT(found.load_latency.base(), WithinRel(4.4e-9, 0.1));
  CHECK_THAT(found.epilogue.base(), WithinRel(75e-12, 0.15));
  CHECK_THAT(found.split_cycles, WithinRel(2300.0, 0.2));
  REQUIRE(fit->constants.boards.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const FamilyParameters& p = fit->constants.boards[i].parameters;
    INFO(kBoards[i].id);
    CHECK(fit->constants.boards[i].kernels == "ampere");
    CHECK(p.precision == "fp16");
    // Share of peak and tile penalty trade against each other: what counts is the rate of a large tile.
    const auto large = [](double share, double penalty) { return share / (1.0 + penalty * (1.0 / 128 + 1.0 / 256)); };
    CHECK_THAT(large(p.compute_efficiency, found.tile_penalty), WithinRel(large(kBoards[i].brief, 14.0), 0.03));
    CHECK_THAT(p.bandwidth_efficiency, WithinRel(kBoards[i].bandwidth, 0.03));
    CHECK_THAT(p.sustained_efficiency.value(), WithinRel(kBoards[i].sustained, 0.03));
    CHECK_THAT(p.launch.base(), WithinRel(kBoards[i].launch_us * 1e-6, 0.15));
    CHECK(fit->reports[i].error.mean < 0.035);  // the scatter that was added
  }

  // A board's own samples move its shares; the kernels' constants stay.
  KernelConstants constants = fit->constants;
  constants.gemm["fp32"] = {};
  constants.boards.erase(constants.boards.begin());
  const auto board = fit_board(samples(kBoards[0]), device(kBoards[0]), constants, "a test");
  REQUIRE(board.has_value());
  const FamilyParameters* const own = board->device.calibration.find("gemm", "bf16");
  REQUIRE(own != nullptr);
  CHECK_THAT(own->sustained_efficiency.value(), WithinRel(0.75, 0.04));
  CHECK_THAT(own->bandwidth_efficiency, WithinRel(0.78, 0.04));
  CHECK(own->samples == 112);
}

TEST_CASE("fitted products of the older form keep that form") {
  KernelConstants constants;
  constants.pipelined["cudnn8-ampere"] = truth();
  BoardParameters lender;
  lender.device = "lender";
  lender.architecture = "Ampere";
  lender.kernels = "ampere";
  lender.parameters.family = "gemm";
  lender.parameters.precision = "fp16";
  lender.parameters.sustained_efficiency = 0.7;
  constants.boards = {lender};
  Device d = device(kBoards[0]);
  CHECK(has_pipelined_products(d, "bf16", constants));
  CHECK_FALSE(has_pipelined_products(d, "fp32", constants));
  d.calibration.families.push_back({"gemm", "bf16", 0.6, 0.8, Seconds(5e-6), 0.1, 40, "fitted: before"});
  CHECK_FALSE(has_pipelined_products(d, "bf16", constants));
  CHECK(resolve_parameters(d, "gemm", "bf16", constants).parameters.compute_efficiency == 0.6);
}
