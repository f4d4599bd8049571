#include "model/workload/array_owners.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace tbdsim {

void ArraySizes::add(double elements, int count) {
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const auto& size) { return size.first == elements; });
  if (same == all_.end())
    all_.emplace_back(elements, count);
  else
    same->second += count;
}

void ArraySizes::add(const ArraySizes& more, int times) {
  for (const auto& [elements, count] : more.all_) add(elements, times * count);
}

std::vector<double> array_owners(const ArraySizes& sizes, int ranks) {
  std::vector<double> arrays;
  for (const auto& [elements, count] : sizes.all()) arrays.insert(arrays.end(), static_cast<std::size_t>(count), elements);
  std::sort(arrays.begin(), arrays.end(), std::greater<>());
  std::priority_queue<double, std::vector<double>, std::greater<>> least;
  for (int rank = 0; rank < ranks && static_cast<std::size_t>(rank) < arrays.size(); ++rank) least.push(0.0);
  for (const double array : arrays) {
    const double owned = least.top() + array;
    least.pop();
    least.push(owned);
  }
  std::vector<double> owners;
  for (; !least.empty(); least.pop()) owners.push_back(least.top());
  std::reverse(owners.begin(), owners.end());
  return owners;
}

}  // namespace tbdsim
