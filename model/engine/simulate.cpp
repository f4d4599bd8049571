#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "model/engine/event_queue.hpp"
#include "model/engine/ready_queue.hpp"
#include "model/engine/shared_link.hpp"
#include "model/engine/timeline.hpp"

namespace tbdsim::engine {

namespace {

constexpr double kPicosecondsPerSecond = 1e12;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Whole picoseconds that `bytes` need at `rate`, rounded up so that no link carries more than its capacity. A
/// quotient that exceeds a whole number by less than its own rounding error counts as that number.
SimTime time_to_move(double bytes, BytesPerSecond rate) {
  constexpr double kRounding = 0x1p-50;  // four units in the last place: multiply, divide and the rate's own two
  const double picoseconds = bytes * kPicosecondsPerSecond / rate.base();
  assert(picoseconds < 0x1p62 && "the flow ends beyond the simulation clock");
  return {static_cast<std::int64_t>(std::ceil(picoseconds - picoseconds * kRounding))};
}

}  // namespace

/// One run of a graph: the state of its tasks and flows while the clock advances.
class Simulation {
 public:
  explicit Simulation(const TaskGraph& graph);
  Timeline run() &&;
  static std::span<const LinkUse> route(const TaskGraph& graph, const TaskGraph::Flow& flow) {
    return std::span(graph.uses_).subspan(at(flow.first_use), at(flow.uses));
  }
  static std::span<const LinkUse> route(const TaskGraph& graph, TaskId id) {
    const std::int32_t flow = graph.flow_of_[at(id.value)];
    return flow < 0 ? std::span<const LinkUse>() : route(graph, graph.flows_[at(flow)]);
  }

 private:
  enum class Kind : std::int32_t {
    task_ends,
    latency_passed,  // the flow starts to move its bytes
    flow_may_end,    // stale if the flow's rate has changed since
  };
  struct Event {
    Kind kind;
    std::int32_t task;
  };
  struct Progress {
    double bytes_left = 0.0;  // at `since`
    BytesPerSecond rate;
    SimTime since;
    SimTime end{-1};        // at the present rate; -1 when not moving
    SimTime announced{-1};  // an end for which an event is queued
    std::int32_t task = -1;
  };

  template <class Visit>
  void for_each_edge(Visit visit) const;
  void link_successors();
  static std::vector<FlowRoute> routes(const TaskGraph& graph);

  void become_ready(std::int32_t task, TaskId held_by);
  void start(std::int32_t task, TaskId held_by);
  void finish(std::int32_t task);
  void handle(Event event);
  void begin_moving(std::int32_t flow);
  void end_moving(std::int32_t flow);
  void update_rates();
  void change_rate(Progress& flow, BytesPerSecond rate);

  const TaskGraph& graph_;
  std::vector<std::int32_t> first_successor_, successors_;
  std::vector<std::int32_t> waits_for_;  // per task: predecessors that have not ended
  std::vector<Progress> flows_;
  std::vector<FlowRoute> routes_;  // per flow
  SharedLinks links_;
  std::vector<ReadyQueue> ready_;  // per stream; in use for queues only
  EventQueue<Event> queue_;
  std::vector<SimTime> busy_since_;  // per link with moving flows
  Timeline timeline_;
  std::size_t ended_ = 0;
};

Simulation::Simulation(const TaskGraph& graph)
    : graph_(graph),
      waits_for_(graph.tasks(), 0),
      flows_(graph.flows_.size()),
      routes_(routes(graph)),
      links_(graph.capacity_, routes_),
      ready_(graph.streams()),
      busy_since_(graph.links()) {
  link_successors();
  for (std::size_t t = 0; t < graph.tasks(); ++t) {
    const std::int32_t flow = graph.flow_of_[t];
    if (flow < 0) continue;
    flows_[at(flow)].bytes_left = graph.flows_[at(flow)].bytes;
    flows_[at(flow)].task = static_cast<std::int32_t>(t);
  }
  timeline_.start.resize(graph.tasks());
  timeline_.end.resize(graph.tasks());
  timeline_.held_by.resize(graph.tasks());
  timeline_.link_bytes.resize(graph.links());
  timeline_.link_busy.resize(graph.links());
  for (std::size_t t = 0; t < graph.tasks(); ++t) {
    const std::int32_t stream = graph.stream_of_[t];
    if (stream >= 0 && graph.workers_[at(stream)] > 0) ready_[at(stream)].expect_one_more();
  }
  for (std::size_t s = 0; s < ready_.size(); ++s) ready_[s].reserve(graph.workers_[s]);
  // At most one event waits for each running task, or for each moving flow apart from stale ones.
  queue_.reserve(graph.streams() + flows_.size());
}

std::vector<FlowRoute> Simulation::routes(const TaskGraph& graph) {
  std::vector<FlowRoute> result;
  result.reserve(graph.flows_.size());
  for (const TaskGraph::Flow& flow : graph.flows_) { result.push_back({route(graph, flow), BytesPerSecond(flow.max_rate)}); }
  return result;
}

/// Calls visit(earlier, later) for every dependency and for neighbours on a stream, in the order of `later`.
template <class Visit>
void Simulation::for_each_edge(Visit visit) const {
  std::vector<std::int32_t> last_on_stream(graph_.streams(), -1);
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(graph_.tasks()); ++t) {
    for (const TaskId earlier : graph_.dependencies({t})) visit(earlier.value, t);
    const std::int32_t stream = graph_.stream_of_[at(t)];
    if (stream < 0 || graph_.workers_[at(stream)] > 0) continue;
    if (last_on_stream[at(stream)] >= 0) visit(last_on_stream[at(stream)], t);
    last_on_stream[at(stream)] = t;
  }
}

