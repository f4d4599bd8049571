#include "model/schedule/pipeline/closed_form.hpp"

#include <algorithm>
#include <array>
#include <cassert>

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

/// The ends of all ranks' last blocks while 1F1B advances by one micro-batch a round. Round j runs, on rank s, the forward of
/// micro-batch j + p-1-s and then the backward of micro-batch j: what each reads was made in the round before or in the same one.
class Rounds {
 public:
  Rounds(std::span<const StageTime> ranks, std::int32_t micro_batches)
      : ranks_(ranks), count_(static_cast<std::int32_t>(ranks.size())), micro_batches_(micro_batches) {
    assert(ranks.size() <= kMostRecurrenceRanks);
  }

  /// Expects rounds in order, from 1-p to micro_batches-1.
  void run(std::int32_t round) {
    // From the last rank back, so that the rank before still has the end of the round before.
    for (std::int32_t s = count_ - 1; s >= 0; --s) {
      const std::int32_t micro_batch = round + count_ - 1 - s;
      if (micro_batch < 0 || micro_batch >= micro_batches_) continue;
      const std::size_t i = static_cast<std::size_t>(s);
      const Seconds arrived = s > 0 ? forward_[i - 1] + ranks_[i - 1].hop : Seconds(0.0);
      forward_[i] = last_[i] = std::max(last_[i], arrived) + ranks_[i].forward;
    }
    if (round < 0) return;
    Seconds arrived(0.0);
    for (std::int32_t s = count_ - 1; s >= 0; --s) {
      const std::size_t i = static_cast<std::size_t>(s);
      last_[i] = std::max(last_[i], arrived) + ranks_[i].backward;
      if (s > 0) arrived = last_[i] + ranks_[i - 1].hop;
    }
  }

  [[nodiscard]] Seconds end() const { return *std::max_element(last_.begin(), last_.begin() + count_); }

 private:
  std::span<const StageTime> ranks_;
  std::int32_t count_, micro_batches_;
  std::array<Seconds, kMostRecurrenceRanks> forward_{}, last_{};
};

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

Seconds time_1f1b(std::span<const StageTime> ranks, std::int32_t micro_batches) {
  Rounds rounds(ranks, micro_batches);
  for (auto round = 1 - static_cast<std::int32_t>(ranks.size()); round < micro_batches; ++round) rounds.run(round);
  return rounds.end();
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
