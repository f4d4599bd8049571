#include "model/plan/front.hpp"

#include <algorithm>

namespace tbdsim::plan {

void Front::add(Seconds time, Bytes memory) {
  const auto place = std::upper_bound(points_.begin(), points_.end(), time,
                                      [](Seconds value, const Point& point) { return value < point.first; });
  if (place != points_.begin() && std::prev(place)->second <= memory) return;
  auto end = place;
  while (end != points_.end() && end->second >= memory) ++end;
  auto begin = place;
  if (begin != points_.begin() && std::prev(begin)->first == time) --begin;
  points_.insert(points_.erase(begin, end), {time, memory});
}

void Front::add(const Front& other) {
  for (const auto& [time, memory] : other.points_) add(time, memory);
}

bool Front::has(Seconds time, Bytes memory) const {
  return std::find(points_.begin(), points_.end(), Point{time, memory}) != points_.end();
}

}  // namespace tbdsim::plan
