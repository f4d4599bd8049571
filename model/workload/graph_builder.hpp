#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Builds an OpGraph operator by operator, inferring shapes and creating parameters. Misuse by a network file is
/// reported, not asserted: after the first impossible operator (kernel larger than its padded input, channels not
/// divisible by groups, unequal shapes in an addition) every call returns the last good tensor and `finish` fails.
class GraphBuilder {
 public:
  GraphBuilder(std::string name, std::string variant, std::string input_unit, Shape input_shape, int default_batch);

  [[nodiscard]] TensorId input() const;
  /// Throughput is also told in `unit`s, of which a sample has `per_sample`.
  void counts_in(std::string unit, double per_sample);
  void later_calls_attention();  ///< as `OpGraph::later_calls_attention`
  /// Sets what the network is trained with unless told otherwise; the default is SGD with momentum for images, Adam else.
  void trains_with(std::string optimizer);
  /// Numbers of a sample that come with the input and are no tensor here: labels, targets, their weights.
  void labels(double elements);
  /// Whose arrays the operators that follow use: their own, which are trained; those of operators before them (the same
  /// network on other data, a later step of a cell), trained through both; their own, never trained; or those of operators
  /// before them, not trained through these.
  enum class Weights { own, shared, frozen, borrowed };
  /// As network files name them, in the order of the enumerators.
  static constexpr std::array<std::string_view, 4> kWeights{"own", "shared", "frozen", "borrowed"};
  void set_weights(Weights weights);
  /// One more input of the network, beside `input()`: a target sequence, a batch of indices.
  [[nodiscard]] TensorId another_input(Shape shape, std::string name);
  [[nodiscard]] const Shape& shape(TensorId tensor) const;
  /// Appends an operator and returns its output. An empty name gets `<kind><index>`.
  TensorId add(OpKind kind, std::vector<TensorId> inputs, OpAttributes attributes = {}, std::string name = {},
               bool inplace = false);

  TensorId convolution(TensorId x, ConvolutionAttributes attributes, std::string name = {});
  TensorId linear(TensorId x, std::int64_t out_features, std::string name = {}, bool bias = true);
  TensorId batch_norm(TensorId x, std::string name = {}, BatchNormAttributes attributes = {});
  TensorId relu(TensorId x, std::string name = {}, bool inplace = false);
  TensorId activation(TensorId x, ActivationKind kind, std::string name = {}, bool inplace = false);
  TensorId pool(TensorId x, PoolAttributes attributes, std::string name = {});
  TensorId global_average_pool(TensorId x, std::string name = {});
  TensorId plus(TensorId a, TensorId b, std::string name = {});
  TensorId concat(std::vector<TensorId> parts, std::string name = {});
  TensorId dropout(TensorId x, double probability, std::string name = {});
  TensorId flatten(TensorId x, std::string name = {});
  TensorId reshape(TensorId x, Shape to, std::string name = {});
  TensorId transpose(TensorId x, std::vector<std::int64_t> order, std::string name = {});
  TensorId softmax_loss(TensorId x, std::string name = {});

  /// Problems so far, each starting with the operator's name.
  [[nodiscard]] const std::vector<std::string>& problems() const;
  /// Notes a problem of the definition itself; `finish` then fails with it.
  void problem(std::string text);
  /// The finished graph: consumers and needs_gradient filled in.
  [[nodiscard]] Result<OpGraph> finish() &&;

 private:
  /// How the variant's framework spells the arrays of an operator: "conv0_weight", "layer1.0.conv1.weight".
  struct ParameterNames {
    std::string_view weight, bias, gamma, beta, separator;
    bool keeps_fixed_gamma;
  };
  [[nodiscard]] static ParameterNames parameter_names(std::string_view variant);
  void append(OpKind kind, std::vector<TensorId> inputs, OpAttributes attributes, std::string name, bool inplace, Shape output);
  void append_parameters(OpId id);

  OpGraph graph_;
  ParameterNames names_;
  Weights weights_ = Weights::own;
  std::array<int, kOpKindCount> kind_counts_{};  ///< operators of each kind so far, for automatic names
  std::vector<std::string> problems_;
};

}  // namespace tbdsim
