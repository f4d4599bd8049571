// The worked examples "Tiled GEMM" and "Memory-bound operator" of model/cost/README.md, by hand and by the model.
#include "model/cost/gemm.hpp"
#include "model/cost/board_rates.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/cost/address_translation.hpp"
#include "model/cost/memory_bound.hpp"
#include "model/cost/transfer.hpp"
#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;
using example::kBoard;
using example::microseconds;
using example::tiles;

TEST_CASE("worked example: matrix product of 1024 x 1024 x 1024 on the invented board") {
  const KernelTimeModel model = gemm_time({1024, 1024, 1024, 1}, Bytes(4.0), tiles(), kBoard);
  // 64 x 64 tiles, split 4: 16 x 16 x 4 = 1024 blocks, 13 waves of 80; a = 4: 1 + 4 x 128 / 4096 = 1.125.
  const double compute = 13 * 8192.0 * (1024.0 / 4 + 16) * (80 / 12.8e12) * 1.125;
  const double matrix = 1024.0 * 1024 * 4;
  const double memory = (3 * matrix + 0.1 * matrix * 15 + 2 * 4 * matrix) / 600e9;
  const double time = 5e-6 + std::cbrt(std::pow(compute, 3) + std::pow(memory, 3));
  CHECK_THAT(model.time.base(), WithinRel(time, 1e-12));
  CHECK(model.flop == Flop(2.0 * 1024 * 1024 * 1024));
  CHECK(model.bytes == Bytes(3 * matrix));
  CHECK(model.bound == Bound::compute);
  CHECK(model.kernels == 2);  // the product and the sum of its parts
  CHECK(documented("= " + microseconds(Seconds(compute))));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(model.time)));

  const TiledGemm chosen = tiled_gemm({1024, 1024, 1024, 1}, {Bytes(3 * matrix), Bytes(matrix), Bytes(matrix)}, tiles(), kBoard);
  CHECK(chosen.tile_m == 64);
  CHECK(chosen.tile_n == 64);
  CHECK(chosen.split == 4);
  CHECK_THAT(chosen.compute.base(), WithinRel(compute, 1e-12));
  CHECK_THAT(chosen.memory.base(), WithinRel(memory, 1e-12));

  // A multiprocessor that multiplies twice as fast beside the same loads.
  KernelRates faster = kBoard;
  faster.step_overhead = 2.0;
  const TiledGemm large = tiled_gemm({1024, 1024, 1024, 1}, {Bytes(3 * matrix), Bytes(matrix), Bytes(matrix)}, tiles(), faster);
  CHECK(large.tile_m == 128);
  CHECK(large.split == 1);
  CHECK_THAT(large.compute.base(), WithinRel(32768.0 * (1024 + 2 * 16) * (80 / 12.8e12) * (1 + 2 * 4.0 * 256 / 16384), 1e-12));
  CHECK(documented("= " + microseconds(large.compute)));

  // The alternatives that the example names: what the menu offers without a split, and the largest tile alone.
  TileConstants largest = tiles();
  largest.largest_tile_only = true;
  largest.max_split = 1;
  const TiledGemm one_wave =
      tiled_gemm({1024, 1024, 1024, 1}, {Bytes(3 * matrix), Bytes(matrix), Bytes(matrix)}, largest, kBoard);
  CHECK(documented("(" + microseconds(one_wave.time) + "), but fills only 64"));
}

TEST_CASE("worked example: where narrow tiles are poor, 64 columns take as long as 128") {
  TileConstants kernels = tiles();
  kernels.tile_penalty = kernels.reread = 0.0;
  const GemmShape shape{2048, 64, 2048, 1000};
  const auto tiled = [&](const GemmShape& s) { return tiled_gemm(s, {}, kernels, kBoard); };
  CHECK(tiled(shape).tile_n == 64);
  CHECK(documented("= " + microseconds(tiled(shape).compute)));
  kernels.narrow_tiles = 2.2;
  CHECK(tiled(shape).tile_n == 128);
  CHECK(documented("= " + microseconds(tiled(shape).compute)));
  CHECK(tiled(shape).time == tiled({2048, 128, 2048, 1000}).time);
  // Rows are another matter: those tiles are as good as ever, until they are not.
  CHECK(tiled({64, 2048, 2048, 1000}).tile_m == 64);
  kernels.short_tiles = 2.2;
  CHECK(tiled({64, 2048, 2048, 1000}).tile_m == 128);
}

