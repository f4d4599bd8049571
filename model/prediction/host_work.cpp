#include "model/prediction/host_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbdsim {
namespace {

struct Doing {
  std::string thread, cause, name;
};

/// The framework's threads by the names that exchange styles give their streams.
Doing doing(const OpGraph& graph, const LoweredStep& step, engine::TaskId id, const StepTask& task) {
  if (task.leg == Leg::serve) return {"parameter server", "gradients summed, weights updated", "serve"};
  if (task.work == Work::metric) return {kComputeStream, "metric", "metric"};
  const std::string& stream = step.graph.stream_name(step.graph.stream_of(id));
  if (stream == "process") return {"store's process", "keys pushed and pulled", "push and pull of all keys"};
  if (stream.rfind("results", 0) == 0) return {"script", "results of the metric copied and read", "metric"};
  const StepNode& node = step.nodes[static_cast<std::size_t>(task.node)];
  if (node.pass == Pass::update) return {kHostThread, "weight update issued", "update"};
  const Op& op = graph.op(node.op);
  const std::string_view way = name(info(node.pass).phase);
  return {kHostThread, fmt::format("{} {} issued", info(op.kind).name, way), fmt::format("{} {}", op.name, way)};
}

/// When something starts in the shown step; what began before it stands where the step after it has the same.
Seconds within_step(SimTime start, const ShownStep& shown, const Prediction& prediction) {
  const Seconds period = prediction.step_time.value;
  Seconds from_begin = (start - shown.origin).seconds();
  while (from_begin < Seconds(0.0) && period > Seconds(0.0)) from_begin += period;
  return from_begin;
}

/// What moves: an array, bucket or slice on its whole way, or on one leg of it.
std::string_view text_of(Leg leg) {
  constexpr std::array<std::string_view, 7> kTexts{"exchange", "gather", "push", "serve", "reply", "scatter", "merge"};
  return kTexts[static_cast<std::size_t>(leg)];
}

void add(Prediction& prediction, const std::string& thread, const std::string& cause, std::int64_t calls, Seconds time) {
  const auto same = std::find_if(prediction.detail.host.begin(), prediction.detail.host.end(),
                                 [&](const HostTime& h) { return h.thread == thread && h.cause == cause; });
  HostTime& into =
      same == prediction.detail.host.end() ? prediction.detail.host.emplace_back(HostTime{thread, cause, 0, {}}) : *same;
  into.calls += calls;
  into.time += time;
}

}  // namespace

void add_host_work(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline, std::size_t task,
                   const ShownStep& shown, Prediction& prediction) {
  const StepTask& t = step.tasks[task];
  const engine::TaskId id{static_cast<std::int32_t>(task)};
  const bool everyones = t.leg == Leg::serve || step.graph.stream_name(step.graph.stream_of(id)) == "process";
  if (t.rank != shown.rank && !everyones) return;
  const Doing what = doing(graph, step, id, t);
  const Seconds time = (timeline.end[task] - timeline.start[task]).seconds();
  if (time <= Seconds(0.0)) return;
  if (t.work != Work::metric) add(prediction, what.thread, what.cause, 1, time);
  prediction.detail.lanes.push_back({what.thread, what.name, within_step(timeline.start[task], shown, prediction), time});
}

void add_link_work(const LoweredStep& step, const engine::Timeline& timeline, std::size_t task, const ShownStep& shown,
                   Prediction& prediction) {
  const engine::TaskId id{static_cast<std::int32_t>(task)};
  const SimTime start = timeline.start[task] + step.graph.duration(id);
  if (timeline.end[task] <= start) return;
  const StepTask& t = step.tasks[task];
  const std::string what = t.item < 0 ? std::string(text_of(t.leg)) : fmt::format("{} {}", text_of(t.leg), t.item);
  for (const engine::LinkUse& use : engine::route_of(step.graph, id))
    if (use.weight > 0.0)
      prediction.detail.lanes.push_back(
          {step.graph.link_name(use.link), what, (start - shown.origin).seconds(), (timeline.end[task] - start).seconds()});
}

void add_rank_kernel(const OpGraph& graph, const LoweredStep& step, const engine::Timeline& timeline, std::size_t task,
                     const ShownStep& shown, Prediction& prediction) {
  const StepTask& t = step.tasks[task];
  const Seconds time = (timeline.end[task] - timeline.start[task]).seconds();
  if (time <= Seconds(0.0)) return;
  const StepNode& node = step.nodes[static_cast<std::size_t>(t.node)];
  const OpId op = node.pass == Pass::update ? graph.parameter(node.parameter).op : node.op;
  prediction.detail.lanes.push_back(
      {fmt::format("{}{}", kOtherRank, t.rank), graph.op(op).name, within_step(timeline.start[task], shown, prediction), time});
}

void add_input_work(Prediction& prediction) {
  if (!prediction.input_verdict) return;
  const InputVerdict& v = *prediction.input_verdict;
  const bool environments = prediction.utilization.cpu_environment > 0.0;
  const std::int64_t samples = prediction.job.global_batch / std::max(1, v.nodes);
  const Seconds step = prediction.step_time.value;
  const std::string workers = fmt::format("input worker{} ({})", v.workers == 1 ? "" : "s", v.workers);
  const auto lane = [&](const std::string& name, const char* what, Seconds start, Seconds time) {
    if (time > Seconds(0.0)) prediction.detail.lanes.push_back({name, what, std::max(Seconds(0.0), start), time});
  };
  if (v.decoding > Seconds(0.0)) add(prediction, workers, environments ? "environments" : "samples decoded", samples, v.decoding);
  if (v.copy > Seconds(0.0)) add(prediction, "copy engines", "samples copied to the GPUs", 1, v.copy);
  lane("storage", "read a step's samples", Seconds(0.0), v.read);
  lane("network input", "samples from other machines", Seconds(0.0), v.transfer);
  lane(workers, environments ? "simulate a step's environments" : "decode a step's samples", Seconds(0.0), v.decode);
  // A batch lies on the GPU when its step begins, or is copied as the step begins.
  lane("copies to the GPUs", "copy a step's samples", step - v.copy, v.copy);
}

std::vector<HostTime> longest_first(std::vector<HostTime> causes) {
  std::stable_sort(causes.begin(), causes.end(), [](const HostTime& a, const HostTime& b) { return a.time > b.time; });
  return causes;
}

}  // namespace tbdsim
