#include "model/cost/library_bias.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {

KernelTimeModel library_bias_gradient_time(KernelTimeModel moved, double samples, double channels, double positions,
                                           const KernelRates& rates) {
  constexpr double kBlock = 128.0, kLoad = 400.0;
  const double blocks = rates.multiprocessors * std::max(1.0, std::floor(rates.resident_threads / kBlock));
  const double turns = std::ceil(channels / blocks) * samples * std::ceil(positions / kBlock);
  const Seconds waits = turns * kLoad / rates.clock, moving = moved.time - moved.launch;
  const Seconds longer = std::max(waits - moving, Seconds(0.0));
  moved.time += longer;
  moved.issue.dependency += longer;
  return moved;
}

}  // namespace tbdsim
