#include "model/schedule/exchange/pipeline_stages.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "model/hardware/copy_rate.hpp"
#include "model/schedule/exchange/plan_exchange.hpp"

namespace tbdsim {

using engine::TaskId;

namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Runs that each take at most `limit`, filled one after the other.
std::vector<std::int32_t> filled(const std::vector<Seconds>& times, Seconds limit) {
  std::vector<std::int32_t> stages;
  Seconds run(0.0);
  std::int32_t stage = 0;
  for (const Seconds time : times) {
    if (run + time > limit && run > Seconds(0.0)) {
      ++stage;
      run = Seconds(0.0);
    }
    run += time;
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace

std::vector<std::int32_t> balanced_stages(const std::vector<Seconds>& times, std::int32_t stages) {
  if (times.empty()) return {};
  // The longest run lies between the longest operator and everything; halving finds it to well below a picosecond.
  Seconds low = *std::max_element(times.begin(), times.end());
  Seconds high = std::accumulate(times.begin(), times.end(), Seconds(0.0));
  for (int i = 0; i < 60; ++i) {
    const Seconds middle = 0.5 * (low + high);
    (filled(times, middle).back() < stages ? high : low) = middle;
  }
  return filled(times, high);
}

std::vector<std::int32_t> pipeline_stages(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                                          std::int32_t stages) {
  std::vector<Seconds> times(graph.ops.size(), Seconds(0.0));
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].pass != Pass::update) times[at(nodes[i].op.value)] += costs[i].kernel.time;
  return balanced_stages(times, stages);
}

void PipelineStages::prepare(StepBuilder& builder) {
  stage_ = pipeline_stages(builder.graph(), builder.step().nodes, builder.step().costs, stages_);
  copies_.prepare(builder);
  for (std::int32_t s = 0; s < stages_; ++s) senders_.push_back(builder.add_queue(fmt::format("copies from {}", s)));
  arrivals_.resize(at(stages_));
}

std::int32_t PipelineStages::stage_of(const StepBuilder& builder, const StepNode& node) const {
  return stage_[at(node.pass == Pass::update ? builder.graph().parameter(node.parameter).op.value : node.op.value)];
}

std::span<const TaskId> PipelineStages::before(StepBuilder& /*builder*/, std::size_t /*node*/, std::int32_t rank) {
  // A stage's stream keeps its order, so the first kernel after an arrival waits for it in place of its reader.
  wait_.swap(arrivals_[at(rank)]);
  arrivals_[at(rank)].clear();
  return wait_;
}

void PipelineStages::copy(StepBuilder& builder, TensorId tensor, std::int32_t from, std::int32_t to, TaskId source) {
  const double count = batch_ * static_cast<double>(elements(builder.graph().tensor(tensor).shape));
  const bool leaves_node = per_node_ > 0 && from / per_node_ != to / per_node_;
  const StepTask task{Work::exchange, -1, 0, from, tensor.value, leaves_node ? Leg::push : Leg::whole};
  // What no kernel of this stage has waited for yet may be what the tensor is a view of.
  sources_ = arrivals_[at(from)];
  sources_.push_back(source);
  arrivals_[at(to)].push_back(
      copies_.copy(builder, task, senders_[at(from)], at(from * stages_ + to), count * element_, sources_));
}

void PipelineStages::after(StepBuilder& builder, std::size_t node, std::span<const TaskId> kernels) {
  const StepNode& n = builder.node(node);
  if (n.pass == Pass::update) return;
  const OpGraph& graph = builder.graph();
  const Op& op = graph.op(n.op);
  const std::int32_t here = stage_[at(n.op.value)];
  const TaskId done = kernels[at(here)];
  if (n.pass == Pass::forward && node < builder.step().forward_nodes) {
    std::vector<std::int32_t> readers;
    for (const OpId consumer : graph.tensor(op.output).consumers) readers.push_back(stage_[at(consumer.value)]);
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    for (const std::int32_t reader : readers)
      if (reader != here) copy(builder, op.output, here, reader, done);
  } else if (info(n.pass).input_gradients) {
    for (const TensorId input : op.inputs) {
      const Tensor& tensor = graph.tensor(input);
      const std::int32_t producer = stage_[at(tensor.producer.value)];
      if (producer != here && tensor.needs_gradient) copy(builder, input, here, producer, done);
    }
  }
}

namespace {

/// Between nodes a copy crosses both nodes' ports, at most at the rate of one of them and of its GPU's slot.
Result<StageRoutes> stage_routes(const ExchangeSetting& setting) {
  auto inside = peer_routes(setting.system, setting.devices, UnlinkedRoute::host);
  if (!inside) return tl::make_unexpected(inside.error());
  const std::size_t local = setting.devices.size(), count = local * static_cast<std::size_t>(setting.nodes);
  if (setting.nodes > 1 && !setting.network)
    return fail(fmt::format("{}: {} nodes need a network; name one with --network", setting.system.id, setting.nodes));
  const std::vector<VertexId> gpus = setting.system.topology.gpus();
  StageRoutes result{std::vector<CopyRoute>(count * count), static_cast<std::int32_t>(count), static_cast<std::int32_t>(local)};
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      CopyRoute& route = result.routes[from * count + to];
      const std::size_t node = from / local, other = to / local;
      if (node == other) {
        route = (*inside)[from % local * local + to % local];
        if (setting.nodes > 1)
          for (auto& hop : route.hops) hop.link += fmt::format(" of node {}", node);
        continue;
      }
      const BytesPerSecond port = node_bandwidth(setting.system, *setting.network);
      route.most = setting.network->achieved;
      for (const int device : {setting.devices[from % local], setting.devices[to % local]})
        if (const auto slot = host_slot(setting.system.topology, gpus[static_cast<std::size_t>(device)]))
          route.most = std::min(route.most, *slot);
      route.way = CopyRoute::Way::through_host;
      route.latency = setting.network->latency;
      route.hops = {{fmt::format("network from node {}", node), port}, {fmt::format("network to node {}", other), port}};
    }
  }
  return result;
}

}  // namespace

Result<PlannedExchange> plan_pipeline(const ExchangeSetting& setting) {
  constexpr int kMostStages = 256;
  if (setting.ranks() > kMostStages)
    return fail(fmt::format("exchange pipeline: {} stages; at most {} are modelled", setting.ranks(), kMostStages));
  if (setting.ranks() == 1) return plan_bucketed_all_reduce(setting);
  auto routes = stage_routes(setting);
  if (!routes) return tl::make_unexpected(routes.error());
  std::string text =
      setting.micro_batches == 1
          ? fmt::format("{} stages one after the other, feature maps copied between them", routes->stages)
          : fmt::format("{} stages, {} micro-batches, feature maps copied between them", routes->stages, setting.micro_batches);
  return PlannedExchange{std::make_unique<PipelineStages>(std::move(*routes), setting.batch, setting.activation), "paper",
                         std::move(text)};
}

}  // namespace tbdsim
