#pragma once
#include <cstdint>
#include <span>

#include "model/units/quantity.hpp"

namespace tbdsim::pipeline {

/// One rank of a pipeline, for one micro-batch through all its chunks.
struct StageTime {
  Seconds forward;
  Seconds backward;  ///< gradients of inputs and of weights together
  Seconds hop{0.0};  ///< to the next rank, and back; overlapped. From the last rank to the first: only between chunks
  [[nodiscard]] constexpr Seconds both() const { return forward + backward; }
};

/// m(F+B): one rank without a bubble.
[[nodiscard]] constexpr Seconds ideal_time(StageTime rank, std::int32_t micro_batches) { return micro_batches * rank.both(); }

// Bubbles of p equal ranks without hops: makespan - ideal_time. A test holds each against the simulation of its table.

/// (p-1)(F+B), which is (p-1)/m of the ideal; also of gpipe. Source: arXiv:2104.04473, section 2.2.1.
[[nodiscard]] constexpr Seconds bubble_1f1b(std::int32_t ranks, StageTime rank) { return (ranks - 1) * rank.both(); }
/// (p-1)(F+B)/v, F and B being all v chunks: (p-1)/(mv) of the ideal. Source: arXiv:2104.04473, section 2.2.2.
[[nodiscard]] constexpr Seconds bubble_interleaved(std::int32_t ranks, std::int32_t chunks, StageTime rank) {
  return (ranks - 1) * rank.both() / chunks;
}
/// (p-1)(F+B-W), B without W. Expects at least p micro-batches and W <= F, W <= B. Source: arXiv:2401.10241, table 2.
[[nodiscard]] constexpr Seconds bubble_zb_h1(std::int32_t ranks, Seconds forward, Seconds backward, Seconds weights) {
  return (ranks - 1) * (forward + backward - weights);
}

/// (p-1)F of one chunk for at least 2p-1 micro-batches, where the F, B and W of a chunk are equal: no rank idles between its
/// first and its last block, and rank i starts i F late. Source: arXiv:2401.10241, section 6; the delay is counted here.
[[nodiscard]] constexpr Seconds bubble_zb_v(std::int32_t ranks, Seconds forward) { return (ranks - 1) * forward; }
/// (p/2-1)(F&B + B - 3W): what the two middle ranks idle. `pair` is F&B, a joined forward and backward; `backward` is whole.
/// Expects F equal to the gradients of the inputs and to no less than W. Source: arXiv:2412.19437, table 2.
[[nodiscard]] constexpr Seconds bubble_dualpipe(std::int32_t ranks, Seconds pair, Seconds backward, Seconds weights) {
  return (0.5 * ranks - 1.0) * (pair + backward - 3.0 * weights);
}

// Micro-batches in flight at the peak, counted by chunks as in peak_in_flight. A test holds each against its table.

/// min(p-i, m). Source: arXiv:2205.05198, section 4.2.3.
[[nodiscard]] std::int32_t in_flight_1f1b(std::int32_t ranks, std::int32_t micro_batches, std::int32_t rank);
/// min(2(p-1-i) + (v-1)p + 1, mv). On rank 0 that is vp(1 + (p-1)/(pv)), the factor of arXiv:2205.05198, section 4.2.3.
[[nodiscard]] std::int32_t in_flight_interleaved(std::int32_t ranks, std::int32_t micro_batches, std::int32_t chunks,
                                                 std::int32_t rank);
/// p-i + share x i for at least p micro-batches: i of them keep their share for the weights block. At most 1f1b's p, on every
/// rank. Source: arXiv:2401.10241, section 2.1.
[[nodiscard]] double in_flight_zb_h1(std::int32_t ranks, std::int32_t rank, double share_for_weights);
/// p+1, of half the layers' chunks in each direction. Source: arXiv:2412.19437, table 2.
[[nodiscard]] constexpr std::int32_t in_flight_dualpipe(std::int32_t ranks) { return ranks + 1; }

// Makespans of unequal ranks, without allocation, for searches over many layouts. Errors are those against the simulation over
// 250 random cases: stages up to 20 % apart, the last one 1.3 times, hops of 0 to 30 % of F.

/// GPipe: sum F + (m-1) max F + sum B + (m-1) max B + hops there and back. Exact.
[[nodiscard]] Seconds gpipe_time(std::span<const StageTime> ranks, std::int32_t micro_batches);
/// 1F1B by its slowest round trip: fill + (m-1) lambda, fill being one micro-batch's way through all ranks and back. Rank s has
/// p-s micro-batches in flight, so none can follow faster than lambda = max over s of (sum of F+B from s on + 2 hops behind
/// it)/(p-s), or F_s+B_s. Mean error 0.2 %, worst 2.4 %.
[[nodiscard]] Seconds fill_and_rate(std::span<const StageTime> ranks, std::int32_t micro_batches);
/// Interleaved, v chunks a rank that take equal parts of its times: fill/v + (m - 1/v) max(F+B), and in warm-up and end for each
/// further chunk what p micro-batches' way around all ranks takes longer than the slowest rank takes for them.
/// Mean error 0.8 %, worst 5.3 %; exact if ranks are equal and hops nothing.
[[nodiscard]] Seconds interleaved_time(std::span<const StageTime> ranks, std::int32_t chunks, std::int32_t micro_batches);

}  // namespace tbdsim::pipeline
