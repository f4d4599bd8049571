#pragma once

namespace tbdsim {

/// Bounds the threads that parallel loops start to a few on each core: OMP_NUM_THREADS may ask for more than the system can make.
void bound_threads();

}  // namespace tbdsim
