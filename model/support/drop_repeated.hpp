#pragma once
#include <algorithm>
#include <utility>
#include <vector>

namespace tbdsim {

/// Keeps the first of equal values, in their order. Returns the values that stood there more than once, each once.
template <class Value>
std::vector<Value> drop_repeated(std::vector<Value>& values) {
  const auto has = [](const std::vector<Value>& all, const Value& value) {
    return std::find(all.begin(), all.end(), value) != all.end();
  };
  std::vector<Value> once, repeated;
  for (Value& value : values) {
    if (!has(once, value))
      once.push_back(std::move(value));
    else if (!has(repeated, value))
      repeated.push_back(std::move(value));
  }
  values = std::move(once);
  return repeated;
}

}  // namespace tbdsim
