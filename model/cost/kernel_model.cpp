#include "model/cost/kernel_model.hpp"

#include "model/cost/serial_reverse.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "model/cost/attention.hpp"
#include "model/cost/fusion.hpp"
#include "model/cost/library_age.hpp"
#include "model/cost/matrix_product.hpp"
#include "model/cost/recurrent_layer.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kSingle(4.0), kHalf(2.0);

/// The arithmetic that a precision runs on: peak rate, whether by tensor cores, class of fitted parameters.
struct Arithmetic {
  FlopPerSecond peak;
  bool tensor_core = false;
  std::string_view parameter_class = "fp32";
  Bytes element = kSingle;
};

Result<Arithmetic> arithmetic(const Device& device, Precision precision) {
  switch (precision) {
    case Precision::fp32:
      if (device.peak.fp32_tensor) return Arithmetic{*device.peak.fp32_tensor, true, "fp32-tensor", kSingle};
      return Arithmetic{device.peak.fp32, false, "fp32", kSingle};
    case Precision::tf32:
      if (device.peak.tf32_tensor) return Arithmetic{*device.peak.tf32_tensor, true, "tf32", kSingle};
      return fail(fmt::format("precision tf32: {} has no tf32 tensor cores", device.id));
    case Precision::bf16:
      if (device.peak.bf16_tensor) return Arithmetic{*device.peak.bf16_tensor, true, "bf16", kHalf};
      return fail(fmt::format("precision bf16: {} has no bf16 tensor cores", device.id));
    case Precision::fp16:
    case Precision::amp:
      if (device.peak.fp16_tensor) return Arithmetic{*device.peak.fp16_tensor, true, "fp16", kHalf};
      // Without tensor cores frameworks store 16 bits and compute in fp32.
      return Arithmetic{device.peak.fp32, false, "fp32", kHalf};
  }
  return fail("unknown precision");
}

double sum_of_inputs(const OpGraph& graph, const Op& op) {
  double sum = 0.0;
  for (const TensorId input : op.inputs) sum += static_cast<double>(elements(graph.tensor(input).shape));
  return sum;
}

double filter_elements(const OpGraph& graph, const Op& op) {
  return op.parameters.empty() ? 0.0 : static_cast<double>(elements(graph.parameter(op.parameters.front()).shape));
}

double parameter_elements(const OpGraph& graph, const Op& op) {
  double sum = 0.0;
  for (const ParameterId id : op.parameters) sum += static_cast<double>(elements(graph.parameter(id).shape));
  return sum;
}

/// Host time of an operator under eager PyTorch against that of an elementwise one forward. Products and convolutions set up
/// descriptors and look up kernels: their shortest single calls last 52 to 73 us against 24 to 31 us (NeuSight's samples of
/// V100, T4 and A100, kernel and events included); norms lie between. Backward is issued without the interpreter (assumed: 0.6).
double eager_weight(OpKind kind, Pass pass) {
  const OpFamily family = info(kind).family;
  const bool product = family == OpFamily::convolution || family == OpFamily::gemm;
  const bool norm = kind == OpKind::batch_norm || kind == OpKind::layer_norm || kind == OpKind::group_norm;
  return (product ? 2.5 : norm ? 2.0 : 1.0) * (pass == Pass::forward ? 1.0 : 0.6);
}

/// What a convolution's pass reads beside the weights. Tensor-core kernels of the library want it with channels last (and write
/// either order): where it has another order, kernels of their own turn it around first.
double read_elements(const OpGraph& graph, const Op& op, Pass pass) {
  const auto in = static_cast<double>(elements(graph.input_shape(op))),
             out = static_cast<double>(elements(graph.output_shape(op)));
  return (pass == Pass::backward_data ? 0.0 : in) + (pass == Pass::forward ? 0.0 : out);
}

bool has_data_gradient(const OpGraph& graph, const Op& op) { return graph.tensor(op.inputs.front()).needs_gradient; }

void withdraw(ConvolutionLibrary& library, std::initializer_list<ConvolutionAlgorithm> algorithms) {
  for (auto* offered : {&library.forward, &library.backward_data, &library.backward_weights}) {
    for (const ConvolutionAlgorithm algorithm : algorithms) std::erase(*offered, algorithm);
  }
}

}  // namespace

