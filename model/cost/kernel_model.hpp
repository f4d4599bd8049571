#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/cost/convolution.hpp"
#include "model/cost/gemm.hpp"
#include "model/cost/memory_bound.hpp"
#include "model/cost/recurrent_layer.hpp"
#include "model/cost/transfer.hpp"
#include "model/hardware/device.hpp"
#include "model/hardware/kernel_family.hpp"
#include "model/stack/stack.hpp"
#include "model/support/result.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// Device time of one node of a training step.
struct NodeCost {
  KernelTimeModel kernel;
  std::optional<KernelFamily> family;  ///< absent: no kernel runs
  std::optional<ConvolutionAlgorithm> algorithm;
  SmallerWorkspaces smaller;  ///< of a convolution
  bool tensor_core = false;
  int pieces = 1;             ///< equal parts in which host and device take turns: the steps of an unrolled recurrent layer
  double host_operators = 0;  ///< framework operators dispatched for it (a convolution's two gradients share one)
  Bytes kept_operands{0.0};   ///< of a product in 8 bits that keeps its operands for backward in the place of its input
};

/// Kernel times of one device under one stack at one precision. Immutable; safe to share between threads.
class KernelModel {
 public:
  /// Errors: the precision needs a unit that the device lacks, or a recipe that the stack lacks; the stack's library generation
  /// has no constants at all.
  [[nodiscard]] static Result<KernelModel> make(const Device& device, Precision precision, const Stack& stack,
                                                const KernelConstants& constants);

  /// `widths`: what `widths(graph)` gives, so that it is made once for many nodes.
  [[nodiscard]] NodeCost cost(const OpGraph& graph, const StepNode& node, double batch, std::span<const Bytes> widths) const;
  [[nodiscard]] NodeCost cost(const OpGraph& graph, const StepNode& node, double batch) const {
    return cost(graph, node, batch, widths(graph));
  }
  /// Bytes of an element of each tensor under PyTorch's autocast; empty where all are as wide as the precision says.
  [[nodiscard]] std::vector<Bytes> widths(const OpGraph& graph) const;
  /// Update of all parameter arrays of `elements` total by an optimiser that passes `passes` times over them.
  [[nodiscard]] NodeCost update_cost(double elements) const;
  /// Update, by plain SGD, of the rows that a sparse gradient of `elements` holds.
  [[nodiscard]] NodeCost sparse_update_cost(double elements) const;
  /// Adds the gradient of one array, `bytes` long, to the sum of the micro-batches before: read twice, written once. Nothing
  /// where the stack adds every gradient to what is there, which its nodes have.
  [[nodiscard]] NodeCost accumulation_cost(Bytes bytes) const;
  /// One kernel that only moves `bytes` in device memory, such as a store's sum.
  [[nodiscard]] Seconds memory_kernel(Bytes bytes) const { return memory_bound_time(bytes, 1.0, memory_rates_).time; }
  /// A step whose kernels draw `share` of what products do, on the mean: the power limit lets products keep a higher clock.
  /// Expects 0 < share <= 1.
  void draw(double share);
  /// What a user should know of how the precision is realised.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }
  /// Whether matrix products run on tensor cores, of which few samples exist.
  [[nodiscard]] bool tensor_core() const { return tensor_core_; }
  /// Peak rate that utilisation is measured against.
  [[nodiscard]] FlopPerSecond peak() const { return peak_; }
  [[nodiscard]] bool transferred() const { return convolution_.transferred || gemm_.transferred || memory_.transferred; }
  [[nodiscard]] const ResolvedParameters& parameters_of(KernelFamily family) const;

  /// A batch norm of 16-bit weights under PyTorch, which calls cuDNN's with fp32 weights only.
  [[nodiscard]] bool norms_batches_itself(const Op& op) const;

