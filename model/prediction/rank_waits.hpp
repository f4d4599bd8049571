#pragma once
#include "model/configuration/configuration.hpp"
#include "model/prediction/step_times.hpp"

namespace tbdsim {

/// Mean of the largest of `n` independent standard normal numbers: 0 for one, 0.564 for two, 2.04 for 32.
/// Integral of 1 - Phi(x)^n over x > 0 less that of Phi(x)^n over x < 0, by trapezoids.
[[nodiscard]] double expected_maximum(int n);

/// What all ranks together add to what one computes, as a share of it: the slowest rank.
[[nodiscard]] double slowest_rank_share(const Configuration& configuration);

/// Adds to a step what all ranks together make it wait for, and a simulation of one of them cannot show: the slowest rank
/// (compute varies between ranks by the stack's `spread`, where a network proposes regions also by what is in the images, and
/// two GPUs of one board slow each other; `exchange_exposed`), and
/// inputs that one thread copies to the GPUs of a node one after the other (`input_copy`; `input_exposed`; the first GPU's copy
/// is hidden as on one GPU). Nothing changes with one GPU.
void add_rank_waits(const Configuration& configuration, StepTimes& times);

}  // namespace tbdsim
