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
  first.executing += then.executing;
  first.issue.pipe += then.issue.pipe;
  first.issue.dependency += then.issue.dependency;
  first.issue.memory += then.issue.memory;
  first.issue.barrier += then.issue.barrier;
}

void split_issue(KernelTimeModel& kernel, Seconds compute, Seconds first, Seconds pipe) {
  const Seconds body = kernel.time - kernel.launch;
  compute = std::min(compute, body);
  first = std::min(first, compute);
  pipe = std::min(pipe, compute - first);
  kernel.issue = {pipe, compute - first - pipe, body - compute + first, Seconds(0.0)};
}

KernelTimeModel repeated(KernelTimeModel kernel, double times) {
  kernel.time = times * kernel.time;
  kernel.flop = times * kernel.flop;
  kernel.bytes = times * kernel.bytes;
  kernel.launch = times * kernel.launch;
  kernel.kernels = static_cast<int>(times * kernel.kernels);
  kernel.executing = times * kernel.executing;
  for (Seconds* part : {&kernel.issue.pipe, &kernel.issue.dependency, &kernel.issue.memory, &kernel.issue.barrier})
    *part = times * *part;
  return kernel;
}

}  // namespace tbdsim
