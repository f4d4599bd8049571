#include "model/cost/library_age.hpp"

#include "model/hardware/cuda_release.hpp"

namespace tbdsim {

double young_library_share(const std::string& capability, const std::string& cuda) {
  constexpr double kShare = 0.8;
  return is_young_for(cuda, capability) ? kShare : 1.0;
}

}  // namespace tbdsim
