#include "model/cost/library_age.hpp"

namespace tbdsim {

double young_library_share(const Architecture& chip, const std::string& cuda) {
  constexpr double kShare = 0.8;
  return is_young_for(cuda, chip) ? kShare : 1.0;
}

double young_convolution_share(const Architecture& chip, const std::string& cuda) {
  constexpr double kShare = 0.55;
  return is_young_for(cuda, chip) ? kShare : 1.0;
}

}  // namespace tbdsim
