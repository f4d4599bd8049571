#pragma once
#include <map>
#include <span>
#include <string>

#include "model/schedule/lowered_step.hpp"

namespace tbdsim {

/// Through this an exchange style adds its tasks to a step: it labels them, counts their time once and knows the
/// iteration that is being built.
class StepBuilder {
 public:
  StepBuilder(const OpGraph& graph, LoweredStep& out) : graph_(graph), out_(out) {}

  [[nodiscard]] const OpGraph& graph() const { return graph_; }
  [[nodiscard]] const LoweredStep& step() const { return out_; }
  [[nodiscard]] const StepNode& node(std::size_t index) const { return out_.nodes[index]; }
  [[nodiscard]] std::int32_t iteration() const { return iteration_; }
  void begin_iteration(std::int32_t number) { iteration_ = number; }
  /// Micro-batches of an iteration, counted from 0; gradients are ready in the last.
  [[nodiscard]] std::int32_t micro_batch() const { return micro_batch_; }
  void begin_micro_batch(std::int32_t number, bool last) {
    micro_batch_ = number;
    last_micro_batch_ = last;
  }

  /// Streams and links that the style needs; `engine::TaskGraph` says what they do.
  [[nodiscard]] engine::StreamId add_stream(std::string name) { return out_.graph.add_stream(std::move(name)); }
  [[nodiscard]] engine::StreamId add_queue(std::string name, std::int32_t workers = 1) {
    return out_.graph.add_queue(std::move(name), workers);
  }
  void set_priority(engine::TaskId task, std::int32_t priority) { out_.graph.set_priority(task, priority); }
  /// A link that everything of that name shares: added with `capacity` the first time it is asked for.
  [[nodiscard]] engine::LinkId link(const std::string& name, BytesPerSecond capacity);

  /// A task that takes a known time: what `task` stands for is completed with the iteration.
  engine::TaskId add_task(StepTask task, engine::StreamId stream, Seconds duration, std::span<const engine::TaskId> after);
  /// Bytes over links that they share with whatever else moves there, at most at `max_rate` (0: no limit of its own).
  engine::TaskId add_flow(StepTask task, engine::StreamId stream, Bytes bytes, Seconds latency,
                          std::span<const engine::LinkUse> route, std::span<const engine::TaskId> after,
                          BytesPerSecond max_rate = BytesPerSecond(0.0));
  /// Counts gradients that a rank hands over, once per step.
  void count_exchanged(Bytes bytes) {
    if (iteration_ == 0) out_.exchanged += bytes;
  }

  /// Whether `index` is the last node of the last backward pass.
  [[nodiscard]] bool ends_backward(std::size_t index) const {
    const bool last = index + 1 == out_.nodes.size() || out_.nodes[index + 1].pass == Pass::update;
    return last_micro_batch_ && last && out_.nodes[index].pass != Pass::update;
  }
  /// Parameter arrays whose gradients node `index` completes: none unless it is the last pass over them, of the last
  /// micro-batch.
  [[nodiscard]] std::span<const ParameterId> gradients(std::size_t index) const {
    return last_micro_batch_ ? produced(index) : std::span<const ParameterId>();
  }
  /// The same of any micro-batch.
  [[nodiscard]] std::span<const ParameterId> produced(std::size_t index) const;
  /// As exchanged.
  [[nodiscard]] Bytes gradient_bytes(ParameterId id) const;

 private:
  std::int32_t label(StepTask task);

  const OpGraph& graph_;
  LoweredStep& out_;
  std::map<std::string, engine::LinkId> links_;
  std::int32_t iteration_ = 0, micro_batch_ = 0;
  bool last_micro_batch_ = true;
};

}  // namespace tbdsim
