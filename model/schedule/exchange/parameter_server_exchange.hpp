#pragma once
#include <vector>

#include "model/schedule/exchange/exchange_style.hpp"
#include "model/schedule/exchange/node_traffic.hpp"
#include "model/stack/parameter_server.hpp"

namespace tbdsim {

/// What one node's worker and server do with every array.
struct ServerPlan {
  ParameterServer constants;
  NodeTraffic inside;
  int gpus = 1;            ///< of one node
  int nodes = 1;           ///< each with one server
  BytesPerSecond network;  ///< of the one port that a node's server uses, each direction; unused with one node
  Seconds network_latency;
  /// One worker and one server on one machine, with `network` between the two: the worker sends all of every array, as each of
  /// two machines sends half of it and replies with the other half.
  bool emulated = false;
  bool sliced = false;       ///< arrays travel in slices
  bool prioritized = false;  ///< front layers first, else first come, first served
  /// As many servers as nodes, on machines of their own: a node's port carries all its gradients out, and sums back at the
  /// same time.
  bool apart = false;
  bool servers_only_add = false;   ///< and every GPU updates for itself
  Seconds host_per_key;            ///< of the workers' process, after the backward pass, where others update
  Seconds host_per_key_no_update;  ///< the same where every GPU updates, whose issue is that of its kernels
  /// Elements of the largest array with which the store still updates; beyond it the store only adds and every GPU updates
  /// for itself. 0: the store always updates.
  std::int64_t store_updates_up_to = 0;
};

/// Gradients go to servers that stand beside the workers and hold the weights: gather inside the node, push, sum and
/// update at the server, reply, scatter. Each stage takes a piece when the stage before has all of it (store and
/// forward). A piece is an array, or a slice of one. Every array is spread over all servers, so a node sends
/// (nodes-1)/nodes of each piece; as all nodes are alike, what one sends is also what it receives, and one node stands
/// for all. Pushes and replies share the node's port.
/// The first gradient of an array is taken as it is, the others are added to it (MXNet src/kvstore/kvstore_dist_server.h).
/// The next forward pass of a layer waits for the layer's own arrays only. A framework that pulls at the step fetches
/// nothing before everything is updated, and its forward pass waits for all of it.
/// The process that drives a node's GPUs issues every array's push and update, which follows the backward pass.
/// MXNet's `local` store is the server of one machine in the workers' own process: copies to the host, sum and update there,
/// copies back. BytePS puts its servers on machines of their own.
/// Source: Li et al., OSDI 2014 (parameter server); MXNet kvstore_dist; Jayarajan et al., MLSys 2019 (P3: slices and
/// priority). Neglects: arrays too small to be split, which one server handles alone.
class ParameterServerExchange final : public ExchangeStyle {
 public:
  explicit ParameterServerExchange(ServerPlan plan) : plan_(std::move(plan)) {}

  [[nodiscard]] std::int32_t iterations() const override { return 2; }
  [[nodiscard]] bool carries_over() const override { return true; }
  [[nodiscard]] bool runs(const StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) const override {
    return workers_update_ || builder.node(node).pass != Pass::update;
  }
  void prepare(StepBuilder& builder) override;
  void begin_iteration(StepBuilder& builder) override;
  [[nodiscard]] std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) override;
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override;
  void end_iteration(StepBuilder& builder) override;

 private:
  [[nodiscard]] bool over_network() const { return plan_.nodes > 1 || plan_.emulated; }
  [[nodiscard]] Bytes slice(Bytes array) const;
  void exchange(StepBuilder& builder, ParameterId id, engine::TaskId gradient);
  engine::TaskId serve(StepBuilder& builder, ParameterId id, Bytes piece, engine::TaskId gathered);
  void fetch(StepBuilder& builder, ParameterId id, std::span<const engine::TaskId> updated);
  engine::TaskId add(StepBuilder& builder, Leg leg, ParameterId id, engine::StreamId queue, Bytes bytes,
                     const std::vector<engine::LinkUse>& route, engine::TaskId after);
  engine::TaskId placed(StepBuilder& builder, ParameterId id, engine::TaskId task) const;

  ServerPlan plan_;
  std::vector<engine::LinkUse> up_, down_, push_, reply_way_;
  engine::StreamId gather_, send_, serve_, reply_, scatter_;
  std::vector<engine::TaskId> arrived_, arriving_;  // by parameter: back on the GPUs, of the last and of this iteration
  engine::StreamId process_;
  Seconds host_per_key_;
  std::vector<engine::TaskId> driven_;  // at most one: the process has handled all arrays
  std::vector<engine::TaskId> wait_, updated_, pieces_;
  bool workers_update_ = false;
  bool step_waits_ = true;  // no kernel of this iteration has waited for the fetches yet
};

}  // namespace tbdsim
