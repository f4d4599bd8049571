#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/stack/input_settings.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Storage and threads of one node that load samples, and what a sample costs them.
struct InputPipeline {
  InputMode mode = InputMode::stream;
  int threads = 1;
  int loaders = 1;            ///< processes that load, the threads divided among them
  int cores = 0;              ///< that they share; 0: each has its own
  int prefetch = 2;           ///< batches that may lie ready
  Seconds decode;             ///< of one sample on one thread, mean
  double spread = 0.0;        ///< standard deviation of it over the mean
  Seconds wait;               ///< of a thread for a sample's bytes, before it decodes them
  Seconds read;               ///< for which the storage is busy with a sample; it reads ahead of the threads
  Seconds transfer;           ///< of a sample over the network from other machines, beside everything else
  Seconds copy;               ///< of one batch's samples to the GPUs
  bool copy_overlaps = true;  ///< it runs beside the step before; false: the step begins with it
};

/// Time in which all threads decode the `samples` of a step, mean over a barrier's batches; what waits for the storage
/// included. Expects samples >= 1.
[[nodiscard]] Seconds decode_time(const InputPipeline& pipeline, std::int64_t samples, std::uint64_t seed, int iterations);

/// What a steady step of trainer and input together looks like.
struct InputPace {
  Seconds step;      ///< mean over the iterations
  Seconds load;      ///< mean time to load one step's samples, with nothing in its way
  double share = 0;  ///< of the critical path that is loading
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
/// ready. Reading, decoding and an overlapped copy work on different batches at the same time, so that the slowest of them
/// sets the pace of loading. Stream mode decodes at its mean rate; barrier mode draws every batch. A copy that does not
/// overlap is part of `training`, which the caller adds.
/// Ignores: differences between nodes, what decoding threads take from the host's memory bandwidth. Expects samples,
/// threads >= 1.
[[nodiscard]] InputPace pace(const InputPipeline& pipeline, std::int64_t samples, Seconds training, std::uint64_t seed,
                             int iterations = kPacedIterations);

}  // namespace tbdsim
