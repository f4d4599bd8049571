#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "model/prediction/host_work.hpp"
#include "model/report/json.hpp"
#include "model/report/pipeline_trace.hpp"

namespace tbdsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicrosecondsPerSecond = 1e6;

/// End of what the step waits for: kernels, and exchanges that do not go on in the next step.
Seconds end_of(const Prediction& prediction) {
  Seconds end(0.0);
  for (const KernelTime& k : prediction.detail.kernels) end = std::max(end, k.start + k.time);
  for (const ExchangeTime& e : prediction.detail.exchanges)
    if (e.start + e.time <= prediction.step_time.value) end = std::max(end, e.start + e.time);
  return end;
}

/// What a lane shows of one step: steps recur, so what passes the end of one is drawn where the next has the same.
struct Span {
  std::string name;
  Seconds start, end;
};

/// Adds a span, in two where it passes the step's end.
void add_within(Span span, Seconds step, std::vector<Span>& spans) {
  const Seconds time = std::min(span.end - span.start, step);
  while (span.start < Seconds(0.0)) span.start += step;
  while (span.start >= step) span.start -= step;
  span.end = span.start + time;
  const Seconds beyond = span.end - step;
  constexpr double kRounding = 1e-9;  // the engine counts picoseconds
  if (beyond > kRounding * step) spans.push_back({span.name, Seconds(0.0), beyond});
  span.end = std::min(span.end, step);
  spans.push_back(std::move(span));
}

/// Spans in order of their start, overlapping ones as one: what is on a link at a time.
std::vector<Span> joined(std::vector<Span> spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  std::vector<Span> result;
  std::size_t more = 0;  // in the last one
  const auto tell_more = [&] {
    if (more > 0) result.back().name += " and " + std::to_string(more) + " more";
    more = 0;
  };
  for (Span& span : spans) {
    if (!result.empty() && span.start < result.back().end) {
      result.back().end = std::max(result.back().end, span.end);
      ++more;
    } else {
      tell_more();
      result.push_back(std::move(span));
    }
  }
  tell_more();
  return result;
}

void add_span(const Span& span, const char* category, int process, int row, Json& events) {
  events.push_back({{"name", span.name},
                    {"cat", category},
                    {"ph", "X"},
                    {"ts", span.start.base() * kMicrosecondsPerSecond},
                    {"dur", (span.end - span.start).base() * kMicrosecondsPerSecond},
                    {"pid", process},
                    {"tid", row}});
}

/// Rows of one process of the trace: a lane has as many as run at a time.
class ProcessRows {
 public:
  ProcessRows(int process, int first_row, Json& events) : process_(process), next_row_(first_row), events_(events) {}

  void name(const std::string& text, int place) {
    events_.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", process_}, {"args", {{"name", text}}}});
    events_.push_back({{"name", "process_sort_index"}, {"ph", "M"}, {"pid", process_}, {"args", {{"sort_index", place}}}});
  }

  /// `about`: of the whole lane.
  void add(const std::string& lane, const char* category, std::vector<Span> spans, const Json& about = Json::object()) {
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
    std::vector<Seconds> free;  // of each row
    const int first = next_row_;
    for (const Span& span : spans) {
      constexpr Seconds kPicosecond(1e-12);
      const auto row = std::find_if(free.begin(), free.end(), [&](Seconds end) { return end <= span.start + kPicosecond; });
      const int at = static_cast<int>(row - free.begin());
      if (row == free.end()) {
        const std::string text = free.empty() ? lane : lane + ", " + std::to_string(at + 1);
        free.push_back(span.end);
        Json args{{"name", text}};
        args.update(about);
        events_.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", process_}, {"tid", first + at}, {"args", args}});
      } else {
        *row = span.end;
      }
      add_span(span, category, process_, first + at, events_);
    }
    next_row_ = first + static_cast<int>(free.size());
  }

 private:
  int process_, next_row_;
  Json& events_;
};

constexpr int kHost = 1000, kLinks = 2000, kOtherGpus = 3000;  ///< processes, behind the shown GPU's own number

/// What a lane belongs to.
enum class LanePlace { host, shown_gpu, other_gpu, link };

const LinkTraffic* link_of(const Prediction& prediction, const std::string& lane) {
  const auto link = std::find_if(prediction.detail.links.begin(), prediction.detail.links.end(),
                                 [&](const LinkTraffic& l) { return l.name == lane; });
  return link == prediction.detail.links.end() ? nullptr : &*link;
}

