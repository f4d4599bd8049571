#include "model/schedule/pipeline/closed_form.hpp"

#include <algorithm>

namespace tbdsim::pipeline {
namespace {

/// One micro-batch's way through all ranks and back.
Seconds fill(std::span<const StageTime> ranks) {
  Seconds sum(0.0);
  for (std::size_t s = 0; s < ranks.size(); ++s)
    sum += ranks[s].both() + (s + 1 < ranks.size() ? 2.0 * ranks[s].hop : Seconds(0.0));
  return sum;
}

Seconds slowest(std::span<const StageTime> ranks) {
  Seconds longest(0.0);
  for (const StageTime& rank : ranks) longest = std::max(longest, rank.both());
  return longest;
}

}  // namespace

std::int32_t in_flight_1f1b(std::int32_t ranks, std::int32_t micro_batches, std::int32_t rank) {
  return std::min(ranks - rank, micro_batches);
}

std::int32_t in_flight_interleaved(std::int32_t ranks, std::int32_t micro_batches, std::int32_t chunks, std::int32_t rank) {
  return std::min(2 * (ranks - 1 - rank) + (chunks - 1) * ranks + 1, micro_batches * chunks);
}

double in_flight_zb_h1(std::int32_t ranks, std::int32_t rank, double share_for_weights) {
  return ranks - rank + share_for_weights * rank;
}

Seconds gpipe_time(std::span<const StageTime> ranks, std::int32_t micro_batches) {
  Seconds forward(0.0), backward(0.0);
  for (const StageTime& rank : ranks) {
    forward = std::max(forward, rank.forward);
    backward = std::max(backward, rank.backward);
  }
  return fill(ranks) + (micro_batches - 1) * (forward + backward);
}

Seconds fill_and_rate(std::span<const StageTime> ranks, std::int32_t micro_batches) {
  Seconds rate(0.0), from_here(0.0);
  for (std::size_t s = ranks.size(); s-- > 0;) {
    from_here += ranks[s].both();
    if (s + 1 < ranks.size()) from_here += 2.0 * ranks[s].hop;
    rate = std::max(rate, ranks[s].both());
    const auto in_flight = static_cast<double>(ranks.size() - s);
    if (from_here > rate * in_flight) rate = from_here / in_flight;  // a division only where it counts
  }
  return fill(ranks) + (micro_batches - 1) * rate;
}

Seconds interleaved_time(std::span<const StageTime> ranks, std::int32_t chunks, std::int32_t micro_batches) {
  Seconds forward(0.0), backward(0.0), hops(0.0), slowest_forward(0.0), slowest_backward(0.0);
  for (const StageTime& rank : ranks) {
    forward += rank.forward;
    backward += rank.backward;
    hops += rank.hop;
    slowest_forward = std::max(slowest_forward, rank.forward);
    slowest_backward = std::max(slowest_backward, rank.backward);
  }
  const auto p = static_cast<double>(ranks.size());
  const auto wait = [&](Seconds sum, Seconds longest) { return std::max(Seconds(0.0), hops - (p * longest - sum) / chunks); };
  const Seconds there_and_back = 2.0 * (hops - ranks.back().hop);
  return (forward + backward) / chunks + (micro_batches - 1.0 / chunks) * slowest(ranks) + there_and_back +
         (chunks - 1) * (wait(forward, slowest_forward) + wait(backward, slowest_backward));
}

}  // namespace tbdsim::pipeline
