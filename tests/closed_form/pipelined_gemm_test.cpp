// The worked example "Products since Ampere" of model/cost/README.md, by hand and by the model, and what the form promises.
#include "model/cost/pipelined_gemm.hpp"

#include <cmath>
#include <tuple>
#include <utility>

#include "model/cost/convolution.hpp"
#include "model/cost/gemm.hpp"
#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;
using example::microseconds;

namespace {

KernelRates board() {
  KernelRates rates{FlopPerSecond(160e12), BytesPerSecond(1500e9), Seconds(3e-6), 100};
  rates.boost = Hertz(1.5e9);
  rates.cache_bandwidth = BytesPerSecond(20.0 * 100 * 1.5e9);
  rates.cache = Bytes(40e6);
  return rates;
}

PipelinedConstants kernels() {
  PipelinedConstants c;
  c.tile_penalty = 12.0;
  c.wave_smoothing = 0.5;
  c.resident_waves = 0.25;
  c.load_latency = Seconds(4e-9);
  c.epilogue = Seconds(80e-12);
  c.split_cycles = 3000.0;
  return c;
}

constexpr Bytes kHalf(2.0);

double norm3(double a, double b) { return std::cbrt(a * a * a + b * b * b); }

Seconds time_of(const GemmShape& shape, const KernelRates& rates = board(), Bytes element = kHalf) {
  return pipelined_gemm(shape, element, kernels(), rates).time;
}

}  // namespace

