// Tiling of matrix products: waves, splits and limits. A menu of one tile makes every expectation a hand count.
#include "model/cost/tiled_gemm.hpp"

#include <algorithm>
#include <cmath>

#include "model/cost/gemm.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

// 10 multiprocessors of 1 GFLOP/s; memory so fast that it adds nothing visible.
const KernelRates kComputer{FlopPerSecond(1e10), BytesPerSecond(1e30), Seconds(0.0), 10};
// Arithmetic so fast that only memory counts.
const KernelRates kMemory{FlopPerSecond(1e30), BytesPerSecond(1e9), Seconds(0.0), 10};

TileConstants plain() {
  TileConstants c;
  c.prologue_depth = 0.0;
  c.tile_penalty = 0.0;
  c.reread = 0.0;
  return c;
}

TileConstants only_largest() {
  TileConstants c = plain();
  c.largest_tile_only = true;
  c.max_split = 1;
  return c;
}

}  // namespace

TEST_CASE("whole waves: one block more than the multiprocessors costs a second wave") {
  // m = 128 b is b blocks of 128 x 128; each takes 2 x 128 x 128 x k / 1 GFLOP/s.
  const double block = 2.0 * 128 * 128 * 64 / 1e9;
  const auto seconds = [](double m) { return tiled_gemm({m, 128, 64, 1}, {}, only_largest(), kComputer).time.base(); };
  CHECK_THAT(seconds(128), WithinRel(block, 1e-12));
  CHECK_THAT(seconds(1280), WithinRel(block, 1e-12));
  CHECK_THAT(seconds(1281), WithinRel(2 * block, 1e-12));
  CHECK_THAT(seconds(2560), WithinRel(2 * block, 1e-12));
  CHECK_THAT(seconds(2561), WithinRel(3 * block, 1e-12));
}

TEST_CASE("independent products fill waves together") {
  const double block = 2.0 * 128 * 128 * 64 / 1e9;
  const auto seconds = [](double count) { return tiled_gemm({128, 128, 64, count}, {}, only_largest(), kComputer).time.base(); };
  CHECK_THAT(seconds(10), WithinRel(block, 1e-12));
  CHECK_THAT(seconds(11), WithinRel(2 * block, 1e-12));
}

TEST_CASE("a product with few tiles is split along k, one that fills the device is not") {
  // One tile of the menu on ten multiprocessors: without a split nine of them idle.
  const TiledGemm few = tiled_gemm({32, 32, 4096, 1}, {}, plain(), kComputer);
  CHECK(few.split > 1);
  CHECK(few.time.base() < 2.0 * 32 * 32 * 4096 / 1e9 / 4);
  // 10 x 128 x 128: exactly one wave; parts cannot be faster, and the first tiling that reaches the optimum stays.
  const TiledGemm full = tiled_gemm({1280, 128, 4096, 1}, {}, plain(), kComputer);
  CHECK(full.split == 1);
  CHECK(full.tile_m == 128);
  CHECK_THAT(full.time.base(), WithinRel(2.0 * 128 * 128 * 4096 / 1e9, 1e-12));
}

TEST_CASE("parts of a split take as long as at least 32 columns of k") {
  CHECK(tiled_gemm({32, 32, 32, 1}, {}, plain(), kComputer).split == 1);
  CHECK(tiled_gemm({32, 32, 64, 1}, {}, plain(), kComputer).split == 2);
  // 33 to 63 columns are two parts too, of which the longer decides.
  for (const double depth : {48.0, 63.0})
    CHECK(tiled_gemm({32, 32, depth, 1}, {}, plain(), kComputer).time ==
          tiled_gemm({32, 32, 64, 1}, {}, plain(), kComputer).time);
}

TEST_CASE("more rows, columns or depth never make a product faster, whatever kernels for few rows reach") {
  TileConstants waiting;
  waiting.few_rows_bandwidth = 0.4;
  waiting.few_rows_transposed = 0.3;
  const KernelRates board{FlopPerSecond(1e13), BytesPerSecond(5e11), Seconds(5e-6), 56};
  const auto time = [&](double m, double n, double k, bool transposed) {
    return gemm_time({m, n, k, 1, transposed}, Bytes(4.0), waiting, board).time.base();
  };
  for (const bool transposed : {false, true}) {
    for (const double other : {8.0, 64.0, 512.0, 4096.0}) {
      double rows = 0.0, columns = 0.0, deep = 0.0;
      for (double v = 1.0; v <= 200.0; v += 1.0) {
        INFO(v << " beside " << other);
        const double r = time(v, other, 1024, transposed), c = time(other, v, 1024, transposed),
                     d = time(other, 512, v, transposed);
        CHECK(r >= rows * 0.97);
        CHECK(c >= columns * 0.97);
        CHECK(d >= deep * 0.97);
        rows = std::max(rows, r), columns = std::max(columns, c), deep = std::max(deep, d);
      }
    }
  }
  // A library that leaves those kernels after 16 rows although 17 are faster in the next: said, not assumed.
  waiting.few_rows_until = 16.0;
  CHECK(time(17, 4096, 4096, false) < 0.6 * time(16, 4096, 4096, false));
}

TEST_CASE("no split beyond the library's largest") {
  TileConstants c = plain();
  for (const int largest : {1, 2, 8}) {
    c.max_split = largest;
    CHECK(tiled_gemm({32, 32, 1 << 20, 1}, {}, c, kComputer).split == largest);
  }
}