TEST_CASE("worked example: 16 rows reach a share of the bandwidth, 17 all of it where the library says so") {
  TileConstants thin = tiles();
  thin.reread = 0.0;
  thin.max_split = 1;
  thin.few_rows_bandwidth = 0.4;
  thin.few_rows_until = 16.0;
  const Bytes a(16 * 2560 * 4.0), b(2560 * 2560 * 4.0);
  const Seconds memory = tiled_gemm({16, 2560, 2560}, {2.0 * a + b, a, a}, thin, kBoard).memory;
  CHECK(documented("M = 26,542,080 / (0.4 x 600e9) = " + microseconds(memory)));
  TileConstants plain = thin;
  plain.few_rows_bandwidth = 1.0;
  for (const GemmShape& shape : {GemmShape{17, 2560, 2560}, GemmShape{2560, 17, 2560}})
    CHECK(gemm_time(shape, Bytes(4.0), thin, kBoard).time == gemm_time(shape, Bytes(4.0), plain, kBoard).time);
  for (const GemmShape& shape : {GemmShape{16, 2560, 2560}, GemmShape{2560, 16, 2560}})
    CHECK(gemm_time(shape, Bytes(4.0), thin, kBoard).time > gemm_time(shape, Bytes(4.0), plain, kBoard).time);
  // A transposed B has a share of its own.
  const GemmShape transposed{16, 2560, 2560, 1, true};
  CHECK(gemm_time(transposed, Bytes(4.0), thin, kBoard).time == gemm_time(transposed, Bytes(4.0), plain, kBoard).time);
  thin.few_rows_transposed = 0.4;
  CHECK(gemm_time(transposed, Bytes(4.0), thin, kBoard).time > gemm_time(transposed, Bytes(4.0), plain, kBoard).time);
}

TEST_CASE("worked example: rows of 16,384 numbers miss the translation buffers") {
  const Bytes row(16384 * 4.0), operands(2 * 4096.0 * 16384 * 4);
  const double missed = missed_translations(row, operands);
  CHECK_THAT(missed, WithinRel(65536.0 / 32 * (65536.0 / 131072) * (1 - 128e6 / 536870912.0), 1e-12));
  CHECK(documented(fmt::format("= {:.4f}\n", missed)));
  KernelRates pascal = kBoard;
  pascal.translations = Hertz(2.6e9);
  const double translation = 32.0 * 32 * 256 * missed / 2.6e9;
  CHECK(documented("= " + microseconds(Seconds(translation))));

  // Joined by the 3-norm with what the same tiling takes without it.
  const GemmShape linear{4096, 4096, 16384, 1, true};
  const double before = gemm_time(linear, Bytes(4.0), tiles(), kBoard).time.base() - 5e-6;
  const double after = gemm_time(linear, Bytes(4.0), tiles(), pascal).time.base() - 5e-6;
  CHECK_THAT(after, WithinRel(std::cbrt(std::pow(before, 3) + std::pow(translation, 3)), 1e-9));

  // Nothing within the reach, for operands that do not lie along k, for few rows, for other generations.
  CHECK(missed_translations(row, Bytes(128e6)) == 0.0);
  CHECK(missed_translations(row, Bytes(129e6)) > 0.0);
  CHECK(gemm_time({4096, 4096, 16384}, Bytes(4.0), tiles(), pascal).time ==
        gemm_time({4096, 4096, 16384}, Bytes(4.0), tiles(), kBoard).time);
  CHECK(gemm_time({127, 65536, 16384, 1, true}, Bytes(4.0), tiles(), pascal).time ==
        gemm_time({127, 65536, 16384, 1, true}, Bytes(4.0), tiles(), kBoard).time);
  CHECK(gemm_time({128, 65536, 16384, 1, true}, Bytes(4.0), tiles(), pascal).time >
        gemm_time({128, 65536, 16384, 1, true}, Bytes(4.0), tiles(), kBoard).time);
  Device device;
  CHECK(sustained_rates(device, kBoard.flops, 1.0, kBoard.bandwidth, kBoard.launch, "fp32").translations == Hertz(0.0));
  device.address_translations = Hertz(2.6e9);
  CHECK(sustained_rates(device, kBoard.flops, 1.0, kBoard.bandwidth, kBoard.launch, "fp32").translations == Hertz(2.6e9));
}

