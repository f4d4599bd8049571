#include "model/cost/kernel_time.hpp"

#include <algorithm>

namespace tbdsim {

void append(KernelTimeModel& first, const KernelTimeModel& then) {
  if (then.time > first.time) first.bound = then.bound;
  first.time += then.time;
  first.flop += then.flop;
  first.bytes += then.bytes;
  first.workspace = std::max(first.workspace, then.workspace);
  first.launch += then.launch;
  first.kernels += then.kernels;
}

KernelTimeModel repeated(KernelTimeModel kernel, double times) {
  kernel.time = times * kernel.time;
  kernel.flop = times * kernel.flop;
  kernel.bytes = times * kernel.bytes;
  kernel.launch = times * kernel.launch;
  kernel.kernels = static_cast<int>(times * kernel.kernels);
  return kernel;
}

}  // namespace tbdsim
