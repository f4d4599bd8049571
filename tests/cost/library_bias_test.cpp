#include "model/cost/library_bias.hpp"

#include "model/cost/memory_bound.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

/// 80 multiprocessors at 1.5 GHz beside 900 GB/s; a kernel starts in 5 us.
const KernelRates kBoard{FlopPerSecond(1e13), BytesPerSecond(9e11), Seconds(5e-6), 80, Hertz(1.5e9)};

KernelTimeModel gradient(double samples, double channels, double positions) {
  const KernelTimeModel moved = memory_bound_time(Bytes(4.0 * samples * channels * positions), 1.0, kBoard);
  return library_bias_gradient_time(moved, samples, channels, positions, kBoard);
}

}  // namespace

TEST_CASE("gradient of a bias by the library: few channels of large maps wait for their loads") {
  // 15 x 392 loads of 400 cycles; the bytes take 214 us.
  const KernelTimeModel large = gradient(15, 64, 224 * 224);
  CHECK_THAT(large.time.base(), WithinRel(5e-6 + 15 * 392 * 400 / 1.5e9, 1e-12));
  CHECK_THAT(large.issue.dependency.base(), WithinRel(large.time.base() - 5e-6 - 15 * 64 * 224 * 224 * 4 / 9e11, 1e-12));
  CHECK(gradient(15, 1, 224 * 224).time == large.time);
  // 80 x 16 blocks are resident at once; the first beyond them is a second turn.
  const auto waits = [](double channels) { return (gradient(1, channels, 1).time - kBoard.launch).base(); };
  CHECK_THAT(waits(1280), WithinRel(400 / 1.5e9, 1e-12));
  CHECK_THAT(waits(1281), WithinRel(2 * 400 / 1.5e9, 1e-12));
  // 2,560 channels of 56 x 56: 2 x 25 loads take less than the bytes do.
  CHECK_THAT(gradient(1, 2560, 56 * 56).time.base(), WithinRel(5e-6 + 2560 * 56 * 56 * 4 / 9e11, 1e-12));
}
