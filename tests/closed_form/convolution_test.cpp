// The worked examples of "Convolution" in model/cost/README.md: forward, 16 x 512 x 7 x 7, 512 filters of 3 x 3, by hand and by
// the model.
#include "model/cost/convolution.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;
using example::kBoard;
using example::microseconds;

namespace {

const ConvolutionShape kShape{16, 512, 7, 7, 512, 3, 3, 7, 7, 1, 1, 1};
constexpr double kImage = 16.0 * 512 * 49 * 4, kFilter = 512.0 * 512 * 9 * 4, kCompulsory = 2 * kImage + kFilter;
constexpr double kPerFlop = 80 / 12.8e12;

ConvolutionConstants constants() {
  ConvolutionConstants c;
  c.tiles = example::tiles();
  c.scatter_scale = 1.8;
  c.scatter_passes = 8.0;
  c.winograd_fused_cost = 1.25;
  c.winograd_filter_passes = 1.0;
  c.winograd_gemm_scale = 0.83;
  c.transform_bandwidth = 0.67;
  c.fft_scale = 1.1;
  return c;
}

KernelTimeModel forward(ConvolutionAlgorithm algorithm) {
  return convolution_time(kShape, ConvolutionPass::forward, algorithm, Bytes(4.0), constants(), kBoard).value();
}

double norm(double compute, double memory) { return std::cbrt(std::pow(compute, 3) + std::pow(memory, 3)); }

}  // namespace

TEST_CASE("worked example: implicit GEMM") {
  // 784 x 512 x 4608 in 32 x 32 tiles: 25 x 16 tiles = 5 waves; 1 + 4 x 64 / 1024 = 1.25.
  const double compute = 5 * 2048.0 * (4608 + 16) * kPerFlop * 1.25;
  const double memory = (kCompulsory + 0.1 * kImage * 15) / 600e9;
  const KernelTimeModel model = forward(ConvolutionAlgorithm::implicit_gemm);
  CHECK_THAT(model.time.base(), WithinRel(5e-6 + norm(compute, memory), 1e-12));
  CHECK(model.flop == Flop(3699376128.0));
  CHECK(model.bytes == Bytes(kCompulsory));
  CHECK(model.workspace == Bytes(0.0));
  CHECK(documented("3,699,376,128 useful FLOP"));
  CHECK(documented("= " + microseconds(Seconds(compute))));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("worked example: a strided gradient that scatters") {
  const ConvolutionShape shape{16, 256, 28, 28, 512, 1, 1, 14, 14, 2, 2, 1};
  const double x = 16.0 * 256 * 784 * 4, y = 16.0 * 512 * 196 * 4, w = 256.0 * 512 * 4;
  // 3136 x 256 x 512 in 64 x 32 tiles: 49 x 8 tiles, 5 waves; 1 + 4 x 96 / 2048 = 1.1875.
  const double compute = 5 * 4096.0 * (512 + 16) * kPerFlop * 1.1875 * 1.8;
  const double memory = (x + w + y + 0.1 * y * 7 + 8 * x / 4) / 600e9;
  ConvolutionConstants c = constants();
  c.backward_data[2] = 2.4;
  const auto model = [&] {
    return convolution_time(shape, ConvolutionPass::backward_data, ConvolutionAlgorithm::implicit_gemm, Bytes(4.0), c, kBoard)
        ->time;
  };
  CHECK_THAT(model().base(), WithinRel(5e-6 + norm(compute, memory), 1e-12));
  CHECK(documented("= " + microseconds(Seconds(compute))));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(model())));
  c.scatter_scale = 100.0;
  CHECK(documented("takes " + microseconds(model())));
}

