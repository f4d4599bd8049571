#include "model/schedule/pipeline/in_flight.hpp"

#include <algorithm>

namespace tbdsim::pipeline {
namespace {

/// Micro-batches of one chunk that wait for their backward and for their weights block. Counted as whole numbers, so that nothing
/// is rounded over thousands of micro-batches.
struct Held {
  std::int32_t backward = 0, weights = 0;
};

/// Calls visit(held by chunk) while each block runs.
template <class Visit>
void follow(const PipelineSchedule& schedule, std::int32_t rank, Visit visit) {
  std::vector<Held> held(static_cast<std::size_t>(schedule.shape.chunks));
  for (const Block& block : schedule.of_rank(rank)) {
    Held& here = held[block.chunk];
    if (block.kind == BlockKind::forward) ++here.backward;
    visit(held);
    if (block.kind == BlockKind::backward) {
      --here.backward;
      if (!block.whole) ++here.weights;
    }
    if (block.kind == BlockKind::weights) --here.weights;
  }
}

}  // namespace

std::vector<Bytes> activations(const PipelineSchedule& schedule, std::int32_t rank, std::span<const ChunkActivations> chunks) {
  std::vector<Bytes> result;
  result.reserve(schedule.of_rank(rank).size());
  follow(schedule, rank, [&](const std::vector<Held>& held) {
    Bytes sum(0.0);
    for (std::size_t c = 0; c < held.size(); ++c)
      sum += held[c].backward * chunks[c].kept + held[c].weights * chunks[c].for_weights;
    result.push_back(sum);
  });
  return result;
}

double peak_in_flight(const PipelineSchedule& schedule, std::int32_t rank, double share_for_weights) {
  double peak = 0.0;
  follow(schedule, rank, [&](const std::vector<Held>& held) {
    Held all;
    for (const Held& chunk : held) {
      all.backward += chunk.backward;
      all.weights += chunk.weights;
    }
    peak = std::max(peak, all.backward + share_for_weights * all.weights);
  });
  return peak;
}

}  // namespace tbdsim::pipeline
