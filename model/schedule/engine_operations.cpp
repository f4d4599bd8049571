#include "model/schedule/engine_operations.hpp"

namespace tbdsim {
namespace {

/// The operation that is being filled.
class Filling {
 public:
  explicit Filling(const EngineSettings& engine) : engine_(engine) {}

  /// An operator that takes part in the open operation if there is room.
  EngineShare join() {
    if (held_ > 0 && held_ <= engine_.operators) {
      ++held_;
      return {0.0, false};
    }
    // The one beyond a full operation is alone.
    held_ = held_ == 0 && engine_.operators > 1 ? 1 : 0;
    return {1.0, true};
  }
  EngineShare begin() {
    close();
    return join();
  }
  EngineShare alone(double operations = 1.0) {
    close();
    return {operations, true};
  }
  void close() { held_ = 0; }

 private:
  const EngineSettings& engine_;
  int held_ = 0;
};

/// Of a chain of `operators`: full ones alternate with single operators.
double operations_of(double operators, const EngineSettings& engine) {
  return engine.operators > 1 ? 2.0 * operators / (engine.operators + 2.0) : operators;
}

}  // namespace

std::vector<EngineShare> engine_shares(const OpGraph& graph, std::span<const StepNode> nodes, std::span<const NodeCost> costs,
                                       const EngineSettings& engine) {
  std::vector<EngineShare> shares;
  shares.reserve(nodes.size());
  Filling filling(engine);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const StepNode& node = nodes[i];
    const Op& op = graph.op(node.op);
    const double operators = costs[i].host_operators;
    // Forward and backward are issued one after the other.
    if (i > 0 && nodes[i - 1].pass == Pass::forward && node.pass != Pass::forward) filling.close();
    const bool own_arrays = engine.stops_at_arrays && !op.parameters.empty();
    const bool second_half = i > 0 && node.pass == Pass::backward_data && nodes[i - 1].op == node.op;
    const bool by_itself = own_arrays && node.pass != Pass::forward && node.pass != Pass::gradient_sum;
    if (node.pass != Pass::update && (second_half || operators == 0.0))
      shares.push_back({0.0, engine.operators == 1});
    else if (node.pass != Pass::update && operators > 1.0)
      shares.push_back(filling.alone(operations_of(operators, engine)));
    else if (node.pass == Pass::update || by_itself)
      shares.push_back(filling.alone());
    else if (own_arrays && node.pass == Pass::forward)
      shares.push_back(filling.begin());
    else
      shares.push_back(filling.join());
  }
  return shares;
}

}  // namespace tbdsim
