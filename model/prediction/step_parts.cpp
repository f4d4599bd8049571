#include "model/prediction/step_parts.hpp"

#include <algorithm>
#include <array>

#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

constexpr std::array<StepPartInfo, 13> kParts{
    {{StepPartKind::compute, "compute", "forward and backward kernels of the mean stage"},
     {StepPartKind::imbalance, "imbalance", "what the slowest stage and GPU take beyond the mean"},
     {StepPartKind::recompute, "recompute", "forward kernels that backward runs again"},
     {StepPartKind::update, "update", "update of the weights"},
     {StepPartKind::bubble, "bubble", "waiting for other stages and hops between them"},
     {StepPartKind::tensor, "tensor", "waiting for collectives along the tensor axis"},
     {StepPartKind::context, "context", "waiting for collectives along the context axis"},
     {StepPartKind::expert, "expert", "waiting for collectives along the expert axis"},
     {StepPartKind::data, "data", "waiting for gradients and for weights of other copies"},
     {StepPartKind::pipeline, "pipeline", "adding up the table of words that both ends hold"},
     {StepPartKind::input, "input", "waiting for samples"},
     {StepPartKind::host, "host", "waiting for the host to issue operators"},
     {StepPartKind::offload, "offload", "waiting for copies to and from the host, and for its update"}}};
static_assert(rows_in_order(kParts));

StepPartKind part_of(Axis axis) {
  switch (axis) {
    case Axis::tensor:
      return StepPartKind::tensor;
    case Axis::context:
      return StepPartKind::context;
    case Axis::expert:
      return StepPartKind::expert;
    case Axis::data:
      return StepPartKind::data;
    case Axis::pipeline:
      break;
  }
  return StepPartKind::pipeline;
}

}  // namespace

const StepPartInfo& info(StepPartKind kind) { return kParts[static_cast<std::size_t>(kind)]; }

std::vector<StepPart> step_parts(const Prediction& p) {
  std::vector<StepPart> parts;
  const auto add = [&](StepPartKind kind, Seconds time) {
    if (time > 1e-9 * p.step_time.value) parts.push_back({kind, time, time / p.step_time.value});
  };
  const PhaseTimes& s = p.phases;
  const Seconds kernels = s.forward + s.backward;
  const Seconds beyond = std::clamp(kernels - p.division.mean_kernels, Seconds(0.0), kernels - p.division.recomputed);
  Seconds others = s.exchange_exposed;
  for (const AxisTraffic& traffic : p.division.communication) {
    add(part_of(traffic.axis), traffic.exposed);
    others -= traffic.exposed;
  }
  add(StepPartKind::compute, kernels - beyond - p.division.recomputed);
  // What is waited for beyond the axes' collectives is waiting for the GPU that computes longest.
  add(StepPartKind::imbalance, beyond + std::max(others, Seconds(0.0)));
  add(StepPartKind::recompute, p.division.recomputed);
  add(StepPartKind::update, s.weight_update + s.metric);
  add(StepPartKind::bubble, s.bubble);
  add(StepPartKind::input, s.input_exposed);
  add(StepPartKind::host, s.host_exposed);
  add(StepPartKind::offload, s.offload);
  std::stable_sort(parts.begin(), parts.end(), [](const StepPart& a, const StepPart& b) { return a.time > b.time; });
  return parts;
}

}  // namespace tbdsim
