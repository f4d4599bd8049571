#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/workload/onnx/extents.hpp"
#include "model/workload/onnx/onnx_model.hpp"

namespace tbdsim::onnx {

/// What a value is made of, in rising order: whatever has a later one among its inputs is that.
enum class Origin : std::uint8_t {
  constant,   ///< the same in every step: shapes, masks, scalars
  parameter,  ///< arrays that are trained, sliced and joined as the exporter likes; costs nothing
  state,      ///< last states of recurrent layers and what is picked of them; made only where something computes with it
  data,
};

/// Position of a value or node. An optional input left out is `kAbsent`.
using ValueIndex = std::int32_t;
using NodeIndex = std::int32_t;
inline constexpr std::int32_t kAbsent = -1;

struct Value {
  std::string_view name;
  Origin origin = Origin::constant;
  int type = kUndefined;
  NodeIndex producer = kAbsent;
  std::vector<NodeIndex> readers;  ///< live nodes, once for each input that it is
  bool is_output = false;
  bool outside = false;  ///< an initial value that lies in another file
  std::optional<Extents> dims;
  std::optional<std::vector<Number>> numbers;  ///< elements, of small constants
  std::vector<std::int32_t> arrays;            ///< parameters that it is made of
};

struct Node {
  const NodeText* text = nullptr;
  std::vector<ValueIndex> inputs, outputs;
  bool live = false;  ///< an output of the network depends on it
};

/// One trainable array of the file.
struct ArrayUse {
  ValueIndex value = kAbsent;
  double claimed = 0.0;  ///< elements that operators have taken as their own
};

/// The file as a graph of values and nodes, checked: every name is made once, nothing depends on itself.
struct ValueGraph {
  std::vector<Value> values;
  std::vector<Node> nodes;       ///< in file order
  std::vector<NodeIndex> order;  ///< live nodes in an order in which they can run, file order where it is free
  std::vector<ValueIndex> inputs, outputs;
  std::vector<ArrayUse> arrays;
  bool used_image = false, used_seq_len = false;  ///< a symbolic dimension took that size
  std::optional<double> fixed_batch;              ///< the file was exported for one batch size, this one

  [[nodiscard]] Value& value(ValueIndex i) { return values[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Value& value(ValueIndex i) const { return values[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Node& node(NodeIndex i) const { return nodes[static_cast<std::size_t>(i)]; }

  /// Parts of a node that may be absent (`kAbsent`), for patterns that follow a chain to its end.
  [[nodiscard]] std::string_view type(NodeIndex i) const { return i == kAbsent ? std::string_view{} : node(i).text->type; }
  [[nodiscard]] ValueIndex input(NodeIndex i, std::size_t at) const {
    return at < node(i).inputs.size() ? node(i).inputs[at] : kAbsent;
  }
  [[nodiscard]] ValueIndex output(NodeIndex i) const { return node(i).outputs.empty() ? kAbsent : node(i).outputs.front(); }
};

/// Extents for symbolic dimensions other than the batch.
struct Bindings {
  std::optional<std::int64_t> image, seq_len;
};

/// Builds the graph, tells data from parameters, and finds the batch: the symbolic first dimension of the inputs, or
/// its only symbolic one; in a file with initial values and without symbols, the first dimension of the other inputs.
/// Floating-point arrays are parameters, unless the metadata `tbdsim.frozen` names them (one a line).
/// Errors: a name made twice or never, a cycle (with its nodes), no batch, a symbolic dimension that nothing binds, a
/// dimension below 1, control flow.
[[nodiscard]] Result<ValueGraph> value_graph(const ModelText& model, const Bindings& bindings, const std::string& file);

/// `node 17 (Conv "/layer1/conv1/Conv")`: how messages name a node.
[[nodiscard]] std::string describe(const ValueGraph& graph, NodeIndex node);

}  // namespace tbdsim::onnx
