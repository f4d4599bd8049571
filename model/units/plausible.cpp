#include "model/units/plausible.hpp"

namespace tbdsim {

PlausibleMagnitudes plausible(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return {1e-15, 1e9};  // light crosses 0.3 um; 30 years
    case Dimension::size:
      return {0.125, 1e18};  // one bit; the largest storage systems hold 1 EB
    case Dimension::flop_count:
      return {1.0, 1e30};  // the largest trainings take 1e26
    case Dimension::bandwidth:
      return {0.125, 1e18};  // one bit a second; on-chip memories reach 1e16 B/s
    case Dimension::flop_rate:
      return {1.0, 1e21};  // GPUs reach 1e16, the largest machines 1e19 in FP8
    case Dimension::frequency:
      return {1.0, 1e15};  // also translations per second, of which boards make 1e9
    case Dimension::power:
      return {1e-6, 1e12};  // the largest sites take 1e9 W
    case Dimension::energy:
      return {1e-18, 1e21};  // an operation takes 1e-12 J; the world 6e20 J a year
    case Dimension::money:
      return {1e-9, 1e15};  // the world earns 1e14 USD a year
    case Dimension::money_rate:
      return {1e-15, 1e9};  // as above, a second
    case Dimension::ratio:
      return {1e-12, 1e12};
  }
  return {};
}

}  // namespace tbdsim
