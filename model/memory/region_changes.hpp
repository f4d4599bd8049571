#pragma once
#include <vector>

#include "model/memory/footprint.hpp"

namespace tbdsim {

/// How far the sizes of arrays that come and go may be from the ones in the trace, as standard deviations of their logarithms.
struct ArrayDoubt {
  double maps;       ///< of all but the others
  double workspace;  ///< of scratch memory of convolutions
};

/// How much more or less an allocator takes whose regions double in each of some worlds, where the arrays that come and go are of
/// other sizes: all together between exp(-doubt) and exp(doubt) times as large, and each size half as far apart from the others,
/// so that holes lie otherwise. On a device without end. Expects `events` in `memory`.
[[nodiscard]] std::vector<Bytes> region_changes(const StepMemory& memory, ArrayDoubt doubt, int worlds);

}  // namespace tbdsim
