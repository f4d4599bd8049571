// What power, clock and rate of a board make of another board's shares in products.
#include "model/cost/product_power.hpp"

#include "model/cost/transfer.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

Device board(const std::string& architecture = "Ampere", const std::string& capability = "8.0") {
  Device d;
  d.id = d.name = "under-test";
  d.architecture = architecture;
  d.compute_capability = capability;
  d.chip = chip(d.architecture, d.compute_capability);
  d.memory_kind = "HBM2e";
  d.multiprocessors = 108;
  d.fp32_lanes = 64;
  d.boost_clock = Hertz(1410e6);
  d.peak.fp32 = FlopPerSecond(2.0 * 108 * 64 * 1410e6);
  d.peak.fp16_tensor = d.peak.bf16_tensor = FlopPerSecond(2048.0 * 108 * 1410e6);
  d.power_limit = Watts(400.0);
  d.memory_bandwidth = BytesPerSecond(2e12);
  return d;
}

const ProductShares kLent{1.0, 0.75};

ProductShares shares_on(const Device& device) {
  const Device lender = board();
  return product_shares(tensor_cores(device, "fp16"), clocked(device), tensor_cores(lender, "fp16"), clocked(lender), kLent);
}

/// Rates, not shares: what a user gets.
double brief(const Device& d) { return shares_on(d).brief * d.peak.fp16_tensor->base(); }
double sustained(const Device& d) { return shares_on(d).sustained * d.peak.fp16_tensor->base(); }

}  // namespace

TEST_CASE("a board lends itself its own shares") {
  CHECK(shares_on(board()).brief == kLent.brief);
  CHECK(shares_on(board()).sustained == kLent.sustained);
}

TEST_CASE("half the power keeps 2^-0.55 of the clock in long products, 2^-0.165 of the rate in short ones") {
  Device d = board();
  d.power_limit = Watts(200.0);
  CHECK_THAT(shares_on(d).sustained, WithinRel(0.75 * std::pow(0.5, 0.55), 1e-12));
  CHECK_THAT(shares_on(d).brief, WithinRel(std::pow(0.5, 0.55 * 0.3), 1e-12));
}

TEST_CASE("power, multiprocessors, rate and clock together never make products slower") {
  double before_brief = 0.0, before_sustained = 0.0;
  const auto grows = [&](const Device& d) {
    CHECK(brief(d) >= before_brief);
    CHECK(sustained(d) >= before_sustained);
    before_brief = brief(d);
    before_sustained = sustained(d);
  };
  for (const double watt : {72.0, 150.0, 300.0, 400.0, 700.0, 2000.0}) {
    Device d = board();
    d.power_limit = Watts(watt);
    grows(d);
  }
  before_brief = before_sustained = 0.0;
  for (const int sms : {20, 54, 108, 216}) {
    Device d = board();
    d.multiprocessors = sms;
    d.peak.fp32 = sms / 108.0 * d.peak.fp32;
    d.peak.fp16_tensor = sms / 108.0 * *d.peak.fp16_tensor;
    grows(d);
  }
  before_brief = before_sustained = 0.0;
  for (const double faster : {0.5, 1.0, 1.5, 2.0}) {
    Device d = board();
    d.peak.fp16_tensor = faster * *d.peak.fp16_tensor;
    grows(d);
  }
  before_brief = before_sustained = 0.0;
  for (const double faster : {0.5, 1.0, 1.5, 2.0}) {
    Device d = board();
    d.boost_clock = faster * *d.boost_clock;
    d.peak.fp32 = faster * d.peak.fp32;
    d.peak.fp16_tensor = faster * *d.peak.fp16_tensor;
    grows(d);
  }
}

TEST_CASE("a stated clock bounds both shares, no board sustains more than its clock") {
  Device d = board();
  d.sustained_clock = Hertz(705e6);
  CHECK_THAT(shares_on(d).sustained, WithinRel(0.5, 1e-12));
  CHECK_THAT(shares_on(d).brief, WithinRel(0.5, 1e-12));
  Device strong = board();
  strong.power_limit = Watts(4000.0);
  CHECK(shares_on(strong).sustained == 1.0);
}

TEST_CASE("kernels since Ampere go by the instructions that a board has, not by its generation's name") {
  CHECK(pipelined_kernels(board()) == "ampere");
  CHECK(pipelined_kernels(board("Ada Lovelace", "8.9")) == "ampere");
  CHECK(pipelined_kernels(board("Hopper", "9.0")) == "hopper");
  CHECK(pipelined_kernels(board("Blackwell", "10.3")) == "blackwell");
  CHECK(pipelined_kernels(board("Blackwell", "12.0")) == "ampere");
  CHECK_FALSE(pipelined_kernels(board("Turing", "7.5")));
  Device plain = board();
  plain.peak.bf16_tensor.reset();
  CHECK_FALSE(pipelined_kernels(plain));
}

TEST_CASE("products without constants of their kernels take the nearest ones', as long in k-steps") {
  KernelConstants constants;
  CHECK_FALSE(pipelined_constants(constants, "fp16", "cudnn8", board()));
  PipelinedConstants c;
  c.load_latency = Seconds(4e-9);
  c.epilogue = Seconds(80e-12);
  c.multiprocessor_rate = FlopPerSecond(2048.0 * 1410e6);
  constants.pipelined["cudnn8-ampere"] = c;
  CHECK(pipelined_constants(constants, "fp16", "cudnn7", board())->load_latency == c.load_latency);
  Device hopper = board("Hopper", "9.0");
  hopper.peak.bf16_tensor = 2.0 * *hopper.peak.bf16_tensor;
  CHECK_THAT(pipelined_constants(constants, "fp16", "cudnn8", hopper)->load_latency.base(), WithinRel(2e-9, 1e-12));
  CHECK_THAT(pipelined_constants(constants, "fp16", "cudnn8", hopper)->epilogue.base(), WithinRel(40e-12, 1e-12));
  constants.pipelined["fp8-cudnn8-ampere"] = c;
  constants.pipelined["fp8-cudnn8-ampere"].tile_penalty = 33.0;
  CHECK(pipelined_constants(constants, "fp8", "cudnn8", board())->tile_penalty == 33.0);
  CHECK(pipelined_constants(constants, "bf16", "cudnn8", board())->tile_penalty == c.tile_penalty);
}
