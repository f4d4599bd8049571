#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/stack/input_settings.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Threads of one node that decode, and what a sample costs them.
struct InputPipeline {
  InputMode mode = InputMode::stream;
  int threads = 1;
  int prefetch = 2;     ///< batches that may lie ready
  Seconds decode;       ///< of one sample on one thread, mean
  double spread = 0.0;  ///< standard deviation of it over the mean
};

/// What a steady step of trainer and input together looks like.
struct InputPace {
  Seconds step;      ///< mean over the iterations
  Seconds load;      ///< mean time to decode one step's samples, with nothing in its way
  double share = 0;  ///< of the critical path that is decoding
};

/// Iterations over which random decode times are averaged.
inline constexpr int kPacedIterations = 60;

/// Decode times of `batches` batches of `samples`, batch by batch, each relative to the mean: log-normal with standard
/// deviation `spread`. Stratified: over the batches, each sample's times come one from every quantile of equal weight, in an
/// order of its own, so that the mean over few batches depends little on `seed`. The same arguments give the same times.
/// Source: McKay, Beckman & Conover, "A comparison of three methods for selecting values of input variables",
/// Technometrics 21(2), 1979 (Latin hypercube sampling).
[[nodiscard]] std::vector<double> decode_times(double spread, std::int64_t samples, int batches, std::uint64_t seed);

/// Time until all of `times` are done when `threads` start together and the one that is free first takes the next, in
/// units of `times`. Expects threads >= 1.
[[nodiscard]] double makespan(std::span<const double> times, int threads);

/// Runs a trainer whose step takes `training` behind the pipeline, `samples` per step on each node. A batch is decoded
/// while earlier ones train, at most `prefetch` ahead; a step starts when the one before has ended and its batch lies
/// ready. Stream mode decodes at its mean rate; barrier mode draws every batch.
/// Ignores: reading from storage, the copy to the GPU, differences between nodes. Expects samples, threads >= 1.
[[nodiscard]] InputPace pace(const InputPipeline& pipeline, std::int64_t samples, Seconds training, std::uint64_t seed,
                             int iterations = kPacedIterations);

}  // namespace tbdsim
