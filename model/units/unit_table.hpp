#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/units/dimension.hpp"

namespace tbdsim {

/// One spelling of a unit and what it is worth in base units, e.g. {"GB/s", 1e9, bandwidth}.
struct Unit {
  std::string name;
  double factor = 1.0;
  Dimension dimension = Dimension::ratio;
};

/// Every unit that `parse_measured` reads, dimension by dimension, in the order of the enumeration.
[[nodiscard]] std::vector<Unit> all_units();

/// The units that `format` writes for a dimension, smallest first; each is used until the next one fits.
struct ShownUnit {
  std::string_view name;
  double factor = 1.0;
  double limit = 1000.0;  ///< shown below this many of the unit
};
[[nodiscard]] std::vector<ShownUnit> shown_units(Dimension dimension);

}  // namespace tbdsim
