#include "model/hardware/cuda_release.hpp"

#include <algorithm>
#include <array>

#include "model/hardware/device.hpp"

namespace tbdsim {
namespace {

/// The first two CUDA releases that have kernels for a compute capability (the second is 0 where its libraries make no
/// difference: no tensor cores, or samples of the first releases). Source: paper: release notes of the CUDA Toolkit, 8.0 to 12.9.
struct Support {
  int capability, first, second;
};
constexpr std::array<Support, 12> kSupport{{{60, 80, 0},
                                            {70, 90, 91},
                                            {72, 92, 0},
                                            {75, 100, 0},
                                            {80, 110, 111},
                                            {86, 111, 112},
                                            {87, 114, 115},
                                            {89, 118, 120},
                                            {90, 118, 120},
                                            {100, 128, 129},
                                            {103, 129, 130},
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
  return row != nullptr && release != 0 && release <= row->second;
}

}  // namespace tbdsim
