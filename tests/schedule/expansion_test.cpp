// Identical ranks are simulated once. Here every rank, node and link is held apart, and the step must take as long.
#include <fmt/format.h>
#include <cmath>
#include <numeric>

#include "model/engine/timeline.hpp"
#include "model/schedule/exchange/exchange_style.hpp"
#include "model/schedule/lower.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// Buckets of gradients, each all-reduced by one flow when the ranks that are held apart have them. Held apart are either
/// one rank, with the links of one node, or all ranks, each with its own streams, and every node with its own links.
class ExpandedAllReduce final : public ExchangeStyle {
 public:
  ExpandedAllReduce(CollectivePlan plan, std::int32_t ranks, int nodes, Bytes bucket)
      : plan_(std::move(plan)), ranks_(ranks), nodes_(nodes), bucket_(bucket) {}

  std::int32_t ranks() const override { return ranks_; }
  void prepare(StepBuilder& builder) override {
    stream_ = builder.add_stream("communication");
    for (int node = 0; node < nodes_; ++node) {
      for (const CollectiveLink& link : plan_.links)
        links_.push_back(builder.link(fmt::format("node{}/{}", node, link.name), link.capacity));
    }
  }
  void begin_iteration(StepBuilder& /*builder*/) override {
    last_.clear();
    gathered_ = Bytes(0.0);
  }
  std::span<const engine::TaskId> before(StepBuilder& builder, std::size_t node, std::int32_t /*rank*/) override {
    if (builder.node(node).pass != Pass::update) return {};
    return last_;
  }
  void after(StepBuilder& builder, std::size_t node, std::span<const engine::TaskId> kernels) override {
    const Pass pass = builder.node(node).pass;
    if (pass == Pass::forward || pass == Pass::update) return;
    for (const ParameterId id : builder.gradients(node)) gathered_ += builder.gradient_bytes(id);
    if (gathered_ == Bytes(0.0) || (!builder.ends_backward(node) && gathered_ < bucket_)) return;
    const CollectiveCall call = collective_call(plan_, gathered_);
    std::vector<engine::LinkUse> route;
    for (int n = 0; n < nodes_; ++n) {
      for (const LinkWeight& use : call.weights)
        route.push_back(
            {links_[static_cast<std::size_t>(n) * plan_.links.size() + static_cast<std::size_t>(use.link)], use.weight});
    }
    last_ = {builder.add_flow({Work::exchange, -1, 0, 0, 0}, stream_, gathered_, call.latency, route, kernels, call.rate)};
    gathered_ = Bytes(0.0);
  }

 private:
  CollectivePlan plan_;
  std::int32_t ranks_;
  int nodes_;
  Bytes bucket_;
  engine::StreamId stream_;
  std::vector<engine::LinkId> links_;
  std::vector<engine::TaskId> last_;
  Bytes gathered_;
};

}  // namespace

TEST_CASE("256 GPUs on 32 nodes: full expansion takes as long as one rank that stands for all") {
  constexpr int kNodes = 32;
  const System system = load_system({TBDSIM_SOURCE_DIR}, "dgx1").value();
  Stack stack = load_stack(TBDSIM_SOURCE_DIR, "pytorch-1.13").value();
  stack.exchange.first_bucket = Bytes(0.0);  // all buckets alike, as the expanded style has them
  const KernelConstants constants =
      read_kernel_constants(TBDSIM_SOURCE_DIR "/hardware/kernels.toml", all_architectures()).value();
  const KernelModel kernels = KernelModel::make(system.device, Precision::fp32, stack, constants).value();
  const ZooEntry* entry = find_network("resnet50", "torchvision").value();
  const OpGraph graph = entry->build(*entry, {}).value();
  const TrainingStep step = training_step(graph);
  std::vector<int> devices(8);
  std::iota(devices.begin(), devices.end(), 0);
  const NcclLibrary nccl = load_nccl(TBDSIM_SOURCE_DIR, stack.nccl).value();
  const CollectivePlan plan =
      plan_collective(system, {devices, kNodes, system.network}, CollectiveKind::all_reduce, nccl).value();
  REQUIRE(plan.ranks == 256);
  ExpandedAllReduce symmetric(plan, 1, 1, stack.exchange.bucket), expanded(plan, plan.ranks, kNodes, stack.exchange.bucket);
  const LoweredStep one = lower(graph, step, kernels, stack, symmetric, {4});
  const LoweredStep all = lower(graph, step, kernels, stack, expanded, {4});
  CHECK(all.graph.tasks() > 200 * one.graph.tasks());
  const double folded = engine::simulate(one.graph).makespan.seconds().base();
  const double full = engine::simulate(all.graph).makespan.seconds().base();
  CHECK_THAT(full, WithinRel(folded, 1e-3));
}
