#pragma once
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "model/schedule/pipeline/closed_form.hpp"
#include "model/schedule/pipeline/generate.hpp"
#include "model/schedule/pipeline/simulate_pipeline.hpp"

namespace tbdsim::pipeline {

/// Every shape of a kind with 1 to `ranks` ranks, up to 4 micro-batches a rank and 1 to 4 chunks, that meets its demands.
template <class Visit>
void for_each_shape(ScheduleKind kind, std::int32_t ranks, Visit visit) {
  for (std::int32_t p = 1; p <= ranks; ++p)
    for (std::int32_t m = 1; m <= 4 * p; ++m)
      for (std::int32_t v = 1; v <= 4; ++v)
        if (const PipelineShape shape{p, m, v}; !unmet_demand(kind, shape)) visit(shape);
}

inline std::string words(ScheduleKind kind, PipelineShape shape) {
  return fmt::format("{}, {} ranks, {} micro-batches, {} chunks", name(kind), shape.ranks, shape.micro_batches, shape.chunks);
}

/// Whole seconds lie on the clock, so that closed forms in Seconds are exact.
inline ChunkTime whole_seconds(int forward, int backward, int weights, int hop = 0) {
  const auto time = [](int s) { return SimTime::from(Seconds(s)); };
  return {time(forward), time(backward), time(weights), time(hop)};
}

/// The same ranks for the simulation of a schedule with one chunk a rank; W is half of the backward.
inline BlockTimes block_times(const std::vector<StageTime>& ranks) {
  BlockTimes times;
  for (const StageTime& rank : ranks) {
    const SimTime half = SimTime::from(0.5 * rank.backward);
    times.places.push_back({SimTime::from(rank.forward), half, half, SimTime::from(rank.hop)});
  }
  return times;
}

/// Times of up to 1 s for every place, and hops of up to 0.3 s.
inline BlockTimes random_times(const PipelineSchedule& schedule, std::mt19937& random) {
  std::uniform_int_distribution<std::int64_t> time(1, 1'000'000'000'000), hop(0, 300'000'000'000);
  BlockTimes times = equal_times(schedule, {});
  for (ChunkTime& place : times.places) place = {{time(random)}, {time(random)}, {time(random)}, {hop(random)}};
  return times;
}

}  // namespace tbdsim::pipeline
