#include "model/cost/library_age.hpp"

#include "model/hardware/device.hpp"

namespace tbdsim {

double young_library_share(const std::string& capability, const std::string& cuda) {
  constexpr double kShare = 0.8;
  constexpr int kAmpere = 80, kAda = 89, kBlackwell = 100, kSecondOfAmpere = 111, kSecondOfHopper = 120;
  const int board = capability_number(capability), version = capability_number(cuda);
  const bool young = board >= kAmpere && board < kBlackwell && version <= (board < kAda ? kSecondOfAmpere : kSecondOfHopper);
  return young ? kShare : 1.0;
}

}  // namespace tbdsim