TEST_CASE("worked example: fused Winograd") {
  const double compute = 2 * 16 * 32 * 64.0 * (512 + 8) * kPerFlop * 1.25;
  const double transformed = 16.0 / 9.0 * kFilter, memory = (2 * kImage + transformed) / 600e9;
  const double before = (kFilter + transformed) / 600e9;
  const KernelTimeModel model = forward(ConvolutionAlgorithm::winograd_fused);
  CHECK_THAT(model.time.base(), WithinRel(5e-6 + before + norm(compute, memory), 1e-12));
  CHECK(model.flop == Flop(3699376128.0));
  CHECK(model.workspace == Bytes(0.0));
  CHECK(documented("= " + microseconds(Seconds(compute))));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("worked example: non-fused Winograd and its workspace") {
  const double x = 36.0 * 64 * 512 * 4, w = 36.0 * 512 * 512 * 4;
  // 64 x 512 x 512, 36 times, in 64 x 128 tiles: 144 tiles, 2 waves; 1 + 4 x 192 / 8192 = 1.09375.
  const double compute = 2 * 16384.0 * (512 + 16) * kPerFlop * 1.09375 * 0.83;
  const double memory = (2 * x + w + 0.1 * x * 3) / 600e9;
  const double moved = (kCompulsory + 2 * x + w) / (0.67 * 600e9);
  const KernelTimeModel model = forward(ConvolutionAlgorithm::winograd_nonfused);
  CHECK_THAT(model.time.base(), WithinRel(15e-6 + norm(compute, memory) + moved, 1e-12));
  CHECK(model.workspace == Bytes(47185920.0));
  CHECK(model.kernels == 4);
  CHECK(model.bytes == Bytes(kCompulsory + 2 * (2 * x + w)));
  CHECK(documented("workspace 47,185,920 B"));
  CHECK(documented(fmt::format("C = {}, M = {}, together {}", microseconds(Seconds(compute)), microseconds(Seconds(memory)),
                               microseconds(Seconds(norm(compute, memory))))));
  CHECK(documented("= " + microseconds(Seconds(moved))));
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("worked example: FFT") {
  const double x = 144.0 * 16 * 512 * 8, w = 144.0 * 512 * 512 * 8;
  // 16 x 512 x 512, 144 times, in 32 x 128 tiles: 576 tiles x 2 parts = 15 waves; 4 real products for a complex one.
  const double compute = 15 * 8192.0 * (512.0 / 2 + 16) * kPerFlop * 1.15625 * 4 * 1.1;
  const double memory = (2 * x + w + 0.1 * x * 3 + 4 * x) / 600e9;
  const double moved = (kCompulsory + 2 * x + w) / (0.67 * 600e9);
  const KernelTimeModel model = forward(ConvolutionAlgorithm::fft);
  CHECK_THAT(model.time.base(), WithinRel(20e-6 + norm(compute, memory) + moved, 1e-12));
  CHECK(model.workspace == Bytes(320864256.0));
  CHECK(model.kernels == 5);
  CHECK(documented("workspace 320,864,256 B"));
  CHECK(documented(fmt::format("C = {}, M = {}, together {}", microseconds(Seconds(compute)), microseconds(Seconds(memory)),
                               microseconds(Seconds(norm(compute, memory))))));
  CHECK(documented("= " + microseconds(Seconds(moved))));
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("worked example: a depthwise convolution waits for index arithmetic and memory") {
  KernelRates board = kBoard;
  board.clock = Hertz(1.5e9);
  const ConvolutionShape shape{16, 512, 14, 14, 512, 3, 3, 14, 14, 1, 1, 512};
  const double numbers = 16.0 * 512 * 14 * 14, lanes = 64 * 80 * 1.5e9;
  const double bytes = 2 * 4 * numbers + 512 * 9 * 4, memory = bytes / (0.5 * 600e9);
  const auto timed = [&](ConvolutionPass pass) {
    return convolution_time(shape, pass, ConvolutionAlgorithm::direct, Bytes(4.0), constants(), board).value();
  };
  const KernelTimeModel model = timed(ConvolutionPass::forward);
  const double compute = 11 * 9 * numbers / lanes;
  CHECK_THAT(model.time.base(), WithinRel(5e-6 + norm(compute, memory), 1e-12));
  CHECK(documented("= " + microseconds(Seconds(compute))));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(model.time)));
  CHECK_THAT(timed(ConvolutionPass::backward_data).time.base(), WithinRel(5e-6 + norm(12 * 9 * numbers / lanes, memory), 1e-12));
  CHECK_THAT(timed(ConvolutionPass::backward_weights).time.base(),
             WithinRel(5e-6 + norm(26 * 9 * numbers / lanes, memory), 1e-12));
  // Few channels of large images: one block walks longer than all instructions take together.
  const auto thin = convolution_time({16, 2, 224, 224, 2, 3, 3, 224, 224, 1, 1, 2}, ConvolutionPass::backward_weights,
                                     ConvolutionAlgorithm::direct, Bytes(4.0), constants(), board);
  REQUIRE(thin);
  const double walk = 2.0 * (224.0 * 224 / 32) * 400 / 1.5e9, moved = (2 * 4 * 2 * 16.0 * 224 * 224 + 2 * 9 * 4) / 300e9;
  CHECK_THAT(thin->time.base(), WithinRel(5e-6 + norm(walk, moved), 1e-12));
}

TEST_CASE("of the worked examples an autotuner takes non-fused Winograd") {
  using A = ConvolutionAlgorithm;
  const std::array offered{A::implicit_gemm, A::direct, A::winograd_fused, A::winograd_nonfused, A::fft};
  const ConvolutionTime best =
      fastest_convolution(kShape, ConvolutionPass::forward, offered, {}, Bytes(4.0), constants(), kBoard);
  CHECK(best.algorithm == A::winograd_nonfused);
  CHECK(best.kernel.time == forward(A::winograd_nonfused).time);
}
