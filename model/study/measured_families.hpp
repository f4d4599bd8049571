#pragma once
#include <array>
#include <string_view>

#include "model/prediction/prediction.hpp"
#include "model/trace/work_family.hpp"

namespace tbdsim {

/// Seconds of a step for each family of work, in the order of `trace::work_families()`.
using FamilyTimes = std::array<Seconds, 12>;

/// What a predicted step spends on each family, on one rank: kernels by the operator that they belong to, updates apart,
/// exchanges as long as they are on their way. Copies are those of the engines. Expects a prediction made with `detail`.
[[nodiscard]] FamilyTimes predicted_families(const Prediction& prediction);

[[nodiscard]] inline Seconds& of(FamilyTimes& times, trace::WorkFamily family) { return times[static_cast<std::size_t>(family)]; }
[[nodiscard]] inline Seconds of(const FamilyTimes& times, trace::WorkFamily family) {
  return times[static_cast<std::size_t>(family)];
}

}  // namespace tbdsim
