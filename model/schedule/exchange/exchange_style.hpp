#pragma once
#include <memory>
#include <span>

#include "model/schedule/step_builder.hpp"

namespace tbdsim {

/// How gradients travel and who updates: one style per file of this folder.
///
/// `lower` walks an iteration node by node, forward, backward, update, on every rank that is held apart, and asks the
/// style what each kernel waits for and tells it when a kernel has been added; the style adds copies, calls, merges and
/// host work to the same task graph through the builder. A virtual interface, because a style keeps state of its own
/// between nodes and iterations and styles are where this model is extended.
class ExchangeStyle {
 public:
  ExchangeStyle() = default;
  ExchangeStyle(const ExchangeStyle&) = delete;
  ExchangeStyle& operator=(const ExchangeStyle&) = delete;
  virtual ~ExchangeStyle() = default;

  /// Ranks to hold apart: 1 where all are alike, so that one stands for all.
  [[nodiscard]] virtual std::int32_t ranks() const { return 1; }
  /// Iterations after which the step no longer changes, if more than host and device need.
  [[nodiscard]] virtual std::int32_t iterations() const { return 1; }
  /// Whether an exchange may end in the next iteration's forward pass.
  [[nodiscard]] virtual bool carries_over() const { return false; }
  /// Whether forward and backward pass hold the exchange: the script's calls return when it is done.
  [[nodiscard]] virtual bool in_passes() const { return false; }
  /// Whether `rank` runs this node itself (a store may update in its place).
  [[nodiscard]] virtual bool runs(const StepBuilder& /*builder*/, std::size_t /*node*/, std::int32_t /*rank*/) const {
    return true;
  }

  /// Once, before the first iteration: streams and links.
  virtual void prepare(StepBuilder& builder) = 0;
  virtual void begin_iteration(StepBuilder& /*builder*/) {}
  /// What the kernel of `node` on `rank` waits for. The span must live until the next call.
  [[nodiscard]] virtual std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) = 0;
  /// By how much the kernel of `node` is longer because of what is exchanged meanwhile.
  [[nodiscard]] virtual double stretch(const StepBuilder& /*builder*/, std::size_t /*node*/, std::int32_t /*rank*/) const {
    return 1.0;
  }
  /// Host time to issue `node`, of which an operator alone takes `dispatch`.
  [[nodiscard]] virtual Seconds issue(const StepBuilder& /*builder*/, std::size_t /*node*/, Seconds dispatch) const {
    return dispatch;
  }
  /// The node has been added: `kernels` holds the task that ends it on each rank, -1 where the rank does not run it.
  virtual void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) = 0;
  virtual void end_iteration(StepBuilder& /*builder*/) {}
};

}  // namespace tbdsim
