#include "model/prediction/run/goodput.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tbdsim {
namespace {

/// Interruptions a second.
Hertz rate(const Operations::Failures& failures, int gpus, int nodes) {
  return static_cast<double>(gpus) / failures.gpu + static_cast<double>(nodes) / failures.node;
}

Seconds moved(Bytes bytes, BytesPerSecond node, BytesPerSecond storage, int nodes) {
  return bytes / std::min(storage, node * static_cast<double>(nodes));
}

}  // namespace

Seconds time_between_interruptions(const Operations::Failures& failures, int gpus, int nodes) {
  assert(gpus >= 1 && nodes >= 1);
  return 1.0 / rate(failures, gpus, nodes);
}

Seconds best_interval(Seconds wait, Seconds between_interruptions) {
  return Seconds(std::sqrt(2.0 * wait.base() * between_interruptions.base()));
}

Goodput goodput(const Operations& operations, Bytes checkpoint, int gpus, int nodes) {
  const Operations::Checkpoint& c = operations.checkpoint;
  Goodput g;
  g.between_interruptions = time_between_interruptions(operations.failures, gpus, nodes);
  g.checkpoint = checkpoint;
  g.write = moved(checkpoint, c.node_write, operations.storage.bandwidth, nodes);
  g.read = moved(checkpoint, c.node_read, operations.storage.bandwidth, nodes);
  g.wait = g.write * c.stall;
  g.best_interval = !c.interval;
  // Checkpoints that cost nothing are made all the time; none begins before the last one is written.
  g.interval = std::max(c.interval.value_or(best_interval(g.wait, g.between_interruptions)), g.write);
  g.restart = operations.restart.time + g.read;
  if (g.interval > Seconds(0.0)) g.lost_to_checkpoints = g.wait / g.interval;
  g.lost_to_rework = g.interval / (2.0 * g.between_interruptions);
  g.lost_to_restarts = g.restart / g.between_interruptions;
  g.share = std::max(0.0, 1.0 - g.lost_to_checkpoints - g.lost_to_rework - g.lost_to_restarts);
  return g;
}

int spare_nodes(const Operations& operations, int gpus, int nodes) {
  return static_cast<int>(std::ceil(rate(operations.failures, gpus, nodes) * operations.repair.time));
}

}  // namespace tbdsim