TEST_CASE("partial sums make a split cost traffic: written and read once per part") {
  // Free arithmetic: every split only adds bytes, so none is taken.
  const GemmTraffic traffic{Bytes(3e6), Bytes(1e6), Bytes(1e6)};
  const TiledGemm memory = tiled_gemm({1024, 1024, 1024, 1}, traffic, plain(), kMemory);
  CHECK(memory.split == 1);
  CHECK_THAT(memory.time.base(), WithinRel(3e6 / 1e9, 1e-12));
  // Traffic and arithmetic alike: 64 x 64 x 4096 on one multiprocessor takes 33.6 ms unsplit; a split of s adds 2 s partial.
  const KernelRates both{FlopPerSecond(1e10), BytesPerSecond(1e9), Seconds(0.0), 10};
  const TiledGemm cheap = tiled_gemm({32, 32, 4096, 1}, {Bytes(0.0), Bytes(0.0), Bytes(1.0)}, plain(), both);
  const TiledGemm dear = tiled_gemm({32, 32, 4096, 1}, {Bytes(0.0), Bytes(0.0), Bytes(1e8)}, plain(), both);
  CHECK(cheap.split == 8);  // 8 parts on 10 multiprocessors; 16 would need two waves
  CHECK(dear.split == 1);
}

TEST_CASE("each further column of tiles reads a share of A again") {
  TileConstants c = only_largest();
  c.reread = 0.25;
  const GemmTraffic traffic{Bytes(10e6), Bytes(4e6), Bytes(0.0)};
  const auto seconds = [&](double n) { return tiled_gemm({128, n, 32, 1}, traffic, c, kMemory).time.base(); };
  CHECK_THAT(seconds(128), WithinRel(10e-3, 1e-12));
  CHECK_THAT(seconds(129), WithinRel(11e-3, 1e-12));
  CHECK_THAT(seconds(384), WithinRel(12e-3, 1e-12));
}

TEST_CASE("prologue, tile penalty and scale stretch the arithmetic as stated") {
  const double base = tiled_gemm({128, 128, 64, 1}, {}, only_largest(), kComputer).time.base();
  TileConstants c = only_largest();
  c.prologue_depth = 16;
  CHECK_THAT(tiled_gemm({128, 128, 64, 1}, {}, c, kComputer).time.base(), WithinRel(base * 80 / 64, 1e-12));
  c = only_largest();
  c.tile_penalty = 4;
  CHECK_THAT(tiled_gemm({128, 128, 64, 1}, {}, c, kComputer).time.base(), WithinRel(base * 1.0625, 1e-12));
  c = only_largest();
  c.compute_scale = 0.5;
  CHECK_THAT(tiled_gemm({128, 128, 64, 1}, {}, c, kComputer).time.base(), WithinRel(base * 0.5, 1e-12));
}

TEST_CASE("arithmetic and memory join by a 3-norm: between the maximum and the sum") {
  // 128 x 128 x 64 takes C = 2.097 ms on one multiprocessor; the same from memory: 2^(1/3) C.
  const double compute = 2.0 * 128 * 128 * 64 / 1e9;
  const KernelRates both{FlopPerSecond(1e10), BytesPerSecond(1e9), Seconds(0.0), 10};
  const TiledGemm joined = tiled_gemm({128, 128, 64, 1}, {Bytes(compute * 1e9), {}, {}}, only_largest(), both);
  CHECK_THAT(joined.time.base(), WithinRel(compute * std::cbrt(2.0), 1e-12));
  CHECK_THAT(joined.memory.base(), WithinRel(joined.compute.base(), 1e-12));
}

TEST_CASE("a library call: launch, bound and the limit of a matrix times a vector") {
  const KernelRates board{FlopPerSecond(1e13), BytesPerSecond(5e11), Seconds(5e-6), 80};
  // 4096 x 1 x 4096 reads 64 MiB once: 1 FLOP per 2 bytes is far left of any ridge point.
  // The narrowest tile has 32 columns, so on the board above the form takes 32 columns' time; tensor cores hide that.
  const KernelRates tensor_cores{FlopPerSecond(1e14), BytesPerSecond(5e11), Seconds(5e-6), 80};
  const KernelTimeModel vector = gemm_time({4096, 1, 4096, 1}, Bytes(4.0), TileConstants{}, tensor_cores);
  const double moved = (4096.0 * 4096 + 2 * 4096) * 4 / 5e11;
  CHECK(vector.bound == Bound::memory);
  CHECK(vector.time.base() >= 5e-6 + moved);
  CHECK(vector.time.base() <= 5e-6 + 1.3 * moved);
  CHECK(vector.flop == Flop(2.0 * 4096 * 4096));
  // A product smaller than its own launch.
  const KernelTimeModel tiny = gemm_time({32, 32, 32, 1}, Bytes(4.0), TileConstants{}, board);
  CHECK(tiny.bound == Bound::launch);
  CHECK(tiny.time > Seconds(5e-6));
  CHECK(gemm_time({4096, 4096, 4096, 1}, Bytes(4.0), TileConstants{}, board).bound == Bound::compute);
}

TEST_CASE("faster arithmetic, faster memory or more multiprocessors at the same rate each never slow a product") {
  for (const double m : {1.0, 33.0, 500.0, 1281.0, 4096.0}) {
    for (const double k : {32.0, 100.0, 1760.0}) {
      const auto time = [&](double flops, double bandwidth, int sms) {
        return gemm_time({m, 700, k, 1}, Bytes(4.0), TileConstants{},
                         {FlopPerSecond(flops), BytesPerSecond(bandwidth), Seconds(5e-6), sms})
            .time;
      };
      INFO("m " << m << ", k " << k);
      const Seconds base = time(1e13, 5e11, 80);
      CHECK(time(1.1e13, 5e11, 80) <= base);
      CHECK(time(1e13, 6e11, 80) <= base);
      CHECK(time(1e13 * 81 / 80, 5e11, 81) <= base);
    }
  }
}
