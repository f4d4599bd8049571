#pragma once
#include <optional>
#include <vector>

#include "model/schedule/exchange/exchange_style.hpp"
#include "model/schedule/exchange/peer_copies.hpp"

namespace tbdsim {

/// The stage of each operator when operators are divided, in their order, into `stages` runs so that the longest run is as
/// short as it can be. Expects times >= 0 and stages >= 1; there are fewer runs where fewer will do.
[[nodiscard]] std::vector<std::int32_t> balanced_stages(const std::vector<Seconds>& times, std::int32_t stages);

/// The same of a step's operators, by what forward and backward take of them. Expects a cost for every node.
[[nodiscard]] std::vector<std::int32_t> pipeline_stages(const OpGraph& graph, std::span<const StepNode> nodes,
                                                        std::span<const NodeCost> costs, std::int32_t stages);

/// The way from every stage to every other: within a node a copy between GPUs, between nodes the nodes' ports.
struct StageRoutes {
  std::vector<CopyRoute> routes;  ///< row by row; the diagonal is empty
  std::int32_t stages = 1;
  std::int32_t per_node = 0;  ///< of them; 0: one node has all
};

/// Layer-wise model parallelism: every GPU holds one run of the network's operators, balanced by their kernels' times, and
/// keeps its own weights, so no gradient travels. A feature map that a later stage reads is copied there when it is
/// computed, its gradient back; a stage starts on a micro-batch when all it reads has arrived. With one micro-batch the
/// stages work one after the other (plain model parallelism); with several, forward of all and then backward of all fill
/// the pipeline as GPipe does, whose bubble is (stages-1)/(micro-batches+stages-1) where stages are equal and copies free.
/// Source: Huang et al., NeurIPS 2019 (GPipe). Neglects: buffers' limits on how far a stage runs ahead; GPipe's
/// recomputation, which --recompute adds.
class PipelineStages final : public ExchangeStyle {
 public:
  /// `batch` samples of numbers of `element` bytes make a micro-batch's feature map.
  PipelineStages(StageRoutes routes, double batch, Bytes element)
      : stages_(routes.stages), per_node_(routes.per_node), copies_(std::move(routes.routes)), batch_(batch), element_(element) {}

  [[nodiscard]] std::int32_t ranks() const override { return stages_; }
  [[nodiscard]] std::int32_t iterations() const override { return 2; }
  [[nodiscard]] bool pipelined() const override { return true; }
  [[nodiscard]] bool runs(const StepBuilder& builder, std::size_t node, std::int32_t rank) const override {
    return stage_of(builder, builder.node(node)) == rank;
  }
  void prepare(StepBuilder& builder) override;
  [[nodiscard]] std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t rank) override;
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override;

 private:
  [[nodiscard]] std::int32_t stage_of(const StepBuilder& builder, const StepNode& node) const;
  void copy(StepBuilder& builder, TensorId tensor, std::int32_t from, std::int32_t to, engine::TaskId source);

  std::int32_t stages_, per_node_;
  PeerCopies copies_;
  double batch_;
  Bytes element_;
  std::vector<std::int32_t> stage_;                    // of each operator
  std::vector<engine::StreamId> senders_;              // of each stage
  std::vector<std::vector<engine::TaskId>> arrivals_;  // of each stage: what its next kernel waits for
  std::vector<engine::TaskId> wait_, sources_;
};

}  // namespace tbdsim
