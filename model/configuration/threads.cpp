#include "model/configuration/threads.hpp"

#ifdef _OPENMP  // the web page has one thread
#include <omp.h>
#endif

#include <algorithm>

namespace tbdsim {

void bound_threads() {
#ifdef _OPENMP
  constexpr int kOnACore = 4;  // results do not depend on the number; more only wait for one another
  constexpr int kAlways = 16;  // so that tests of many threads run on few cores
  omp_set_num_threads(std::min(omp_get_max_threads(), std::max(kAlways, kOnACore * omp_get_num_procs())));
#endif
}

}  // namespace tbdsim
