#include "model/cost/layer_norm.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {
namespace {

/// Clocks of one multiprocessor for all its rows.
double row_clocks(const LayerNormShape& shape, Pass pass, int multiprocessors) {
  constexpr double kBlock = 500.0, kSweep = 100.0, kSweepElements = 512.0, kBackwardShare = 0.5;
  const double row = kBlock + kSweep * std::ceil(shape.cols / kSweepElements);
  return shape.rows / multiprocessors * row * (pass == Pass::forward ? 1.0 : kBackwardShare);
}

}  // namespace

double column_sum_clocks(const LayerNormShape& shape, const NormColumns& sums, int multiprocessors) {
  constexpr double kWide = 32.0, kNarrow = 16.0, kLatency = 700.0, kBytesPerClock = 64.0, kManyRows = 65536.0;
  const bool wide = sums.splits_rows || (std::fmod(shape.rows, kWide) == 0.0 && std::fmod(shape.cols, kWide) == 0.0);
  const double columns = std::min(shape.cols, wide ? kWide : kNarrow);
  const double rate = 1.0 / (1.0 / kBytesPerClock + kLatency / (columns * sums.loads * shape.element.base()));
  const double blocks = std::ceil(shape.cols / columns);
  const bool shared = sums.splits_rows && shape.rows > kManyRows && blocks < multiprocessors / 2.0;
  const double turns = shared ? blocks / multiprocessors : std::ceil(blocks / multiprocessors);
  return 2.0 * shape.rows * columns * shape.element.base() / rate * turns;
}

KernelTimeModel layer_norm_time(const KernelTimeModel& moving, const LayerNormShape& shape, Pass pass, const NormColumns& sums,
                                const KernelRates& rates) {
  const auto seconds = [&](double clocks) { return Seconds(clocks / rates.clock.base()); };
  const Seconds bytes = moving.time - moving.launch, rows = seconds(row_clocks(shape, pass, rates.multiprocessors));
  KernelTimeModel result = moving;
  if (pass == Pass::forward) {
    result.time = moving.launch + std::max(bytes, rows);
  } else {
    // Of five passes over the rows, three are the input's gradient's and two those of scale and shift.
    constexpr double kOfInput = 0.6;
    const Seconds columns = seconds(column_sum_clocks(shape, sums, rates.multiprocessors));
    result.kernels = 2;
    result.launch += rates.launch;
    result.time = result.launch + std::max(kOfInput * bytes, rows) + std::max((1.0 - kOfInput) * bytes, columns);
  }
  result.issue.dependency = result.issue.dependency + (result.time - result.launch) - bytes;
  return result;
}

}  // namespace tbdsim
