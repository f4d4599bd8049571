#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "model/units/quantity.hpp"

namespace tbdsim::plan {

/// Layouts that no other beats in time and memory.
class Front {
 public:
  void add(Seconds time, Bytes memory);
  void add(const Front& other);
  [[nodiscard]] bool has(Seconds time, Bytes memory) const;
  using Point = std::pair<Seconds, Bytes>;
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(points_.size()); }

 private:
  std::vector<Point> points_;  ///< slower ones take less
};

}  // namespace tbdsim::plan
