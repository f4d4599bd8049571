#pragma once
#include <vector>

#include "model/memory/footprint.hpp"

namespace tbdsim {

/// How much more or less an allocator takes whose regions double in each of some worlds, where the arrays that come and go are of
/// other sizes: all together between exp(-doubt) and exp(doubt) times as large, and each size half as far apart from the others,
/// so that holes lie otherwise. On a device without end. Expects `events` in `memory`.
[[nodiscard]] std::vector<Bytes> region_changes(const StepMemory& memory, double doubt, int worlds);

}  // namespace tbdsim