LanePlace place_of(const Prediction& prediction, const std::string& lane) {
  if (lane == kComputeStream) return LanePlace::shown_gpu;
  if (lane.starts_with(kOtherRank)) return LanePlace::other_gpu;
  return link_of(prediction, lane) != nullptr ? LanePlace::link : LanePlace::host;
}

struct Lane {
  std::string name;
  LanePlace place = LanePlace::host;
  std::vector<Span> spans;
};

/// By name, in the order in which they come.
std::vector<Lane> lanes_of(const Prediction& prediction) {
  std::vector<Lane> lanes;
  std::map<std::string_view, std::size_t> known;
  for (const LaneEvent& e : prediction.detail.lanes) {
    const auto [lane, added] = known.try_emplace(e.lane, lanes.size());
    if (added) lanes.push_back({e.lane, place_of(prediction, e.lane), {}});
    add_within({e.name, e.start, e.start + e.time}, prediction.step_time.value, lanes[lane->second].spans);
  }
  return lanes;
}

bool runs_alike(const Prediction& prediction) {
  return std::none_of(prediction.detail.lanes.begin(), prediction.detail.lanes.end(),
                      [](const LaneEvent& e) { return e.lane.starts_with(kOtherRank); });
}

/// What the shown GPU runs beside its kernels, then the host's threads and workers, links, and GPUs that do not run alike, each
/// place as a process of its own.
void add_lanes(const Prediction& prediction, int gpu, Json& events) {
  ProcessRows host(kHost + gpu, 0, events), links(kLinks, 0, events);
  bool hosts = false, linked = false;
  int others = 0;
  for (Lane& lane : lanes_of(prediction)) {
    switch (lane.place) {
      case LanePlace::shown_gpu:
        for (const Span& span : lane.spans) add_span(span, "metric", gpu, 0, events);
        break;
      case LanePlace::other_gpu: {
        ProcessRows rows(kOtherGpus + others, 0, events);
        rows.name(lane.name + ", " + prediction.job.device, ++others);
        rows.add(kComputeStream, "kernel", std::move(lane.spans));
        break;
      }
      case LanePlace::host:
        if (!std::exchange(hosts, true)) host.name("host", kHost);
        host.add(lane.name, "host", std::move(lane.spans));
        break;
      case LanePlace::link: {
        if (!std::exchange(linked, true)) links.name("links", kLinks);
        const LinkTraffic& link = *link_of(prediction, lane.name);
        links.add(lane.name, "link", joined(std::move(lane.spans)),
                  {{"bytes_per_step", link.bytes.base()}, {"capacity_bytes_per_s", link.capacity.base()}});
        break;
      }
    }
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
  const auto& kernels = prediction.detail.kernels;
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
  if (!prediction.detail.drawing.ranks.empty()) return pipeline_trace(prediction);
  const int gpu = prediction.memory.gpus.empty() ? 0 : prediction.memory.gpus.front().gpu;
  std::string process = "GPU " + std::to_string(gpu) + ", " + prediction.job.device;
  if (prediction.job.gpus > 1 && runs_alike(prediction)) process += " (all " + std::to_string(prediction.job.gpus) + " alike)";
  Json events = Json::array();
  ProcessRows rows(gpu, 1, events);
  rows.name(process, 0);
  events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", gpu}, {"tid", 0}, {"args", {{"name", "compute stream"}}}});
  // Before the kernels: of two that begin together the outer one comes first.
  add_modules(prediction, gpu, events);
  for (const KernelTime& k : prediction.detail.kernels) {
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
  for (const KernelTime& k : prediction.detail.kernels)
    events.push_back({{"name", "memory of arrays"},
                      {"ph", "C"},
                      {"ts", k.start.base() * kMicrosecondsPerSecond},
                      {"pid", gpu},
                      {"args", {{"bytes", whole(k.live)}}}});
  std::vector<Span> exchanges;
  for (std::size_t i = 0; i < prediction.detail.exchanges.size(); ++i) {
    const ExchangeTime& e = prediction.detail.exchanges[i];
    add_within({"bucket " + std::to_string(i), e.start, e.start + e.time}, prediction.step_time.value, exchanges);
  }
  rows.add("gradient exchange", "exchange", std::move(exchanges));
  add_lanes(prediction, gpu, events);
  const bool loads = prediction.input_verdict && prediction.phases.input_exposed > Seconds(0.0);
  if (const Seconds last = end_of(prediction); (prediction.job.gpus > 1 || loads) && prediction.step_time.value > last) {
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
