#pragma once
#include "model/units/dimension.hpp"

namespace tbdsim {

/// Magnitudes between which values of a file or an option lie (`parse_quantity` refuses others), in base units; zero
/// always passes. Generous: beyond them, by a factor of a hundred and more, no machine, job or bill has any, and a slip of unit
/// or digits is likely.
struct PlausibleMagnitudes {
  double least = 0.0, most = 0.0;
};
[[nodiscard]] PlausibleMagnitudes plausible(Dimension dimension);

}  // namespace tbdsim
