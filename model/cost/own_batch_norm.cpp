#include "model/cost/own_batch_norm.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {

BatchNormShape batch_norm_shape(const Shape& x, double batch) {
  const auto channels = static_cast<double>(x.size() == 2 ? x[1] : x[0]);
  return {batch, channels, static_cast<double>(elements(x)) / channels};
}

KernelTimeModel own_batch_norm_time(KernelTimeModel moved, const BatchNormShape& shape, bool forward, const KernelRates& rates) {
  constexpr double kBlock = 512.0, kWarp = 32.0, kLoad = 400.0;
  double wide = kWarp;
  while (wide < shape.positions && wide < kBlock) wide *= 2.0;
  const double blocks = rates.multiprocessors * std::max(1.0, std::floor(rates.resident_threads / kBlock));
  const double turns =
      std::ceil(shape.channels / blocks) * std::ceil(shape.samples / (kBlock / wide)) * std::ceil(shape.positions / wide);
  const Seconds waits = turns * kLoad / rates.clock, moving = moved.time - moved.launch;
  const auto pass = [&](double share) { return std::max(share * moving, waits); };
  const Seconds longer = forward ? pass(1.0 / 3.0) + 2.0 / 3.0 * moving - moving : pass(0.4) + pass(0.6) - moving;
  if (forward) {
    moved.time += rates.launch;
    moved.launch += rates.launch;
    moved.kernels += 1;
  }
  moved.time += longer;
  moved.issue.dependency += longer;
  return moved;
}

}  // namespace tbdsim
