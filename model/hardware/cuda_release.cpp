#include "model/hardware/cuda_release.hpp"

#include <algorithm>
#include <array>

#include "model/hardware/device.hpp"

namespace tbdsim {
namespace {

/// CUDA releases of a compute capability: the first that compiles for it, and the second of its architecture (0: not told).
/// Source: release notes of CUDA 8.0 to 12.9.
struct Support {
  int capability, first, second_of_architecture;
};
constexpr std::array<Support, 12> kSupport{{{60, 80, 0},
                                            {70, 90, 0},
                                            {72, 92, 0},
                                            {75, 100, 0},
                                            {80, 110, 111},
                                            {86, 111, 111},
                                            {87, 114, 0},
                                            {89, 118, 120},
                                            {90, 118, 120},
                                            {100, 128, 129},
                                            {103, 129, 129},
                                            {120, 128, 129}}};

/// The last row that is not above the capability; null for those older than CUDA 8.
const Support* support_of(int capability) {
  const auto* const after = std::upper_bound(kSupport.begin(), kSupport.end(), capability,
                                             [](int value, const Support& row) { return value < row.capability; });
  return after == kSupport.begin() ? nullptr : after - 1;
}

}  // namespace

bool knows_capability(const std::string& cuda, const std::string& capability) {
  const Support* const row = support_of(capability_number(capability));
  const int release = capability_number(cuda);
  return row == nullptr || release == 0 || release >= row->first;
}

bool is_young_for(const std::string& cuda, const std::string& capability) {
  const Support* const row = support_of(capability_number(capability));
  const int release = capability_number(cuda);
  return row != nullptr && release != 0 && release <= row->second_of_architecture;
}

}  // namespace tbdsim