Result<KernelModel> KernelModel::make(const Device& device, Precision precision, const Stack& stack,
                                      const KernelConstants& constants) {
  auto unit = arithmetic(device, precision);
  if (!unit) return tl::make_unexpected(unit.error());
  KernelModel model;
  if (unit->tensor_core && constants.convolution.count(stack.convolution.generation + "-tensor") == 0) {
    // The stack's libraries predate tensor cores: 16-bit storage, fp32 arithmetic.
    *unit = {device.peak.fp32, false, "fp32", unit->element};
    model.notices_.push_back(fmt::format("{} has no kernels for tensor (matrix) cores: products run in fp32", stack.id));
  } else if (!unit->tensor_core && unit->element == kHalf && device.tensor_cores.value_or(0) > 0) {
    model.notices_.push_back(fmt::format("{} has tensor cores but no published rate: products are taken in fp32", device.id));
  }
  model.stack_ = stack;
  model.architecture_ = device.architecture;
  if (stack.persistent_recurrent)
    model.persistent_ = persistent_rule(capability_number(device.compute_capability), device.multiprocessors, stack.cuda);
  model.peak_ = unit->peak;
  model.element_ = unit->element;
  model.tensor_core_ = unit->tensor_core;
  model.weight_ = precision == Precision::fp16 || precision == Precision::bf16 ? kHalf : kSingle;
  model.casts_ = precision == Precision::amp;
  const std::string generation = stack.convolution.generation + (unit->tensor_core ? "-tensor" : "");
  const auto convolution = constants.convolution.find(generation);
  if (convolution == constants.convolution.end())
    return fail(fmt::format("{}: convolution.generation \"{}\" has no constants in {}", stack.file, generation, constants.file));
  const TileConstants* gemm = gemm_constants(constants, unit->tensor_core, stack.convolution.generation, device.architecture);
  if (gemm == nullptr) return fail(fmt::format("{}: gemm constants missing", constants.file));
  model.convolution_constants_ = convolution->second;
  model.gemm_constants_ = *gemm;
  if (device.architecture.substr(0, 6) == "Kepler") {
    // cuDNN's fused Winograd kernels are written for Maxwell and later (assumed; no Kepler samples).
    withdraw(model.stack_.convolution, {ConvolutionAlgorithm::winograd_fused});
  }
  model.convolution_ = resolve_parameters(device, "convolution", unit->parameter_class, constants);
  model.gemm_ = resolve_parameters(device, "gemm", unit->parameter_class, constants);
  // Without samples of any board, fused attention runs like the products that it is made of.
  model.attention_ = resolve_parameters(device, "attention", unit->parameter_class, constants);
  if (model.attention_.assumed) model.attention_ = model.gemm_;
  model.memory_ = resolve_parameters(device, "memory_bound", "fp32", constants);
  model.softmax_ = resolve_parameters(device, "softmax", "fp32", constants);
  model.layer_norm_ = resolve_parameters(device, "layer_norm", "fp32", constants);
  model.recurrent_ = resolve_parameters(device, "recurrent", unit->parameter_class, constants);
  const auto recurrent = constants.recurrent.find(std::string(recurrent_generation(stack.vendor, stack.cuda)) +
                                                  (unit->tensor_core ? "-tensor" : ""));
  if (recurrent != constants.recurrent.end()) model.recurrent_constants_ = recurrent->second;
  const double young = unit->tensor_core ? young_library_share(device.compute_capability, stack.cuda) : 1.0;
  model.convolution_rates_ = kernel_rates(device, young * unit->peak, model.convolution_.parameters);
  model.gemm_rates_ = kernel_rates(device, young * unit->peak, model.gemm_.parameters);
  model.attention_rates_ = kernel_rates(device, unit->peak, model.attention_.parameters);
  model.memory_rates_ = kernel_rates(device, device.peak.fp32, model.memory_.parameters);
  model.softmax_rates_ = kernel_rates(device, device.peak.fp32, model.softmax_.parameters);
  model.layer_norm_rates_ = kernel_rates(device, device.peak.fp32, model.layer_norm_.parameters);
  model.recurrent_rates_ = kernel_rates(device, unit->peak, model.recurrent_.parameters);
  if (const FamilyParameters* const own = device.calibration.find("single_access", "fp16")) {
    for (KernelRates* rates : {&model.memory_rates_, &model.softmax_rates_, &model.layer_norm_rates_})
      rates->issue_share = own->compute_efficiency;
  }
  if (precision == Precision::tf32) {
    auto plain = make(device, Precision::fp32, stack, constants);
    if (!plain) return plain;
    model.without_tensor_cores_ = std::make_shared<const KernelModel>(std::move(*plain));
    // The transforms of Winograd and FFT lose too many bits for tf32's mantissa, so these run in fp32 (assumed).
    withdraw(model.stack_.convolution,
             {ConvolutionAlgorithm::winograd_fused, ConvolutionAlgorithm::winograd_nonfused, ConvolutionAlgorithm::fft});
  }
  return model;
}

