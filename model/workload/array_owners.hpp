#pragma once
#include <utility>
#include <vector>

namespace tbdsim {

/// How many arrays there are of each size, in elements.
class ArraySizes {
 public:
  void add(double elements, int count = 1);
  void add(const ArraySizes& more, int times = 1);
  [[nodiscard]] const std::vector<std::pair<double, int>>& all() const { return all_; }

 private:
  std::vector<std::pair<double, int>> all_;  ///< few: arrays of a network repeat
};

/// Elements that each of `ranks` owns where whole arrays are given away, the largest first, each to a rank that has least.
/// Largest sum first; ranks that get nothing are left out. Expects at least one rank.
[[nodiscard]] std::vector<double> array_owners(const ArraySizes& arrays, int ranks);

}  // namespace tbdsim
