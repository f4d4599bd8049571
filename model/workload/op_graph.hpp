#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/workload/operators/operator_row.hpp"

namespace tbdsim {

struct OpId {
  std::int32_t value = -1;
  auto operator<=>(const OpId&) const = default;
};
struct TensorId {
  std::int32_t value = -1;
  auto operator<=>(const TensorId&) const = default;
};
struct ParameterId {
  std::int32_t value = -1;
  auto operator<=>(const ParameterId&) const = default;
};

struct Tensor {
  std::string name;
  Shape shape;
  OpId producer;                ///< the input operator for data
  std::vector<OpId> consumers;  ///< in operator order
  bool needs_gradient = false;  ///< true when a trainable parameter lies upstream
};

/// One trainable array (a framework updates and exchanges arrays one by one).
struct Parameter {
  std::string name;
  Shape shape;
  OpId op;
  std::int64_t rows_read = 0;  ///< by a sample, of a sparse gradient, which holds no others; 0: as large as the array
};

struct Op {
  std::string name;
  OpKind kind = OpKind::input;
  OpAttributes attributes;
  std::vector<TensorId> inputs;
  TensorId output;
  std::vector<ParameterId> parameters;
  bool shares_weights = false;  ///< trains arrays that an operator before it owns
  bool inplace = false;         ///< the framework's definition overwrites its input (torchvision's ReLU(inplace=True))
  std::vector<Shape> frozen;    ///< arrays of its own that are never trained
};

/// Elements of an operator's frozen arrays.
[[nodiscard]] double frozen_elements(const Op& op);

/// A network: operators in an order in which they can run, one input of known shape, batch left symbolic.
/// Immutable once built (see graph_builder.hpp).
struct OpGraph {
  std::string name;        ///< catalogue name, "resnet50"
  std::string variant;     ///< "torchvision", "mxnet", "tf", "file"
  std::string input_unit;  ///< "image", "sentence": what one sample is called
  int default_batch = 32;
  std::string part_unit;               ///< what throughput is also told in: "token", "audio second"; empty: nothing else
  double parts_per_sample = 0.0;       ///< of `part_unit`
  double label_elements = 0.0;         ///< numbers of a sample that come with the input beside the tensors: targets, weights
  std::string default_optimizer;       ///< "adam"; empty: the rule for networks of its kind
  bool later_calls_attention = false;  ///< attention is written out; later releases of the code call the framework's
  std::vector<Op> ops;
  std::vector<Tensor> tensors;
  std::vector<Parameter> parameters;

  [[nodiscard]] const Op& op(OpId id) const { return ops[static_cast<std::size_t>(id.value)]; }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors[static_cast<std::size_t>(id.value)]; }
  [[nodiscard]] const Parameter& parameter(ParameterId id) const { return parameters[static_cast<std::size_t>(id.value)]; }
  /// Shape of the first input; every operator but `input` has one.
  [[nodiscard]] const Shape& input_shape(const Op& op) const { return tensor(op.inputs.front()).shape; }
  [[nodiscard]] const Shape& output_shape(const Op& op) const { return tensor(op.output).shape; }
  [[nodiscard]] std::int64_t parameter_elements() const;
};

/// Elements of an array's gradient that `batch` samples make. Of a sparse one: rows read twice are there twice.
[[nodiscard]] double gradient_elements(const Parameter& parameter, double batch);

/// What that gradient takes up: its elements, and the index of each row of a sparse one (PyTorch's int64).
[[nodiscard]] Bytes gradient_bytes(const Parameter& parameter, double batch, Bytes element);

/// Whether an array's gradient is sparse.
[[nodiscard]] bool has_sparse_gradients(const OpGraph& graph);

/// How the rows of a `route` choose experts.
[[nodiscard]] ExpertChoice choice_of(const OpGraph& graph, const Op& route);

}  // namespace tbdsim
