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

}  // namespace tbdsim
