#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/report/json.hpp"
#include "model/report/pipeline_trace.hpp"

namespace tbdsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicrosecondsPerSecond = 1e6;

/// End of what is drawn of a step: kernels and exchanges of one GPU.
Seconds end_of(const Prediction& prediction) {
  Seconds end(0.0);
  for (const KernelTime& k : prediction.kernels) end = std::max(end, k.start + k.time);
  for (const ExchangeTime& e : prediction.exchanges) end = std::max(end, e.start + e.time);
  return end;
}

/// Threads, workers and copy engines, each in a row of its own, the host's under a process of theirs. Those of a step are shown
/// within it, as they recur.
void add_lanes(const Prediction& prediction, int gpu, Json& events) {
  constexpr int kFirstLane = 2;  // after compute stream and exchange
  const int host = gpu + 1000;
  std::vector<std::string> names;
  for (const LaneEvent& e : prediction.lanes) {
    const bool on_gpu = e.lane == "compute stream";
    auto name = std::find(names.begin(), names.end(), e.lane);
    if (!on_gpu && name == names.end()) {
      const int lane = kFirstLane + static_cast<int>(names.size());
      if (names.empty()) events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", host}, {"args", {{"name", "host"}}}});
      events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", host}, {"tid", lane}, {"args", {{"name", e.lane}}}});
      name = names.insert(names.end(), e.lane);
    }
    events.push_back({{"name", e.name},
                      {"cat", on_gpu ? "metric" : "host"},
                      {"ph", "X"},
                      {"ts", e.start.base() * kMicrosecondsPerSecond},
                      {"dur", e.time.base() * kMicrosecondsPerSecond},
                      {"pid", on_gpu ? gpu : host},
                      {"tid", on_gpu ? 0 : kFirstLane + static_cast<int>(name - names.begin())}});
  }
}

/// Where the first `depth` parts of a layer's name end: "layer1.0.conv1" has three.
std::size_t end_of_part(const std::string& name, std::size_t depth) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < depth; ++i) {
    const std::size_t dot = name.find('.', at);
    if (dot == std::string::npos) return std::string::npos;
    at = dot + 1;
  }
  return at - 1;
}

/// Modules around their layers: each stretch of neighbouring kernels of one pass whose layers' names begin alike, "layer1" around
/// "layer1.0" around the kernels of "layer1.0.conv1". Viewers nest what lies within another on the same row.
void add_modules(const Prediction& prediction, int gpu, Json& events) {
  const auto& kernels = prediction.kernels;
  constexpr std::size_t kDeepest = 8;
  for (std::size_t depth = 1; depth <= kDeepest; ++depth) {
    for (std::size_t i = 0; i < kernels.size();) {
      const std::size_t end = end_of_part(kernels[i].layer, depth);
      std::size_t last = i;
      const auto alike = [&](const KernelTime& k) {
        return k.pass != Pass::update && k.layer.compare(0, end + 1, kernels[i].layer, 0, end + 1) == 0 &&
               (k.pass == Pass::forward) == (kernels[i].pass == Pass::forward);
      };
      if (end == std::string::npos || kernels[i].pass == Pass::update) {
        ++i;
        continue;
      }
      while (last + 1 < kernels.size() && alike(kernels[last + 1])) ++last;
      const Seconds stop = kernels[last].start + kernels[last].time;
      events.push_back({{"name", kernels[i].layer.substr(0, end)},
                        {"cat", "module"},
                        {"ph", "X"},
                        {"ts", kernels[i].start.base() * kMicrosecondsPerSecond},
                        {"dur", (stop - kernels[i].start).base() * kMicrosecondsPerSecond},
                        {"pid", gpu},
                        {"tid", 0}});
      i = last + 1;
    }
  }
}

Json whole(Bytes bytes) { return static_cast<std::int64_t>(std::llround(bytes.base())); }

}  // namespace

std::string chrome_trace(const Prediction& prediction) {
  if (!prediction.drawing.ranks.empty()) return pipeline_trace(prediction);
  const int gpu = prediction.memory.gpus.empty() ? 0 : prediction.memory.gpus.front().gpu;
  const std::string process = "GPU " + std::to_string(gpu) + ", " + prediction.device;
  Json events = Json::array();
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", gpu}, {"args", {{"name", process}}}});
  events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", gpu}, {"tid", 0}, {"args", {{"name", "compute stream"}}}});
  // Before the kernels: of two that begin together the outer one comes first.
  add_modules(prediction, gpu, events);
  for (const KernelTime& k : prediction.kernels) {
    events.push_back({{"name", k.layer},
                      {"cat", name(k.pass)},
                      {"ph", "X"},
                      {"ts", k.start.base() * kMicrosecondsPerSecond},
                      {"dur", k.time.base() * kMicrosecondsPerSecond},
                      {"pid", gpu},
                      {"tid", 0},
                      {"args",
                       {{"kernel", k.name},
                        {"algorithm", k.algorithm},
                        {"bound", k.bound},
                        {"flop", k.flop.base()},
                        {"bytes", k.bytes.base()},
                        {"fp32_utilization", k.fp32_utilization},
                        {"useful_utilization", k.useful_utilization}}}});
  }
  for (const KernelTime& k : prediction.kernels)
    events.push_back({{"name", "memory of arrays"},
                      {"ph", "C"},
                      {"ts", k.start.base() * kMicrosecondsPerSecond},
                      {"pid", gpu},
                      {"args", {{"bytes", whole(k.live)}}}});
  if (!prediction.exchanges.empty())
    events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", gpu}, {"tid", 1}, {"args", {{"name", "gradient exchange"}}}});
  for (std::size_t i = 0; i < prediction.exchanges.size(); ++i) {
    const ExchangeTime& exchange = prediction.exchanges[i];
    events.push_back({{"name", "bucket " + std::to_string(i)},
                      {"cat", "exchange"},
                      {"ph", "X"},
                      {"ts", exchange.start.base() * kMicrosecondsPerSecond},
                      {"dur", exchange.time.base() * kMicrosecondsPerSecond},
                      {"pid", gpu},
                      {"tid", 1}});
  }
  add_lanes(prediction, gpu, events);
  const bool loads = prediction.input_verdict && prediction.stages.input_exposed > Seconds(0.0);
  if (const Seconds last = end_of(prediction); (prediction.gpus > 1 || loads) && prediction.step_time.value > last) {
    events.push_back({{"name", loads ? "wait for samples" : "wait for the slowest GPU"},
                      {"cat", loads ? "input" : "exchange"},
                      {"ph", "X"},
                      {"ts", last.base() * kMicrosecondsPerSecond},
                      {"dur", (prediction.step_time.value - last).base() * kMicrosecondsPerSecond},
                      {"pid", gpu},
                      {"tid", 0}});
  }
  const Json trace{{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  // Names may come from a user's file; bytes that are no UTF-8 must not end the program.
  return trace.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace tbdsim
