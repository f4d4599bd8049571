#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "model/workload/op.hpp"
#include "model/workload/operators/passes.hpp"

namespace tbdsim {

struct Op;
struct OpGraph;
struct ParameterRequest;
struct ParameterSpec;
struct SavedByOp;
struct SavingContext;

/// What the operator's work is made of: which cost model serves it.
enum class OpFamily { none, convolution, gemm, recurrent, memory_bound, attention, experts };

/// In which width PyTorch's autocast runs an operator.
/// Source: pytorch/pytorch v1.13 aten/src/ATen/autocast_mode.cpp, lists of operators.
enum class AutocastRule {
  narrow,  ///< 16 bits: products
  wide,    ///< fp32: normalisations over rows, softmax, losses
  joined,  ///< fp32, since parameters, which are fp32, join what is read: embeddings, learned biases
  widest,  ///< that of the widest input; additions and the like promote as they read, without copies
};

/// How an operator is divided over the GPUs of a tensor-parallel group. "Whole" operators compute the same on each GPU and
/// read whole tensors, gathered where they were divided.
/// Source: Megatron-LM, arXiv:1909.08053; sequence parallelism: arXiv:2205.05198.
enum class Placement {
  replicated,  ///< whole: positions or channels need each other
  sequence,    ///< whole, but position by position: sequence parallelism divides its rows
  product,     ///< a whole input: weights divided by columns, output divided; a divided one: by rows, output whole (a sum)
  follows,     ///< element by element or within a head: output divided as the input is
  heads,       ///< attention: whole heads go to a GPU
  sum,         ///< divided where all its inputs are, in the same dimension; else whole, as `sequence`
  permuted,    ///< divided as the input is, in the dimension's new place
  vocabulary,  ///< the table is divided by words; the output is whole (a sum)
  routed,      ///< rows go to the GPUs of their experts or come back from there
  experts,     ///< whole experts go to a GPU; each one's weights may be divided as `product`
};

/// How kernels load and store 16-bit elements.
enum class ElementAccess {
  single,         ///< one at a time: kernels that broadcast, reorder or reduce
  vectors,        ///< several at once where the stack's elementwise and row kernels do
  channels_last,  ///< several at once where channels lie last
};

/// Whether an output is its input's memory under another shape.
enum class ViewRule { never, always, pytorch };

/// What the gradients of the inputs are made of.
enum class GradientRule {
  made,    ///< arrays of their own
  passed,  ///< the array of the output's gradient
  parts,   ///< views of that array; copies in TensorFlow
  none,    ///< the operator has no backward
};

/// Upper bound of operators that take any number of inputs; DenseNet's widest concatenation has 49.
inline constexpr int kManyInputs = 1 << 16;

/// All that is known of one kind of operator, whatever uses it. To add an operator: a member of `OpKind`, a row in one of the
/// files of this folder, and a cost model if none of the families serves it. The rules may be null where the comment says what
/// then holds.
struct OperatorRow {  // NOLINT(clang-analyzer-optin.performance.Padding): in the order in which one reads it, one for each kind
  OpKind kind = OpKind::input;
  std::string_view name{};           ///< as in network files: "batch_norm"
  std::string_view takes{}, keys{};  ///< for the page of file formats: inputs; keys of a network file, in back quotes
  OpFamily family = OpFamily::memory_bound;
  int min_inputs = 1, max_inputs = 1;
  bool in_files = true;        ///< a network file may have it
  bool may_overwrite = false;  ///< a network file may say that it writes over its first input

  // Attributes, shape and arrays
  OpAttributes (*attributes)() = nullptr;  ///< the defaults; null: none
  /// Output for one sample, or why these inputs are refused; null: that of the first input.
  tl::expected<Shape, std::string> (*shape)(const OpAttributes&, const std::vector<const Shape*>&) = nullptr;
  std::vector<ParameterSpec> (*parameters)(const ParameterRequest&) = nullptr;  ///< null: trains nothing

  // Work
  std::int64_t (*macs)(const OpGraph&, const Op&) = nullptr;           ///< multiply-adds forward; null: none
  std::int64_t (*backward_macs)(const OpGraph&, const Op&) = nullptr;  ///< of an undivided backward; null: none
  bool splits_backward = false;         ///< gradients of input and weights are two computations, each of `macs`
  bool multiplies_activations = false;  ///< products of two tensors, as attention has
  Passes passes{};                      ///< memory-bound ones
  Passes (*framework_passes)(const Op&, const PassFacts&) = nullptr;  ///< where they depend on the framework; null: `passes`
  ElementAccess access = ElementAccess::single;
  bool normalizes = false;  ///< by statistics of what it reads
  bool reduces = false;     ///< its threads meet to reduce, beside those of `passes.rows`

  // Memory
  SavedByOp (*saved)(const SavingContext&) = nullptr;  ///< kept for backward; null: nothing
  ViewRule view = ViewRule::never;
  GradientRule gradient = GradientRule::made;
  int gradient_inputs = kManyInputs;  ///< so many of the first inputs get gradients; others are only looked at
  /// Computed again under MXNET_BACKWARD_DO_MIRROR: all but convolutions, products, batch norms, concatenations, dropout and
  /// softmax losses. Source: apache/mxnet 1.1.0 src/executor/graph_executor.cc, InitFullGraph.
  bool mirrored = true;

  AutocastRule autocast = AutocastRule::widest;
  Placement placement = Placement::replicated;
  bool loss = false;                         ///< ends a network
  std::span<const std::string_view> onnx{};  ///< node types that become it (onnx/rules.cpp: how)

  [[nodiscard]] bool has_parameters() const { return parameters != nullptr; }  ///< may own trainable arrays
  [[nodiscard]] bool moves_data() const { return family != OpFamily::none; }   ///< launches a kernel
};

/// Defaults of a kind's attributes, for its row.
template <class Attributes>
OpAttributes defaults() {
  return Attributes{};
}

}  // namespace tbdsim
