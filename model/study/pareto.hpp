#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// One choice among several; less is better in each.
struct Choice {
  Seconds time;
  std::optional<Usd> cost;  ///< absent: not known
  Bytes memory;
};

/// Which choices no other one beats: another beats a choice where it is no worse in anything and better in something.
/// Equal choices stay or go together. A choice whose cost is not known is not on the front, unless that of none is: then time
/// and memory count. Expects finite numbers.
[[nodiscard]] std::vector<bool> pareto_front(std::span<const Choice> choices);

}  // namespace tbdsim
