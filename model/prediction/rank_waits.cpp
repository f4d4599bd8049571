#include "model/prediction/rank_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbdsim {
namespace {

std::vector<Limit>::iterator find_limit(StepTimes& times, Resource resource) {
  return std::find_if(times.limits.begin(), times.limits.end(), [&](const Limit& l) { return l.resource == resource; });
}

/// Puts a wait of `seconds` on the critical path. Expects the step to hold it already.
void add_limit(StepTimes& times, Resource resource, Seconds seconds, const std::string& text) {
  const double share = seconds / times.step;
  if (share <= 0.0) return;
  for (Limit& limit : times.limits) limit.share *= 1.0 - share;
  const auto same = find_limit(times, resource);
  double total = share, launch = 0.0;
  if (same != times.limits.end()) {
    const auto place = times.launch_shares.begin() + (same - times.limits.begin());
    total += same->share;
    launch = *place * (same->share / total);
    times.launch_shares.erase(place);
    times.limits.erase(same);
  }
  const auto place = std::find_if(times.limits.begin(), times.limits.end(), [&](const Limit& l) { return l.share < total; });
  times.launch_shares.insert(times.launch_shares.begin() + (place - times.limits.begin()), launch);
  times.limits.insert(place, {resource, total, text});
}

/// What keeps the slowest GPU busy: of computing and its memory the one that does so longer.
Resource busiest_of_gpu(StepTimes& times) {
  const auto memory = find_limit(times, Resource::gpu_memory_bandwidth), compute = find_limit(times, Resource::gpu_compute);
  const bool moves = memory != times.limits.end() && (compute == times.limits.end() || memory->share > compute->share);
  return moves ? Resource::gpu_memory_bandwidth : Resource::gpu_compute;
}

/// Standard deviation of a rank's step where images differ in size, in objects and in the regions that are proposed for them,
/// relative. Fitted: Mask R-CNN on 2 and 4 GPUs of two machines (scenarios/published/lambda_pytorch_multi_gpu.csv, rows marked
/// fit; 0.066 to 0.15, at 2 to 32 images a GPU alike).
constexpr double kRegionsSpread = 0.09;

bool proposes_regions(const OpGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return op.kind == OpKind::proposals; });
}

/// Whether both GPUs of a board work: they are numbered one after the other.
bool share_board(const std::vector<int>& devices) {
  return std::any_of(devices.begin(), devices.end(), [&](int device) {
    return device % 2 == 0 && std::find(devices.begin(), devices.end(), device + 1) != devices.end();
  });
}

}  // namespace

double expected_maximum(int n) {
  if (n <= 1) return 0.0;
  constexpr double kReach = 9.0;  // further out nothing is left, even of 10^6 numbers
  constexpr int kSteps = 900;
  constexpr double kStep = kReach / kSteps;
  double sum = 0.0;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = i * kStep;
    const double above = 0.5 * std::erfc(x / std::sqrt(2.0));
    const double weight = i == 0 || i == kSteps ? 0.5 : 1.0;
    sum += weight * (1.0 - std::pow(1.0 - above, n) - std::pow(above, n));
  }
  return sum * kStep;
}

double slowest_rank_share(const Configuration& configuration) {
  if (configuration.gpus <= 1) return 0.0;
  const double shared = share_board(configuration.devices) ? configuration.hardware().device.board_sharing : 0.0;
  const double work = proposes_regions(configuration.network_graph().graph) ? kRegionsSpread : 0.0;
  return shared + std::hypot(configuration.stack.ranks.spread, work) * expected_maximum(configuration.gpus);
}

void add_rank_waits(const Configuration& configuration, StepTimes& times) {
  if (configuration.gpus <= 1) return;
  const Stack& stack = configuration.stack;
  const Seconds compute = times.phases.forward + times.phases.backward;
  const Seconds slowest = slowest_rank_share(configuration) * compute;
  times.step += slowest;
  times.phases.exchange_exposed += slowest;
  times.phases.exchange_total += slowest;
  // A script whose calls hold the exchange waits within them.
  if (times.phases.exchange_backward > Seconds(0.0)) times.phases.exchange_backward += slowest;
  times.slowest = slowest;
  times.slowest_of = busiest_of_gpu(times);
  add_limit(times, *times.slowest_of, slowest, {});
  if (stack.ranks.input_copy <= BytesPerSecond(0.0)) return;
  const OpGraph& graph = configuration.network_graph().graph;
  const auto sample = static_cast<double>(elements(graph.tensors.front().shape)) * Bytes(4.0);  // copied as fp32
  const auto others = static_cast<double>(configuration.devices.size() - 1);
  const Seconds copies = others * configuration.accumulate * configuration.batch * sample / stack.ranks.input_copy;
  times.step += copies;
  times.phases.input_exposed += copies;
  add_limit(times, Resource::input, copies, "the host copies the samples to one GPU after the other");
}

}  // namespace tbdsim
