#pragma once
#include <vector>

#include "model/analysis/compare.hpp"

namespace tbdsim {

/// Which candidates no other one beats in time a sample, cost a sample and memory of the fullest GPU together.
///
/// Candidates are set against those that share their base, so against the same work. What does not fit, or has no figures, is on
/// no front; nor is what has no price, unless nothing of the same work has one: then time and memory alone count.
[[nodiscard]] std::vector<bool> compare_front(const Comparison& comparison);

}  // namespace tbdsim
