#pragma once
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What bounds a kernel.
enum class Bound { compute, memory, launch };

/// Duration of one kernel (or short chain of kernels) on the device, launch included, and what it does.
struct KernelTimeModel {
  Seconds time;
  Flop flop;        ///< useful, 2 per multiply-add; as the direct method would need
  Bytes bytes;      ///< moved to and from device memory
  Bytes workspace;  ///< scratch memory the algorithm asks for
  Bound bound = Bound::compute;
  Seconds launch;   ///< the part of `time` in which kernels start and drain
  int kernels = 1;  ///< launches
};

/// Adds a kernel that runs after `first`; what bounds the longer of both bounds the chain.
void append(KernelTimeModel& first, const KernelTimeModel& then);
/// `times` equal kernels one after the other, in the same scratch memory.
[[nodiscard]] KernelTimeModel repeated(KernelTimeModel kernel, double times);

}  // namespace tbdsim