const ResolvedParameters& KernelModel::parameters_of(std::string_view family) const {
  return family == "convolution"  ? convolution_
         : family == "gemm"       ? gemm_
         : family == "attention"  ? attention_
         : family == "recurrent"  ? recurrent_
         : family == "softmax"    ? softmax_
         : family == "layer_norm" ? layer_norm_
                                  : memory_;
}

NodeCost KernelModel::cost(const OpGraph& graph, const StepNode& node, double batch) const {
  NodeCost result;
  if (node.pass == Pass::update) {
    result = update_cost(static_cast<double>(elements(graph.parameter(node.parameter).shape)));
    return result;
  }
  const Op& op = graph.op(node.op);
  if (node.pass == Pass::gradient_sum) {
    const auto size = static_cast<double>(elements(graph.output_shape(op))) * batch;
    result.kernel = streamed((node.summands + 1) * size, stack_.vectorizes_16_bit);
    result.family = "memory_bound";
    result.host_operators = 1;
    return result;
  }
  const OpFamily family = info(op.kind).family;
  if (family == OpFamily::attention) return attention_cost(graph, op, node.pass, batch);
  if (family == OpFamily::recurrent) return recurrent_cost(graph, op, node.pass, batch);
  const bool product = family == OpFamily::convolution || family == OpFamily::gemm;
  result = product ? product_cost(graph, op, node.pass, batch) : memory_cost(graph, op, node.pass, batch);
  if (product && without_tensor_cores_) {
    const NodeCost plain = without_tensor_cores_->product_cost(graph, op, node.pass, batch);
    if (plain.kernel.time < result.kernel.time) result = plain;
  }
  const bool split = node.pass == Pass::backward_data || node.pass == Pass::backward_weights;
  result.host_operators = fused_away(graph, op, stack_) ? 0.0 : split && has_data_gradient(graph, op) ? 0.5 : 1.0;
  if (stack_.eager) result.host_operators *= eager_weight(op.kind, node.pass);
  if (node.pass == Pass::backward || node.pass == Pass::backward_weights) keep_gradients(graph, op, result);
  return result;
}

void KernelModel::keep_gradients(const OpGraph& graph, const Op& op, NodeCost& cost) const {
  if (stack_.gradient_kernels == 0 || op.parameters.empty()) return;
  KernelTimeModel kernel =
      memory_bound_time(stack_.gradient_passes * parameter_elements(graph, op) * weight_, 1.0, memory_rates_);
  kernel.kernels = stack_.gradient_kernels * static_cast<int>(op.parameters.size());
  kernel.time += (kernel.kernels - 1) * memory_rates_.launch;
  append(cost.kernel, kernel);
  cost.host_operators += kernel.kernels * (stack_.eager ? eager_weight(OpKind::add, Pass::backward) : 1.0);
}

NodeCost KernelModel::product_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  return info(op.kind).family == OpFamily::convolution ? convolution_cost(graph, op, pass, batch)
                                                       : matrix_cost(graph, op, pass, batch);
}

NodeCost KernelModel::update_cost(double count) const {
  NodeCost result;
  const double passes = stack_.update_passes_sgd_momentum + stack_.update_extra_passes;
  // Mixed precision: a 16-bit copy of the weights is made, 16-bit gradients become fp32 and are unscaled, in place unless
  // one kernel does both (apex O2, whose weights are that copy).
  const Bytes casts(stack_.amp_16_bit ? 4 + 2 + 2 + 4 : 4 + 2 + 2 + 4 + 4 + 4);
  const int cast_kernels = stack_.amp_16_bit ? 2 : 3;
  result.kernel = memory_bound_time(passes * count * weight_ + (casts_ ? count * casts : Bytes(0.0)), 1.0, memory_rates_);
  result.kernel.kernels = stack_.update_kernels_per_array + (casts_ ? cast_kernels : 0);
  // A multi-tensor kernel serves about 30 arrays in one launch (chunk lists of the apex and PyTorch foreach kernels).
  constexpr double kArraysPerLaunch = 30.0;
  const bool multi = stack_.update == UpdateKind::multi_tensor;
  const double launches = multi ? result.kernel.kernels / kArraysPerLaunch : result.kernel.kernels;
  result.kernel.time += (launches - 1.0) * memory_rates_.launch;
  result.kernel.launch = launches * memory_rates_.launch;
  result.family = "memory_bound";
  // A fused update is one call; an eager loop over arrays calls every kernel.
  const double calls = stack_.eager ? launches : casts_ ? 1.0 + cast_kernels : 1.0;
  result.host_operators = multi ? launches : calls;
  if (stack_.update_wait == UpdateWait::each_array) {
    // Reading back is a copy and a comparison more. The host issues an array's kernels while the device runs the first ones.
    // Four turns show that to a quarter of an array's kernels (assumed; more only cost simulation).
    constexpr int kReadBack = 2, kMostPieces = 4;
    result.host_operators += kReadBack;
    result.pieces = std::min(kMostPieces, result.kernel.kernels);
  }
  return result;
}