TEST_CASE("worked example: 4096 x 4096 x 4096 in tiles of 256 x 128, 5.12 waves") {
  const double q = 512 / 100.0, waves = 0.75 * (0.5 * 6 + 0.5 * q) + 0.25 * 6;
  const double multiply = waves * 2 * 256 * 128 * 4096.0 * (100 / 160e12) * (1 + 12 * (1 / 256.0 + 1 / 128.0));
  const double load = 6 * 4e-9 * 4096, stores = 80e-12 * q * 256 * 128 * 2;
  const double compute = norm3(multiply, load) + stores;
  const double memory = 3 * 4096.0 * 4096 * 2 / 1500e9 + 0.13e-6;
  const TiledGemm tiled = pipelined_gemm({4096, 4096, 4096}, kHalf, kernels(), board());
  CHECK(tiled.tile_m * tiled.tile_n == 256 * 128);
  CHECK(tiled.split == 1);
  CHECK_THAT(tiled.compute.base(), WithinRel(compute, 1e-9));
  CHECK_THAT(tiled.memory.base(), WithinRel(memory, 1e-12));
  CHECK_THAT(tiled.time.base(), WithinRel(norm3(compute, memory), 1e-9));
  CHECK(documented("= " + microseconds(tiled.compute)));
  CHECK(documented("= " + microseconds(tiled.memory)));

  TileConstants constants;
  constants.pipelined = kernels();
  const KernelTimeModel model = gemm_time({4096, 4096, 4096}, kHalf, constants, board());
  CHECK(model.time == board().launch + tiled.time);
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("worked example: few blocks share k, which costs cycles and the traffic of the parts") {
  const TiledGemm tiled = pipelined_gemm({128, 1024, 4096}, kHalf, kernels(), board());
  CHECK(tiled.tile_m == 64);
  CHECK(tiled.tile_n == 64);
  CHECK(tiled.split == 3);
  // 32 tiles in 3 parts of 1,376 k-steps: 96 blocks on 100 multiprocessors.
  const double compute = norm3(2 * 64 * 64 * 1376.0 * (100 / 160e12) * (1 + 12 / 32.0), 4e-9 * 1376) + 80e-12 * 64 * 64 * 2;
  const double memory = (128 * 4096.0 + 1024 * 4096.0 + 128 * 1024.0) * 2 / 1500e9 + 0.13e-6;
  const double beside = 3000 / 1.5e9 + 3 * 8.0 * 128 * 1024 / 3000e9;
  CHECK_THAT(tiled.time.base(), WithinRel(norm3(compute, memory) + beside, 1e-9));
  CHECK(documented("= " + microseconds(tiled.time)));
}

TEST_CASE("power: a step keeps the sustained rate, a benchmark comes to it the nearer the longer its product is") {
  KernelRates rates = board();
  rates.sustained = FlopPerSecond(100e12);
  const double flop = 2.0 * 4096 * 4096 * 4096, brief = time_of({4096, 4096, 4096}).base();
  CHECK_THAT(time_of({4096, 4096, 4096}, rates).base(), WithinRel(flop / 100e12, 1e-12));
  rates.power_time = Seconds(0.9e-3);
  CHECK_THAT(time_of({4096, 4096, 4096}, rates).base(),
             WithinRel(brief + brief / (brief + 0.9e-3) * (flop / 100e12 - brief), 1e-12));
  rates.sustained = FlopPerSecond(1e18);
  CHECK(time_of({4096, 4096, 4096}, rates).base() == brief);
}

TEST_CASE("a benchmark finds the weights in the cache where all its copies fit, a step never does") {
  GemmShape shape{64, 1024, 1024};
  const double cold = time_of(shape).base();
  shape.weight_copies = 6;  // 12.6 MB of 40
  CHECK(time_of(shape).base() < cold);
  KernelRates small = board();
  small.cache = Bytes(10e6);
  CHECK(time_of(shape, small).base() == cold);
}

TEST_CASE("worked example: a library that walks down the rows fetches them again for each column of tiles") {
  PipelinedConstants c = kernels();
  c.splits = false;
  c.tiles = TileRule::cutlass_ada;
  c.reread = 1.0;
  // Rows of 268 MB, cache of 40 MB: 4 columns of 128, 10.24 waves of blocks.
  const TiledGemm tiled = pipelined_gemm({32768, 512, 4096}, kHalf, c, board());
  CHECK(tiled.tile_m == 128);
  CHECK(tiled.tile_n == 128);
  const double rows = 32768.0 * 4096 * 2, operands = rows + (512 * 4096.0 + 32768 * 512.0) * 2;
  CHECK_THAT(tiled.memory.base(), WithinRel((operands + 3 * rows) / 1500e9 + 0.13e-6, 1e-12));
  CHECK(documented("= " + microseconds(tiled.memory)));
  // Along the shorter side, weights of 4 MB stay in the cache.
  c.tiles = TileRule::fastest;
  CHECK_THAT(pipelined_gemm({32768, 512, 4096}, kHalf, c, board()).memory.base(), WithinRel(operands / 1500e9 + 0.13e-6, 1e-12));
  // Rows that the cache holds are fetched once.
  c.tiles = TileRule::cutlass_ada;
  const double few = (2048 * 4096.0 + 512 * 4096.0 + 2048 * 512.0) * 2;
  CHECK_THAT(pipelined_gemm({2048, 512, 4096}, kHalf, c, board()).memory.base(), WithinRel(few / 1500e9 + 0.13e-6, 1e-12));
}

TEST_CASE("CUTLASS as frameworks call it takes its tile by the rows alone") {
  PipelinedConstants c = kernels();
  c.splits = false;
  const auto tile = [&](TileRule rule, double rows) {
    c.tiles = rule;
    const TiledGemm tiled = pipelined_gemm({rows, 4096, 4096}, Bytes(1.0), c, board());
    return std::pair{tiled.tile_m, tiled.tile_n};
  };
  for (const auto& [rows, ada, hopper] : {std::tuple{16.0, std::pair{16, 64}, std::pair{16, 64}},
                                          {64.0, {32, 64}, {64, 64}},
                                          {128.0, {64, 64}, {64, 64}},
                                          {129.0, {64, 128}, {128, 128}},
                                          {257.0, {128, 128}, {128, 128}}}) {
    INFO(rows);
    CHECK(tile(TileRule::cutlass_ada, rows) == ada);
    CHECK(tile(TileRule::cutlass_hopper, rows) == hopper);
  }
}

TEST_CASE("more rows, columns, k-steps and products never take less time, nor does a slower board") {
  for (const double m : {1.0, 16.0, 64.0, 128.0, 512.0, 4096.0}) {
    for (const double k : {128.0, 1024.0, 16384.0}) {
      INFO(m << " x " << k);
      const double time = time_of({m, 1024, k}).base();
      CHECK(time_of({m, 1024, k, 2}).base() >= time);
      CHECK(time_of({m, 2048, k}).base() >= time);
      KernelRates slower = board();
      slower.flops = 0.9 * slower.flops;
      CHECK(time_of({m, 1024, k}, slower).base() >= time);
      slower = board();
      slower.bandwidth = 0.9 * slower.bandwidth;
      CHECK(time_of({m, 1024, k}, slower).base() >= time);
    }
  }
}

TEST_CASE("8-bit operands are half as long, their results are not, quantising is a start and three bytes an element") {
  CHECK(product_elements(Bytes(1.0)).result == Bytes(2.0));
  CHECK(product_elements(Bytes(4.0)).result == Bytes(4.0));
  const double memory = (4096.0 * 64 + 64.0 * 64 + 4096.0 * 64 * 2) / 1500e9 + 0.13e-6;
  CHECK_THAT(pipelined_gemm({4096, 64, 64}, Bytes(1.0), kernels(), board()).memory.base(), WithinRel(memory, 1e-12));
  PipelinedConstants c = kernels();
  c.quantize_launch = Seconds(9e-6);
  c.quantize_passes = 1.5;
  KernelRates rates = board();
  rates.quantize_bandwidth = BytesPerSecond(600e9);
  CHECK_THAT(quantize_time(1e8, c, rates).base(), WithinRel(9e-6 + 1.5 * 3e8 / 600e9, 1e-12));
  // 3 MB stay in the cache, which delivers twice as much.
  CHECK_THAT(quantize_time(1e6, c, rates).base(), WithinRel(9e-6 + 1.5 * 3e6 / 600e9 * 1500 / 3000, 1e-12));
}

TEST_CASE(
    "worked example: a convolution of 3 x 3 is its product, gathered at 1.15 times the arithmetic from an image read once") {
  // 100 images of 256 x 16 x 16, 256 filters: 25600 x 256 x 2304 in tiles of 256 x 128, two waves.
  const ConvolutionShape shape{100, 256, 16, 16, 256, 3, 3, 16, 16, 1, 1, 1};
  ConvolutionConstants constants;
  constants.pipelined = kernels();
  constants.aligned = Bytes(16.0);
  const KernelTimeModel model =
      convolution_time(shape, ConvolutionPass::forward, ConvolutionAlgorithm::implicit_gemm, kHalf, constants, board()).value();
  const double multiply = 2 * 2 * 256 * 128 * 2304.0 * (100 / 160e12) * 1.15 * (1 + 12 * (1 / 256.0 + 1 / 128.0));
  const double load = 2 * 4e-9 * 2304, stores = 80e-12 * 2 * 256 * 128 * 2;
  const double compute = norm3(multiply, load) + stores;
  const double memory = (2 * 100 * 256 * 256.0 + 256 * 2304.0) * 2 / 1500e9 + 0.13e-6;
  CHECK_THAT(model.time.base(), WithinRel(3e-6 + norm3(compute, memory), 1e-9));
  CHECK(model.bytes == Bytes((2 * 100 * 256 * 256.0 + 256 * 2304.0) * 2));
  CHECK(documented("= " + microseconds(Seconds(compute))));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("a convolution of one tap is a plain product; channels of an image are filled up to a load of 16 bytes") {
  ConvolutionConstants constants;
  constants.pipelined = kernels();
  constants.aligned = Bytes(16.0);
  const auto time = [&](const ConvolutionShape& shape, ConvolutionPass pass) {
    return convolution_time(shape, pass, ConvolutionAlgorithm::implicit_gemm, kHalf, constants, board())->time.base();
  };
  const double launch = 3e-6;
  const ConvolutionShape one{16, 256, 32, 32, 512, 1, 1, 32, 32, 1, 1, 1};
  CHECK_THAT(time(one, ConvolutionPass::forward), WithinRel(launch + time_of({16384, 512, 256}).base(), 1e-12));
  CHECK_THAT(time(one, ConvolutionPass::backward_data), WithinRel(launch + time_of({16384, 256, 512}).base(), 1e-12));
  CHECK_THAT(time(one, ConvolutionPass::backward_weights), WithinRel(launch + time_of({512, 256, 16384}).base(), 1e-12));
  const auto image = [](double channels) { return ConvolutionShape{256, channels, 64, 64, 512, 3, 3, 64, 64, 1, 1, 1}; };
  const double three = time(image(3), ConvolutionPass::forward), eight = time(image(8), ConvolutionPass::forward);
  CHECK(three < eight);  // fewer bytes
  CHECK(three > 0.95 * eight);
}