TEST_CASE("worked example: softmax over rows of 8,192 whose cache does not hold them") {
  KernelRates board = kBoard;
  board.cache = Bytes(6e6);
  // 80 x 2048 / 1024 = 160 rows of 32,768 B in work: 5,242,880 B, of which half the cache holds 3,000,000 B.
  const double again = reread_passes(RowKernel::softmax, 8192, Bytes(4.0), board);
  CHECK_THAT(again, WithinRel(2 / (1 + std::pow(3e6 / 5242880.0, 3.4)), 1e-12));
  CHECK(documented("= " + fmt::format("{:.4f} passes", again)));
  const double tensor = 4096.0 * 8192 * 4;
  const KernelTimeModel model = memory_bound_time(Bytes((2 + again) * tensor), 1.0, board);
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("worked example: forward batch norm of 32 x 64 x 112 x 112 in three passes") {
  Stack stack;
  stack.operators.passes.batch_norm_forward = 3;
  Op norm;
  norm.kind = OpKind::batch_norm;
  const Passes passes = memory_passes(norm, stack).value();
  const double tensor = 32.0 * 64 * 112 * 112 * 4;
  const Bytes bytes((passes.forward_inputs + passes.forward_output) * tensor);
  CHECK(bytes == Bytes(308281344.0));
  const KernelTimeModel model = memory_bound_time(bytes, passes.bandwidth_share, kBoard);
  CHECK_THAT(model.time.base(), WithinRel(5e-6 + 308281344.0 / 600e9, 1e-12));
  CHECK(model.bound == Bound::memory);
  CHECK(documented("= 308,281,344 B"));
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("worked example: the same batch norm in 16 bits, numbers one at a time") {
  const double numbers = 3 * 32.0 * 64 * 112 * 112, issuing = 20 * numbers / (64 * 80e9), moving = numbers * 2 / 600e9;
  const KernelTimeModel model = single_access_time(Bytes(numbers * 2), Bytes(2.0), 1.0, kBoard);
  CHECK_THAT(model.time.base(), WithinRel(5e-6 + std::cbrt(std::pow(issuing, 3) + std::pow(moving, 3)), 1e-12));
  CHECK(documented("= " + microseconds(Seconds(issuing))));
  CHECK(documented("= " + microseconds(Seconds(moving))));
  CHECK(documented("= " + microseconds(model.time)));
  // 32-bit numbers take as long as their bytes, on Kepler the longer of the two; 16 bits are never slower.
  CHECK(single_access_time(Bytes(numbers * 4), Bytes(4.0), 1.0, kBoard).time ==
        memory_bound_time(Bytes(numbers * 4), 1.0, kBoard).time);
  KernelRates wide = kBoard;
  wide.bandwidth = 10.0 * kBoard.bandwidth;
  const auto seconds = [&](double size) { return single_access_time(Bytes(numbers * size), Bytes(size), 1.0, wide).time.base(); };
  CHECK_THAT(seconds(4.0), WithinRel(5e-6 + numbers * 4 / 6e12, 1e-12));
  CHECK_THAT(seconds(2.0), WithinRel(seconds(4.0), 1e-12));
  wide.slow_integers = true;
  CHECK_THAT(seconds(4.0), WithinRel(5e-6 + issuing, 1e-12));
  CHECK_THAT(seconds(2.0), WithinRel(seconds(4.0), 1e-12));
}