NodeCost KernelModel::convolution_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  const auto& attributes = std::get<ConvolutionAttributes>(op.attributes);
  // A transposed convolution is the data gradient of the convolution from its output to its input, and the reverse.
  const bool transposed = op.kind == OpKind::transposed_convolution;
  const Shape& x = transposed ? graph.output_shape(op) : graph.input_shape(op);
  const Shape& y = transposed ? graph.input_shape(op) : graph.output_shape(op);
  const Pass direction = !transposed                   ? pass
                         : pass == Pass::forward       ? Pass::backward_data
                         : pass == Pass::backward_data ? Pass::forward
                                                       : pass;
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  const ConvolutionShape shape{batch,
                               d(x[0]),
                               d(x[1]),
                               d(x[2]),
                               d(y[0]),
                               d(attributes.kernel_h),
                               d(attributes.kernel_w),
                               d(y[1]),
                               d(y[2]),
                               d(attributes.stride_h),
                               d(attributes.stride_w),
                               d(attributes.groups)};
  const auto& library = stack_.convolution;
  const auto& offered = direction == Pass::forward         ? library.forward
                        : direction == Pass::backward_data ? library.backward_data
                                                           : library.backward_weights;
  const ConvolutionPass which = direction == Pass::forward         ? ConvolutionPass::forward
                                : direction == Pass::backward_data ? ConvolutionPass::backward_data
                                                                   : ConvolutionPass::backward_weights;
  const ConvolutionTime time =
      fastest_convolution(shape, which, offered, library.workspace_limit, element_, convolution_constants_, convolution_rates_);
  NodeCost result;
  result.kernel = time.kernel;
  result.algorithm = time.algorithm;
  result.family = "convolution";
  result.tensor_core = tensor_core_;
  if (tensor_core_ && !stack_.channels_last)
    append(result.kernel, streamed(2.0 * batch * read_elements(graph, op, pass), stack_.fuses_elementwise));
  if (stack_.turns_filters) {
    // Read along one order and written along another: one side of every element lies apart (assumed: half the bandwidth).
    constexpr double kPasses = 2.0, kScattered = 0.5;
    append(result.kernel, memory_bound_time(kPasses * filter_elements(graph, op) * weight_, kScattered, memory_rates_));
  }
  if (attributes.bias && stack_.separate_bias && pass != Pass::backward_data) {
    const double passes = pass == Pass::forward ? 2.0 : 1.0;
    const auto outputs = static_cast<double>(elements(graph.output_shape(op)));
    append(result.kernel, streamed(passes * batch * outputs, stack_.fuses_elementwise));
  }
  return result;
}

NodeCost KernelModel::matrix_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  NodeCost result;
  result.family = "gemm";
  result.tensor_core = tensor_core_;
  result.kernel.kernels = 0;
  const MatrixProducts products = matrix_products(graph, op, pass, batch);
  for (const GemmShape& shape : products.calls()) append(result.kernel, gemm_time(shape, element_, gemm_constants_, gemm_rates_));
  const auto* attributes = std::get_if<LinearAttributes>(&op.attributes);
  if (attributes != nullptr && attributes->bias && pass != Pass::backward_data) {
    const double passes = pass != Pass::forward ? 1.0 : stack_.fuses_linear_bias ? 0.0 : 2.0;
    const double out = batch * static_cast<double>(elements(graph.output_shape(op)));
    if (passes > 0.0) append(result.kernel, streamed(passes * out, stack_.fuses_elementwise));
  }
  return result;
}

NodeCost KernelModel::attention_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  const auto& attributes = std::get<AttentionAttributes>(op.attributes);
  const Shape& queries = graph.input_shape(op);
  const Shape& keys = graph.tensor(op.inputs[1]).shape;
  const auto heads = static_cast<double>(attributes.heads);
  const AttentionShape shape{batch,
                             heads,
                             static_cast<double>(queries.front()),
                             static_cast<double>(keys.front()),
                             static_cast<double>(queries.back()) / heads,
                             attributes.causal};
  const bool backward = pass != Pass::forward;
  NodeCost result;
  result.family = "attention";
  result.tensor_core = tensor_core_;
  if (stack_.fused_attention) {
    result.kernel = fused_attention_time(shape, backward, element_, attention_rates_);
    result.host_operators = 1;
    return result;
  }
  result.kernel = separate_attention_time(shape, backward,
                                          {gemm_constants_, gemm_rates_, memory_rates_, softmax_rates_, element_,
                                           stack_.vectorizes_16_bit, stack_.softmax_backward_passes});
  result.host_operators = result.kernel.kernels;
  // Scores before softmax; backward: gradients of the weights and of the scores.
  result.kernel.workspace = (backward ? 2.0 : 1.0) * shape.batch * shape.heads * shape.queries * shape.keys * element_;
  return result;
}