 private:
  struct Arithmetic;
  /// How products in 8 bits run.
  struct EightBits {
    Fp8RecipeInfo recipe;
    TileConstants constants;
    ResolvedParameters resolved;
    KernelRates rates;
  };
  KernelModel() = default;
  /// Adds what products in 8 bits need. Errors: those of `make` that concern them.
  [[nodiscard]] Result<void> add_8_bits(const Device& device, Precision precision, const KernelConstants& constants);
  /// Which attention kernel runs, and its rates. Expects stack and parameters of products to be set.
  void choose_attention(const Device& device, const Arithmetic& unit, const KernelConstants& constants);
  [[nodiscard]] static Result<Arithmetic> arithmetic(const Device& device, Precision precision);
  [[nodiscard]] static Result<KernelModel> make(const Device& device, Precision precision, const Arithmetic& unit,
                                                const Stack& stack, const KernelConstants& constants);
  /// Adding the bias to the output y of one sample, or summing its gradient.
  [[nodiscard]] KernelTimeModel convolution_bias(const Shape& y, Pass pass, double batch) const;
  [[nodiscard]] NodeCost convolution_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const;
  [[nodiscard]] NodeCost matrix_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const;
  /// What a fused operator adds to another's kernel.
  [[nodiscard]] NodeCost fused_cost(const OpGraph& graph, const Op& op, Pass pass, double batch,
                                    std::span<const Bytes> widths) const;
  [[nodiscard]] NodeCost memory_cost(const OpGraph& graph, const Op& op, Pass pass, double batch,
                                     std::span<const Bytes> widths) const;
  [[nodiscard]] const KernelRates& rates_of(RowKernel rows) const;

  [[nodiscard]] NodeCost grouped_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const;
  [[nodiscard]] NodeCost attention_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const;
  [[nodiscard]] NodeCost recurrent_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const;
  [[nodiscard]] NodeCost product_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const;
  /// One kernel over so many numbers.
  [[nodiscard]] KernelTimeModel streamed(double elements, bool vectorized) const {
    return streamed(elements, vectorized, element_);
  }
  [[nodiscard]] KernelTimeModel streamed(double elements, bool vectorized, Bytes element) const;
  void keep_gradients(const OpGraph& graph, const Op& op, NodeCost& cost) const;
  /// What autograd adds where later operators use arrays of earlier ones.
  void sum_shared_gradients(const OpGraph& graph, const Op& op, NodeCost& cost) const;
  /// Appends the kernels that cast and turn operands of a product in 8 bits.
  void cast_operands(const OpGraph& graph, const Op& op, Pass pass, double batch, NodeCost& cost) const;
  void cast_arrays(const OpGraph& graph, const Op& op, Pass pass, NodeCost& cost) const;
  void multiply_pairs(const OpGraph& graph, const StepNode& node, double batch, KernelTimeModel& kernel) const;
  void cast_tensors(const OpGraph& graph, const Op& op, Pass pass, double batch, std::span<const Bytes> widths,
                    NodeCost& cost) const;
  /// Appends `numbers` cast in so many kernels, dispatched beside the operator.
  void append_casts(double numbers, int kernels, NodeCost& cost) const;

  Stack stack_;
  Architecture chip_;  ///< of the device
  PersistentRule persistent_ = PersistentRule::never;
  std::vector<std::string> notices_;
  /// Tensor cores are only allowed: the library still takes kernels that compute in fp32 on vector lanes, of numbers as wide in
  /// memory, where those are faster or the only ones.
  std::shared_ptr<const KernelModel> without_tensor_cores_;
  std::optional<EightBits> eight_bits_;  ///< of linear layers
  FlopPerSecond peak_;
  Bytes element_{4.0};  ///< of a number that products read
  Bytes weight_{4.0};   ///< of a number that the update reads and writes
  bool casts_ = false;  ///< some operators run in fp32 between casts
  bool tensor_core_ = false;
  ConvolutionConstants convolution_constants_;
  TileConstants gemm_constants_;
  RecurrentConstants recurrent_constants_;
  const AttentionKernelInfo* attention_kernel_ = &info(AttentionKernel::general);
  AttentionConstants attention_constants_;
  ExpertConstants expert_constants_;
  ResolvedParameters convolution_, gemm_, memory_, recurrent_, attention_, softmax_, layer_norm_, experts_;
  KernelRates convolution_rates_, gemm_rates_, memory_rates_, recurrent_rates_, attention_rates_, softmax_rates_,
      layer_norm_rates_, expert_rates_;
};

}  // namespace tbdsim
