#pragma once
#include <array>
#include <cstddef>
#include <random>

namespace tbdsim {

/// Draws from lists, the same ones on every machine.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  template <class T, std::size_t N>
  T of(const std::array<T, N>& all) {
    return all[static_cast<std::size_t>(random_()) % N];
  }

 private:
  std::mt19937 random_;
};

}  // namespace tbdsim