NodeCost KernelModel::recurrent_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  const auto& attributes = std::get<RecurrentAttributes>(op.attributes);
  const Shape& x = graph.input_shape(op);
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  const RecurrentLayer layer{op.kind,
                             d(x.back()),
                             d(attributes.hidden),
                             batch,
                             d(x.front()),
                             static_cast<int>(attributes.layers),
                             attributes.bidirectional ? 2 : 1,
                             has_data_gradient(graph, op)};
  const PersistentRule persistent = tensor_core_ && element_ == kHalf ? persistent_ : PersistentRule::never;
  const RecurrentMeans means{stack_.recurrent, persistent,  recurrent_constants_, recurrent_rates_,
                             gemm_constants_,  gemm_rates_, memory_rates_,        element_};
  const RecurrentLayerTime time = recurrent_layer_time(layer, pass != Pass::forward, means);
  NodeCost result;
  result.kernel = time.kernel;
  result.family = "recurrent";
  result.tensor_core = tensor_core_;
  result.host_operators = time.operators;
  // Enough that host and device overlap as they do step by step (assumed; more only cost simulation).
  constexpr double kMostPieces = 16.0;
  if (time.operators > 1.0) result.pieces = static_cast<int>(std::min(kMostPieces, layer.steps));
  return result;
}

NodeCost KernelModel::memory_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  NodeCost result;
  result.family = "none";
  auto passes = memory_passes(op, stack_);
  if (!passes || fused_away(graph, op, stack_)) return result;
  // The kernel of the batch norm reads the other summand; backward it writes that one's gradient, too.
  if (joins_batch_norm(graph, op, stack_)) passes = Passes{0, 1, 0, 1};
  const double in = sum_of_inputs(graph, op) * batch, out = static_cast<double>(elements(graph.output_shape(op))) * batch;
  const double moved = pass == Pass::forward ? passes->forward_inputs * in + passes->forward_output * out
                                             : passes->backward_inputs * in + passes->backward_output * out +
                                                   passes->backward_parameters * parameter_elements(graph, op);
  if (moved == 0.0) return result;
  const KernelRates& rates = rates_of(passes->rows);
  const auto row = static_cast<double>(graph.input_shape(op).back());
  // Sums over many terms run in fp32 under mixed precision, with a cast of what comes in and one of what goes out.
  const bool cast = casts_ && passes->rows != RowKernel::none && (!stack_.amp_16_bit || is_loss(op.kind));
  const Bytes element = cast ? kSingle : element_;
  const Bytes bytes = (moved + reread_passes(passes->rows, row, element, rates) * out) * element;
  result.kernel = moves_single_numbers(op.kind, stack_) ? single_access_time(bytes, element, passes->bandwidth_share, rates)
                                                        : memory_bound_time(bytes, passes->bandwidth_share, rates);
  if (cast) append(result.kernel, memory_bound_time((in + out) * (kSingle + kHalf), 1.0, memory_rates_));
  if (op.kind == OpKind::sequence_reverse && stack_.recurrent == RecurrentKernels::cells) {
    const auto width = static_cast<double>(graph.output_shape(op).back());
    result.kernel.time = std::max(result.kernel.time, memory_rates_.launch + serial_reverse_time(batch, width, architecture_));
  }
  result.family = passes->rows == RowKernel::softmax      ? "softmax"
                  : passes->rows == RowKernel::layer_norm ? "layer_norm"
                                                          : "memory_bound";
  return result;
}

KernelTimeModel KernelModel::streamed(double elements, bool vectorized) const {
  const Bytes bytes = elements * element_;
  return vectorized ? memory_bound_time(bytes, 1.0, memory_rates_) : single_access_time(bytes, element_, 1.0, memory_rates_);
}

const KernelRates& KernelModel::rates_of(RowKernel rows) const {
  return rows == RowKernel::softmax ? softmax_rates_ : rows == RowKernel::layer_norm ? layer_norm_rates_ : memory_rates_;
}

}  // namespace tbdsim
