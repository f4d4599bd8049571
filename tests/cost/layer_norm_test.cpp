// Layer norm where threads limit it: a block for each row, and few blocks for the sums over all rows.
#include "model/cost/layer_norm.hpp"

#include "model/cost/memory_bound.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

/// 100 multiprocessors at 1 GHz beside 400 GB/s; a kernel starts in 5 us.
const KernelRates kBoard{FlopPerSecond(1e13), BytesPerSecond(4e11), Seconds(5e-6), 100, Hertz(1e9)};
constexpr NormColumns kSums{512, false};

double microseconds(double rows, double cols, Pass pass, const NormColumns& sums = kSums) {
  const double passes = pass == Pass::forward ? 2.0 : 5.0;
  const KernelTimeModel moving = memory_bound_time(Bytes(4.0 * passes * rows * cols), 1.0, kBoard);
  return 1e6 * layer_norm_time(moving, {rows, cols, Bytes(4.0)}, pass, sums, kBoard).time.base();
}

}  // namespace

TEST_CASE("layer norm forward: short rows cost a block each, long ones their bytes") {
  // 1,000 rows a multiprocessor x (500 + 100) clocks, more than 51.2 MB take (128 us).
  CHECK_THAT(microseconds(1e5, 64, Pass::forward), WithinRel(5.0 + 600.0, 1e-12));
  // 10 rows x (500 + 8 x 100) clocks are 13 us, less than 32.768 MB take.
  CHECK_THAT(microseconds(1000, 4096, Pass::forward), WithinRel(5.0 + 81.92, 1e-12));
}

TEST_CASE("layer norm backward: two kernels, and the sums of few columns keep few multiprocessors busy") {
  // 1,024 rows x 300 clocks; two blocks of 32 columns, each 2 x 102,400 x 128 B, at 64 B a clock and 700 clocks for 65,536 B.
  const double block = 2 * 102400 * 128.0;
  CHECK_THAT(microseconds(102400, 64, Pass::backward), WithinRel(10.0 + 307.2 + block * (1 / 64.0 + 700 / 65536.0) / 1e3, 1e-12));
  // With 64 loads of a column on the way: 32 x 64 x 4 B in 700 clocks.
  CHECK_THAT(microseconds(102400, 64, Pass::backward, {64, false}),
             WithinRel(10.0 + 307.2 + block * (1 / 64.0 + 700 / 8192.0) / 1e3, 1e-12));
  // Rows that are no multiple of 32: blocks of 16 columns, 32,768 B in 700 clocks.
  CHECK_THAT(microseconds(102401, 16, Pass::backward),
             WithinRel(10.0 + 307.203 + 102401 * 128.0 * (1 / 64.0 + 700 / 32768.0) / 1e3, 1e-12));
  // Where many blocks share rows, two blocks of 32 columns are the work of a fiftieth of the device, up to 65,536 rows not.
  const NormColumns shared{512, true};
  CHECK_THAT(column_sum_clocks({102400, 64, Bytes(4.0)}, shared, 100),
             WithinRel(column_sum_clocks({102400, 64, Bytes(4.0)}, kSums, 100) / 50.0, 1e-12));
  CHECK(column_sum_clocks({65536, 64, Bytes(4.0)}, shared, 100) == column_sum_clocks({65536, 64, Bytes(4.0)}, kSums, 100));
  // Long rows fill the device: five passes over 4,096 x 8,192 elements.
  CHECK_THAT(microseconds(4096, 8192, Pass::backward), WithinRel(10.0 + 5 * 4096.0 * 8192.0 * 4.0 / 4e5, 1e-12));
}
