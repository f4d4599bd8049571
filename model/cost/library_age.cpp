#include "model/cost/library_age.hpp"

#include <algorithm>
#include <array>

#include "model/hardware/device.hpp"

namespace tbdsim {
namespace {

/// The first two releases of CUDA that have kernels for an architecture (paper: release notes of the CUDA Toolkit).
struct FirstReleases {
  std::string_view capability, first, second;
};
constexpr std::array<FirstReleases, 7> kFirstReleases{{{"7.0", "9.0", "9.1"},
                                                       {"8.0", "11.0", "11.1"},
                                                       {"8.6", "11.1", "11.2"},
                                                       {"8.9", "11.8", "12.0"},
                                                       {"9.0", "11.8", "12.0"},
                                                       {"10.0", "12.8", "12.9"},
                                                       {"12.0", "12.8", "12.9"}}};

}  // namespace

double young_library_share(const std::string& capability, const std::string& cuda) {
  constexpr double kShare = 0.8;
  const auto* const row = std::find_if(kFirstReleases.begin(), kFirstReleases.end(),
                                       [&](const FirstReleases& r) { return r.capability == capability; });
  if (cuda.empty() || row == kFirstReleases.end()) return 1.0;
  return capability_number(cuda) <= capability_number(std::string(row->second)) ? kShare : 1.0;
}

}  // namespace tbdsim