void Simulation::link_successors() {
  first_successor_.assign(graph_.tasks() + 1, 0);
  for_each_edge([this](std::int32_t earlier, std::int32_t later) {
    ++first_successor_[at(earlier)];
    ++waits_for_[at(later)];
  });
  std::int32_t total = 0;
  for (std::int32_t& first : first_successor_) total += std::exchange(first, total);
  successors_.resize(at(total));
  std::vector<std::int32_t> next(first_successor_);
  for_each_edge([&](std::int32_t earlier, std::int32_t later) { successors_[at(next[at(earlier)]++)] = later; });
}

/// All that the task depends on has ended: it starts, unless its queue is busy.
void Simulation::become_ready(std::int32_t task, TaskId held_by) {
  const std::int32_t stream = graph_.stream_of_[at(task)];
  if (stream >= 0 && graph_.workers_[at(stream)] > 0 && !ready_[at(stream)].enter(task, graph_.priority({task}))) return;
  start(task, held_by);
}

void Simulation::start(std::int32_t task, TaskId held_by) {
  const SimTime now = queue_.now();
  timeline_.start[at(task)] = now;
  timeline_.held_by[at(task)] = held_by;
  const std::int32_t flow = graph_.flow_of_[at(task)];
  const bool moves = flow >= 0 && flows_[at(flow)].bytes_left > 0.0;
  queue_.push(now + graph_.duration_[at(task)], {moves ? Kind::latency_passed : Kind::task_ends, task});
}

void Simulation::finish(std::int32_t task) {
  timeline_.end[at(task)] = queue_.now();
  timeline_.makespan = queue_.now();
  ++ended_;
  const std::int32_t stream = graph_.stream_of_[at(task)];
  if (stream >= 0 && graph_.workers_[at(stream)] > 0) {
    if (const std::int32_t next = ready_[at(stream)].leave(); next >= 0) start(next, {task});
  }
  for (std::int32_t s = first_successor_[at(task)]; s < first_successor_[at(task) + 1]; ++s) {
    const std::int32_t successor = successors_[at(s)];
    if (--waits_for_[at(successor)] == 0) become_ready(successor, {task});
  }
}

void Simulation::begin_moving(std::int32_t flow) {
  links_.start(flow);
  flows_[at(flow)].since = queue_.now();
  for (const LinkUse& use : routes_[at(flow)].uses) {
    timeline_.link_bytes[at(use.link.value)] += use.weight * flows_[at(flow)].bytes_left;
    if (links_.flows_on(use.link) == 1) busy_since_[at(use.link.value)] = queue_.now();
  }
}

void Simulation::end_moving(std::int32_t flow) {
  links_.stop(flow);
  flows_[at(flow)].end = {-1};
  for (const LinkUse& use : routes_[at(flow)].uses) {
    const std::size_t link = at(use.link.value);
    if (links_.flows_on(use.link) == 0) timeline_.link_busy[link] += queue_.now() - busy_since_[link];
  }
}

void Simulation::handle(Event event) {
  const std::int32_t flow = graph_.flow_of_[at(event.task)];
  switch (event.kind) {
    case Kind::task_ends:
      return finish(event.task);
    case Kind::latency_passed:
      return begin_moving(flow);
    case Kind::flow_may_end:
      flows_[at(flow)].announced = {-1};
      if (flows_[at(flow)].end != queue_.now()) return;
      end_moving(flow);
      return finish(event.task);
  }
}

void Simulation::change_rate(Progress& flow, BytesPerSecond rate) {
  const SimTime now = queue_.now();
  const double moved = (flow.rate * (now - flow.since).seconds()).base();
  flow.bytes_left = std::max(0.0, flow.bytes_left - moved);
  flow.since = now;
  flow.rate = rate;
  flow.end = now + time_to_move(flow.bytes_left, rate);
}

/// A component of connected flows changes at the latest when its first flow ends, and is then looked at again;
/// so only that first end needs an event.
void Simulation::update_rates() {
  links_.update();
  for (std::size_t c = 0; c < links_.components(); ++c) {
    SimTime first_end{std::numeric_limits<std::int64_t>::max()};
    for (const std::int32_t f : links_.component(c)) {
      Progress& flow = flows_[at(f)];
      if (flow.rate != links_.rate(f)) change_rate(flow, links_.rate(f));
      first_end = std::min(first_end, flow.end);
    }
    for (const std::int32_t f : links_.component(c)) {
      Progress& flow = flows_[at(f)];
      if (flow.end != first_end || flow.announced == first_end) continue;
      flow.announced = first_end;
      queue_.push(first_end, {Kind::flow_may_end, flow.task});
    }
  }
}

Timeline Simulation::run() && {
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(graph_.tasks()); ++t) {
    if (waits_for_[at(t)] == 0) become_ready(t, {-1});
  }
  while (!queue_.empty()) {
    handle(queue_.pop().payload);
    // Flows that start or end at one instant are one change of rates.
    if (!queue_.more_now() && links_.changed()) update_rates();
  }
  assert(ended_ == graph_.tasks());
  return std::move(timeline_);
}

Timeline simulate(const TaskGraph& graph) { return Simulation(graph).run(); }

std::span<const LinkUse> route_of(const TaskGraph& graph, TaskId id) { return Simulation::route(graph, id); }

}  // namespace tbdsim::engine
