#include "model/trace/iterations.hpp"

#include <algorithm>
#include <map>

#include "model/trace/repetition.hpp"

namespace tbdsim::trace {
namespace {

/// The device that is busy longest.
void choose_device(const Trace& trace, Iterations& found) {
  std::map<std::int32_t, Nanoseconds> busy;
  for (const Event& event : trace.events) busy[event.device] += event.time();
  found.devices = static_cast<int>(busy.size());
  found.device =
      std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

/// Marks on the host of a trace that has nothing else.
void host_marks(const Trace& trace, Iterations& found) {
  found.marked = true;
  found.steps = trace.marks;
}

void device_marks(const Trace& trace, Iterations& found) {
  // The first event issued within each mark.
  std::vector<std::size_t> first;
  Nanoseconds last_end = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.device != found.device || !event.issued) continue;
    const auto mark = std::upper_bound(trace.marks.begin(), trace.marks.end(), *event.issued,
                                       [](Nanoseconds at, const Span& span) { return at < span.start; });
    if (mark == trace.marks.begin() || *event.issued >= std::prev(mark)->end) continue;
    const auto number = static_cast<std::size_t>(std::prev(mark) - trace.marks.begin());
    if (first.size() <= number) first.resize(number + 1, trace.events.size());
    first[number] = std::min(first[number], i);
    if (number + 1 == trace.marks.size()) last_end = std::max(last_end, event.end);
  }
  first.erase(std::remove(first.begin(), first.end(), trace.events.size()), first.end());
  if (first.empty()) return;
  found.marked = true;
  for (std::size_t i = 0; i + 1 < first.size(); ++i) {
    found.first.push_back(first[i]);
    found.next.push_back(first[i + 1]);
    found.steps.push_back({trace.events[first[i]].start, trace.events[first[i + 1]].start});
  }
  if (first.size() > 1) return;
  found.first = first;
  found.next = {trace.events.size()};
  found.steps.push_back({trace.events[first.front()].start, std::max(last_end, trace.events[first.front()].end)});
}

/// Kernels of the stream that has most of them.
std::vector<std::size_t> busiest_stream(const Trace& trace, std::int32_t device) {
  std::map<std::int32_t, std::vector<std::size_t>> streams;
  for (std::size_t i = 0; i < trace.events.size(); ++i)
    if (trace.events[i].device == device && trace.events[i].activity == Activity::kernel)
      streams[trace.events[i].stream].push_back(i);
  const auto most = std::max_element(streams.begin(), streams.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return most == streams.end() ? std::vector<std::size_t>() : most->second;
}

void repetition(const Trace& trace, Iterations& found) {
  const std::vector<std::size_t> kernels = busiest_stream(trace, found.device);
  std::vector<std::int32_t> names;
  std::vector<double> times;
  for (const std::size_t i : kernels) {
    names.push_back(trace.events[i].name);
    times.push_back(static_cast<double>(trace.events[i].time()));
  }
  const Repetition repeated = find_repetition(names, times);
  for (std::size_t part = 0; repeated.length > 0 && part < repeated.parts(); ++part) {
    if (!repeated.alike[part]) {
      ++found.left_out;
      continue;
    }
    const std::size_t from = kernels[repeated.anchors[part]], to = kernels[repeated.anchors[part + 1]];
    found.first.push_back(from);
    found.next.push_back(to);
    found.steps.push_back({trace.events[from].start, trace.events[to].start});
  }
}

/// Whether what was found is most of the trace, and not layers of one step that are alike.
bool repeats_throughout(const Trace& trace, const Iterations& found) {
  constexpr std::size_t kLeast = 3;
  constexpr double kMost = 0.7;  // the first and the last step may be cut
  Nanoseconds covered = 0, end = 0;
  for (const Span& step : found.steps) covered += step.end - step.start;
  for (const Event& event : trace.events) end = std::max(end, event.end);
  return found.steps.size() >= kLeast &&
         static_cast<double>(covered) >= kMost * static_cast<double>(end - trace.events.front().start);
}

/// One step from the first event to the last.
void all_of_it(const Trace& trace, Iterations& found) {
  Nanoseconds end = 0;
  const auto first =
      std::find_if(trace.events.begin(), trace.events.end(), [&](const Event& e) { return e.device == found.device; });
  for (const Event& event : trace.events) end = std::max(end, event.end);
  found.whole = true;
  found.left_out = 0;
  found.steps = {{first->start, end}};
  found.first = {static_cast<std::size_t>(first - trace.events.begin())};
  found.next = {trace.events.size()};
}

/// Steps that are empty or begin before the one before ends, as marks of several threads do, are left out.
void keep_in_order(Iterations& found) {
  std::vector<Span> steps;
  std::vector<std::size_t> first, next;
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    const Span step = found.steps[i];
    if (step.end <= step.start || (!steps.empty() && step.start < steps.back().end)) continue;
    steps.push_back(step);
    if (found.first.empty()) continue;
    first.push_back(found.first[i]);
    next.push_back(found.next[i]);
  }
  found.steps = std::move(steps);
  found.first = std::move(first);
  found.next = std::move(next);
}

}  // namespace

Result<Iterations> find_steps(const Trace& trace, const std::string& name) {
  Iterations found;
  choose_device(trace, found);
  if (trace.on_host && !trace.marks.empty()) {
    host_marks(trace, found);
  } else if (!trace.marks.empty()) {
    device_marks(trace, found);
  }
  if (found.steps.empty()) repetition(trace, found);
  if (trace.one_step && !repeats_throughout(trace, found)) all_of_it(trace, found);
  keep_in_order(found);
  if (found.steps.empty())
    return tl::make_unexpected(
        Errors{Error{"no iterations: the trace has no marks (profiler.step(), NVTX ranges named step), and nothing repeats three "
                     "times in its last half",
                     SourceRef{name, 0, 0}}});
  return found;
}

}  // namespace tbdsim::trace
