#pragma once
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What bounds a kernel.
enum class Bound { compute, memory, launch };

/// Where a kernel's time between start and drain goes, as its multiprocessors see it: by what their warps wait for. The four sum
/// to the kernel's time without its starts and drains.
struct IssueTime {
  Seconds pipe;        ///< the units execute multiply-adds, at their peak: further warps wait for the pipe
  Seconds dependency;  ///< instructions beside the multiply-adds, and results that later ones need
  Seconds memory;      ///< loads: what arithmetic does not hide, and the first ones of a tile or step
  Seconds barrier;     ///< threads of a block, or blocks of the device, wait for each other
};

/// Duration of one kernel (or short chain of kernels) on the device, launch included, and what it does.
struct KernelTimeModel {
  Seconds time;
  Flop flop;        ///< useful, 2 per multiply-add; as the direct method would need
  Bytes bytes;      ///< moved to and from device memory
  Bytes workspace;  ///< scratch memory the algorithm asks for
  Bound bound = Bound::compute;
  Seconds launch;   ///< the part of `time` in which kernels start and drain
  int kernels = 1;  ///< launches
  Seconds
      executing;  ///< time of all units for the multiply-adds that run, of whole tiles and transformed products, at their peak
  IssueTime issue;
};

/// Adds a kernel that runs after `first`; what bounds the longer of both bounds the chain.
void append(KernelTimeModel& first, const KernelTimeModel& then);
/// Splits a kernel's time after its launch. `compute` is its arithmetic term, of which `first` waits for first loads and `pipe`
/// executes multiply-adds on the multiprocessors that have work. What the term does not cover waits for memory.
void split_issue(KernelTimeModel& kernel, Seconds compute, Seconds first, Seconds pipe);
/// `times` equal kernels one after the other, in the same scratch memory.
[[nodiscard]] KernelTimeModel repeated(KernelTimeModel kernel, double times);

}  // namespace tbdsim
