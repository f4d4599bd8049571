// The worked example "Recurrent layer" of model/cost/README.md, by hand and by the model.
#include "model/cost/recurrent.hpp"

#include <cmath>

#include "model/cost/gemm.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;
using example::kBoard;
using example::microseconds;

namespace {

RecurrentConstants constants(double cycles) { return {example::tiles(), cycles, cycles, cycles}; }

constexpr RecurrentShape kLayer{4, 1024, 64, 25};  // LSTM, 64 sequences of 25 steps

}  // namespace

TEST_CASE("worked example: 25 steps of an LSTM of 1024, 64 sequences, both sides of the load latency") {
  // 64 x 64 tiles: 64 x 1 blocks, one wave; 2 x 4096 x 1.125 x 6.25e-12 = 57.6 ns a k-step, above 40 cycles of 1 ns.
  const double product = (1024 + 16) * 57.6e-9;
  const double memory = (4096.0 * 1024 + 1024.0 * 64 + 4096.0 * 64) * 4 / 600e9;
  const double pointwise = 2 * 4096.0 * 64 * 4 / 600e9;
  const double step = 5e-6 + std::cbrt(std::pow(product, 3) + std::pow(memory, 3)) + pointwise;
  const KernelTimeModel fast = recurrent_time(kLayer, RecurrentPass::forward, Bytes(4.0), constants(40), kBoard);
  CHECK_THAT(fast.time.base(), WithinRel(25 * step, 1e-12));
  CHECK(fast.flop == Flop(25 * 2.0 * 4096 * 1024 * 64));
  CHECK(fast.kernels == 50);
  CHECK(documented("= " + microseconds(Seconds(product))));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(Seconds(step))));
  // 100 cycles: every tiling waits for its loads, 100 ns a k-step.
  const KernelTimeModel slow = recurrent_time(kLayer, RecurrentPass::forward, Bytes(4.0), constants(100), kBoard);
  const double waiting = (1024 + 16) * 100e-9;
  const double slow_step = 5e-6 + std::cbrt(std::pow(waiting, 3) + std::pow(memory, 3)) + pointwise;
  CHECK_THAT(slow.time.base(), WithinRel(25 * slow_step, 1e-12));
  CHECK(documented("= " + microseconds(Seconds(slow_step))));
}

TEST_CASE("backward data has a four times deeper product, so latency costs it four times as much, weights wait once") {
  const auto seconds = [](RecurrentPass pass, double cycles) {
    return recurrent_time(kLayer, pass, Bytes(4.0), constants(cycles), kBoard).time.base();
  };
  const double forward = seconds(RecurrentPass::forward, 1000), data = seconds(RecurrentPass::backward_data, 1000);
  CHECK(data / forward > 3.8);
  CHECK(data / forward < 4.0);
  const Seconds weights = gemm_time({4096, 1024, 64 * 25}, Bytes(4.0), example::tiles(), kBoard).time;
  CHECK(recurrent_time(kLayer, RecurrentPass::backward_weights, Bytes(4.0), constants(1000), kBoard).time == weights);
}

TEST_CASE("between 16, 32 and 64 sequences the wait for loads grows with a power of the batch: no cliff") {
  const RecurrentConstants c{example::tiles(), 1000, 4000, 2000};
  const auto seconds = [&](double batch) {
    return recurrent_time({4, 1024, batch, 25}, RecurrentPass::forward, Bytes(4.0), c, kBoard).time.base();
  };
  // 64 x 32 tiles wait as long as any: 1040 k-steps of 1, 4 and 2 us; sqrt(2) times 16 is half way to 32 in the power.
  CHECK(seconds(16) < seconds(17));
  CHECK_THAT(seconds(17) / seconds(16), WithinAbs(1.13, 0.01));  // 4^log2(17/16)
  CHECK_THAT(seconds(33) / seconds(32), WithinAbs(0.97, 0.01));  // 2^-log2(33/32)
  CHECK_THAT(seconds(65) / seconds(64), WithinAbs(1.0, 0.02));
  CHECK(waits_less_at_64(c));
  CHECK_FALSE(waits_less_at_64({example::tiles(), 10, 20, 20}));
}

TEST_CASE("weights in registers: a step costs its arithmetic and a synchronisation") {
  const RecurrentShape shape{4, 1024, 64, 100};
  const KernelTimeModel model = persistent_recurrent_time(shape, RecurrentPass::forward, Bytes(2.0), kBoard);
  const double compute = 2.0 * 4096 * 1024 * 64 / 12.8e12;  // 41.9 us, above what moves
  CHECK_THAT(model.time.base(), WithinRel(5e-6 + 100 * (4e-6 + compute), 1e-12));
  CHECK(model.kernels == 1);
}

TEST_CASE("library generations by CUDA release") {
  CHECK(recurrent_generation(Vendor::nvidia, "7.5", chip("Pascal")) == "cuda7");
  CHECK(recurrent_generation(Vendor::nvidia, "8.0.61", chip("Pascal")) == "cuda8");
  CHECK(recurrent_generation(Vendor::nvidia, "9.0", chip("Pascal")) == "cuda10");
  CHECK(recurrent_generation(Vendor::nvidia, "12.1", chip("")) == "cuda10");
  CHECK(recurrent_generation(Vendor::nvidia, "", chip("")) == "cuda10");
  CHECK(recurrent_generation(Vendor::amd, "", chip("")) == "rocm1");
  // No kernels for Volta and later before CUDA 9.
  CHECK(recurrent_generation(Vendor::nvidia, "8.0", chip("Volta")) == "cuda10");
  CHECK(recurrent_generation(Vendor::nvidia, "7.5", chip("Hopper")) == "cuda10");
}
