// Long because every operator kind finds its kernel here.
#include "model/cost/kernel_model.hpp"

#include "model/cost/serial_reverse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/cost/attention.hpp"
#include "model/cost/autocast.hpp"
#include "model/cost/eight_bit_products.hpp"
#include "model/cost/fused_attention.hpp"
#include "model/cost/fusion.hpp"
#include "model/cost/issue.hpp"
#include "model/cost/layer_norm.hpp"
#include "model/cost/library_bias.hpp"
#include "model/cost/matrix_product.hpp"
#include "model/cost/mixed_precision.hpp"
#include "model/cost/own_batch_norm.hpp"
#include "model/cost/recurrent_layer.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kSingle(4.0), kHalf(2.0);

// Of a stack's `gradient_passes` and `gradient_kernels` those that write zeros.
constexpr double kZeroPasses = 1.0;
constexpr int kZeroKernels = 1;

double sum_of_inputs(const OpGraph& graph, const Op& op) {
  double sum = 0.0;
  for (const TensorId input : op.inputs) sum += static_cast<double>(elements(graph.tensor(input).shape));
  return sum;
}

AutocastHabits habits(const Stack& stack) { return {stack.operators.amp.copies_promoted, stack.operators.amp.narrow_norms}; }

/// Bytes of an operator's inputs as its kernel meets them: as wide as they are, or as a cast makes them.
Bytes bytes_of_inputs(const OpGraph& graph, const Op& op, std::span<const Bytes> widths, const Stack& stack) {
  const AutocastRule rule = autocast_rule(graph, op, habits(stack));
  const bool widens = rule == AutocastRule::wide && op.kind != OpKind::softmax && op.kind != OpKind::softmax_loss;
  Bytes sum(0.0);
  for (const TensorId input : op.inputs)
    sum += static_cast<double>(elements(graph.tensor(input).shape)) * (widens ? kSingle
                                                                       : rule == AutocastRule::narrow
                                                                           ? kHalf
                                                                           : widths[static_cast<std::size_t>(input.value)]);
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

/// What a convolution's pass reads beside the weights. Tensor-core kernels of the library want it with channels last (and write
/// either order): where it has another order, kernels of their own turn it around first.
double read_elements(const OpGraph& graph, const Op& op, Pass pass) {
  const auto in = static_cast<double>(elements(graph.input_shape(op))),
             out = static_cast<double>(elements(graph.output_shape(op)));
  return (pass == Pass::backward_data ? 0.0 : in) + (pass == Pass::forward ? 0.0 : out);
}

/// A part of another tensor's channels does not lie in one piece: eager frameworks copy it for the library, forward and again for
/// the gradient of the weights (aten/src/ATen/native/Convolution.cpp: `input.contiguous`).
bool copies_part(const OpGraph& graph, const Op& op, Pass pass, const Stack& stack) {
  const Op& producer = graph.op(graph.tensor(op.inputs.front()).producer);
  return stack.host.eager && pass != Pass::backward_data && producer.kind == OpKind::slice &&
         !stack.operators.loads.compiles_kernels;
}

/// The finest step, in elements, of the rows that a product in 16 bits reads and writes, up to the eight that one load of 16 B
/// holds. Every operand and result of all three passes lies with features side by side: inputs and gradients of the weights have
/// rows as long as the layer has inputs, results and their gradients as it has outputs. The batch lengthens no row.
int row_step(const OpGraph& graph, const Op& op) {
  constexpr std::int64_t kLoad = 8;
  return static_cast<int>(std::gcd(std::gcd(kLoad, graph.input_shape(op).back()), graph.output_shape(op).back()));
}

/// cuBLAS before CUDA 11 has tensor-core kernels only where all three dimensions of a product are whole loads of 16 B (paper:
/// NVIDIA, Matrix Multiplication Background User's Guide): scores of a vocabulary of odd size run on vector lanes, and gradients
/// of weights, whose third dimension is the rows of the batch, at an odd batch.
bool lacks_tensor_kernel(const OpGraph& graph, const Op& op, Pass pass, double batch, const Stack& stack) {
  constexpr int kAnyRowsFrom = 110;
  constexpr std::int64_t kWholeLoad = 8;
  const int cuda = capability_number(stack.cuda);
  if (cuda == 0 || cuda >= kAnyRowsFrom || (op.kind != OpKind::linear && op.kind != OpKind::matmul)) return false;
  const Shape& in = graph.input_shape(op);
  const double rows = batch * static_cast<double>(elements(in)) / static_cast<double>(in.back());
  const bool whole_rows = pass != Pass::backward_weights || static_cast<std::int64_t>(rows) % kWholeLoad == 0;
  return row_step(graph, op) < kWholeLoad || !whole_rows;
}

/// cuDNN 7 has no tensor-core kernels for some convolutions: those of groups, whose kernels are direct ones
/// (wgrad2d_grouped_direct_kernel and conv2d_grouped_direct_kernel in the profile of pytorch/pytorch issue 34977), dilated ones
/// (chainer/chainer pull request 4064), and before 7.3, which pads them, those of channels that fill no load of 16 B (cuDNN 7.3.0
/// release notes).
bool lacks_tensor_kernel(const OpGraph& graph, const Op& op, const ConvolutionLibrary& library) {
  const auto* convolution = std::get_if<ConvolutionAttributes>(&op.attributes);
  if (convolution == nullptr || library.generation != "cudnn7") return false;
  if (convolution->groups > 1 || convolution->dilation > 1) return true;
  constexpr std::int64_t kWholeLoad = 8;
  constexpr int kPadsFrom = 73;
  const bool whole = graph.input_shape(op).front() % kWholeLoad == 0 && graph.output_shape(op).front() % kWholeLoad == 0;
  return !whole && capability_number(library.name.substr(library.name.find('-') + 1)) < kPadsFrom;
}

bool has_data_gradient(const OpGraph& graph, const Op& op) { return graph.tensor(op.inputs.front()).needs_gradient; }

}  // namespace

const ResolvedParameters& KernelModel::parameters_of(KernelFamily family) const {
  switch (family) {
    case KernelFamily::convolution:
      return convolution_;
    case KernelFamily::gemm:
      return eight_bits_ ? eight_bits_->resolved : gemm_;
    case KernelFamily::recurrent:
      return recurrent_;
    case KernelFamily::attention:
      return attention_;
    case KernelFamily::softmax:
      return softmax_;
    case KernelFamily::layer_norm:
      return layer_norm_;
    case KernelFamily::memory_bound:
    case KernelFamily::single_access:
    case KernelFamily::rms_norm:
    case KernelFamily::rope:
    case KernelFamily::gated_activation:
      break;
    case KernelFamily::experts:
      return experts_;
  }
  return memory_;
}

void KernelModel::draw(double share) {
  constexpr double kClockPerPower = 0.55;  // power ~ f^(1/0.55): kept_clock.hpp
  gemm_rates_.sustained *= std::pow(1.0 / share, kClockPerPower);
  if (!without_tensor_cores_) return;
  auto plain = std::make_shared<KernelModel>(*without_tensor_cores_);
  plain->draw(share);
  without_tensor_cores_ = std::move(plain);
}

std::vector<Bytes> KernelModel::widths(const OpGraph& graph) const {
  return casts_ && stack_.host.eager && !stack_.operators.amp.all_16_bit ? autocast_widths(graph, element_, habits(stack_))
                                                                         : std::vector<Bytes>{};
}

NodeCost KernelModel::cost(const OpGraph& graph, const StepNode& node, double batch, std::span<const Bytes> widths) const {
  NodeCost result;
  if (node.pass == Pass::update) {
    const Parameter& parameter = graph.parameter(node.parameter);
    const double count = gradient_elements(parameter, batch);
    return parameter.rows_read > 0 ? sparse_update_cost(count) : update_cost(count);
  }
  const Op& op = graph.op(node.op);
  if (node.pass == Pass::gradient_sum) {
    const auto size = static_cast<double>(elements(graph.output_shape(op))) * batch;
    const Bytes element = widths.empty() ? element_ : widths[static_cast<std::size_t>(op.output.value)];
    result.kernel = streamed((node.summands + 1) * size, stack_.operators.loads.vectorizes_16_bit, element);
    result.family = KernelFamily::memory_bound;
    result.host_operators = issued_sum(stack_.host);
    return result;
  }
  const OpFamily family = info(op.kind).family;
  if (family == OpFamily::attention) {
    result = attention_cost(graph, op, node.pass, batch);
    cast_tensors(graph, op, node.pass, batch, widths, result);
    return result;
  }
  const bool recurrent = family == OpFamily::recurrent;
  const bool product = recurrent || family == OpFamily::convolution || family == OpFamily::gemm || family == OpFamily::experts;
  const bool fused = !product && fused_away(graph, op, node.pass, stack_);
  result = product ? product_cost(graph, op, node.pass, batch)
           : fused ? fused_cost(graph, op, node.pass, batch, widths)
                   : memory_cost(graph, op, node.pass, batch, widths);
  if (op.kind == OpKind::pair_products) multiply_pairs(graph, node, batch, result.kernel);
  if (product && without_tensor_cores_) {
    const NodeCost plain = without_tensor_cores_->product_cost(graph, op, node.pass, batch);
    const bool lanes = element_ == kHalf && (lacks_tensor_kernel(graph, op, node.pass, batch, stack_) ||
                                             lacks_tensor_kernel(graph, op, stack_.convolution));
    if (lanes || plain.kernel.time < result.kernel.time) result = plain;
  }
  if (!recurrent && !fused)
    result.host_operators += issued_operators(graph, op, node.pass, result.kernel.time > Seconds(0.0), stack_);
  if (norms_batches_itself(op)) result.host_operators -= issued_own_norm(node.pass, stack_.host);
  if (eight_bits_ && runs_in_8_bits(graph, op, batch)) cast_operands(graph, op, node.pass, batch, result);
  if (casts_ && (product || op.kind == OpKind::layer_norm)) cast_arrays(graph, op, node.pass, result);
  cast_tensors(graph, op, node.pass, batch, widths, result);
  if (node.pass == Pass::backward || node.pass == Pass::backward_weights) {
    keep_gradients(graph, op, result);
    sum_shared_gradients(graph, op, result);
  }
  return result;
}

bool KernelModel::norms_batches_itself(const Op& op) const {
  return op.kind == OpKind::batch_norm && weight_ == kHalf && stack_.framework == Framework::pytorch && stack_.host.eager &&
         !stack_.operators.loads.compiles_kernels && !stack_.operators.order.channels_last;
}

void KernelModel::cast_arrays(const OpGraph& graph, const Op& op, Pass pass, NodeCost& cost) const {
  const Casts casts = array_casts(graph, op, pass, stack_);
  append_casts(casts.numbers, casts.kernels, cost);
}

void KernelModel::cast_tensors(const OpGraph& graph, const Op& op, Pass pass, double batch, std::span<const Bytes> widths,
                               NodeCost& cost) const {
  if (widths.empty() || fused_away(graph, op, pass, stack_)) return;
  const TensorCasts casts = tensor_casts(graph, op, pass, widths, habits(stack_));
  append_casts(batch * casts.numbers, casts.kernels, cost);
  if (casts.kernels > 0 && !cost.family) cost.family = KernelFamily::memory_bound;
}

void KernelModel::cast_operands(const OpGraph& graph, const Op& op, Pass pass, double batch, NodeCost& cost) const {
  const bool compiled = stack_.operators.fp8.compiles_casts;
  const OperandCasts casts = operand_casts(graph, op, pass, batch, eight_bits_->recipe, compiled, chip_);
  cost.kernel.workspace += casts.scratch;
  if (pass == Pass::forward) cost.kept_operands = kept_operands(graph, op, batch, eight_bits_->recipe);
  if (casts.kernels == 0) return;
  append(cost.kernel, cast_time(casts, memory_rates_));
  if (!stack_.operators.loads.compiles_kernels) cost.host_operators += casts.kernels * issued_cast(stack_.host);
}

void KernelModel::append_casts(double numbers, int kernels, NodeCost& cost) const {
  if (kernels == 0) return;
  // Two elements moved for each, three bytes of width on the average.
  const Bytes moved = numbers * Casts::kMoved, width = Casts::kMoved / 2.0;
  const bool single = stack_.operators.loads.casts_singly && !stack_.operators.loads.compiles_kernels;
  KernelTimeModel kernel =
      single ? single_access_time(moved, width, 1.0, memory_rates_) : memory_bound_time(moved, 1.0, memory_rates_);
  kernel.kernels = kernels;
  kernel.time += (kernels - 1) * memory_rates_.launch;
  kernel.launch = kernels * memory_rates_.launch;
  append(cost.kernel, kernel);
  // A compiler casts inside the programs that the host starts.
  if (!stack_.operators.loads.compiles_kernels) cost.host_operators += kernels * issued_cast(stack_.host);
}

void KernelModel::keep_gradients(const OpGraph& graph, const Op& op, NodeCost& cost) const {
  if (stack_.update.gradient_kernels == 0 || op.parameters.empty()) return;
  if (graph.parameter(op.parameters.front()).rows_read > 0) return;  // a sparse one replaces what an emptied one was
  KernelTimeModel kernel = memory_bound_time(
      (stack_.update.gradient_passes - kZeroPasses) * parameter_elements(graph, op) * weight_, 1.0, memory_rates_);
  kernel.kernels = (stack_.update.gradient_kernels - kZeroKernels) * static_cast<int>(op.parameters.size());
  if (kernel.kernels == 0) return;
  kernel.time += (kernel.kernels - 1) * memory_rates_.launch;
  kernel.launch = kernel.kernels * memory_rates_.launch;
  append(cost.kernel, kernel);
  cost.host_operators += kernel.kernels * issued_sum(stack_.host);
}

void KernelModel::sum_shared_gradients(const OpGraph& graph, const Op& op, NodeCost& cost) const {
  if (!op.shares_weights || !stack_.host.eager) return;
  // Autograd adds each use's gradient to the sum of those before it, in place: of weights in the width that products read.
  constexpr double kPasses = 3.0;
  double count = 0.0;
  int arrays = 0;
  for (const ParameterSpec& spec : tbdsim::parameters_of(op.kind, op.attributes, graph.input_shape(op), true)) {
    count += static_cast<double>(elements(spec.shape));
    ++arrays;
  }
  if (arrays == 0) return;
  KernelTimeModel kernel = memory_bound_time(kPasses * count * (casts_ ? kHalf : weight_), 1.0, memory_rates_);
  kernel.kernels = arrays;
  kernel.time += (arrays - 1) * memory_rates_.launch;
  kernel.launch = arrays * memory_rates_.launch;
  append(cost.kernel, kernel);
  cost.host_operators += arrays * issued_sum(stack_.host);
}

NodeCost KernelModel::accumulation_cost(Bytes bytes) const {
  NodeCost result;
  if (stack_.update.gradient_kernels > 0) return result;
  constexpr double kPasses = 3.0;
  result.kernel = memory_bound_time(kPasses * bytes, 1.0, memory_rates_);
  result.host_operators = issued_sum(stack_.host);
  return result;
}

NodeCost KernelModel::product_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  const OpFamily family = info(op.kind).family;
  return family == OpFamily::convolution ? convolution_cost(graph, op, pass, batch)
         : family == OpFamily::recurrent ? recurrent_cost(graph, op, pass, batch)
         : family == OpFamily::experts   ? grouped_cost(graph, op, pass, batch)
                                         : matrix_cost(graph, op, pass, batch);
}

NodeCost KernelModel::update_cost(double count) const {
  NodeCost result;
  // A multi-tensor kernel serves about 30 arrays in one launch (chunk lists of the apex and PyTorch foreach kernels).
  constexpr double kArraysPerLaunch = 30.0;
  const bool multi = stack_.update.kind == UpdateKind::multi_tensor, updates = stack_.update.kernels_per_array > 0;
  // Gradients that stay are set to zero once a step, whatever the micro-batches.
  const int zeroes = stack_.update.gradient_kernels > 0 ? kZeroKernels : 0;
  if (!updates && zeroes == 0) return result;
  const double passes = stack_.update.passes_sgd_momentum + stack_.update.extra_passes + (zeroes > 0 ? kZeroPasses : 0.0);
  // Mixed precision unscales fp32 gradients in place. Of 16-bit weights gradients are widened and unscaled at once, and a copy of
  // the new weights is made: PyTorch over lists of arrays (apex, GradScaler since 1.6), MXNet's multi-precision updates in the
  // kernel itself, which moves as many bytes as in fp32.
  const bool lists = multi || stack_.host.eager, inside = stack_.operators.amp.all_16_bit && !lists;
  const int cast_kernels = !updates || !casts_ || inside ? 0 : stack_.operators.amp.all_16_bit ? 2 : 1;
  const Bytes casts(cast_kernels == 0 ? 0 : stack_.operators.amp.all_16_bit ? 2 + 4 + 4 + 2 : 4 + 4);
  result.kernel = memory_bound_time(count * (passes * weight_ + casts), 1.0, memory_rates_);
  result.kernel.kernels = stack_.update.kernels_per_array + cast_kernels + zeroes;
  const double cast_launches = lists ? cast_kernels / kArraysPerLaunch : cast_kernels;
  const double own = multi ? stack_.update.kernels_per_array / kArraysPerLaunch : stack_.update.kernels_per_array;
  const double launches = own + cast_launches + zeroes;
  result.kernel.time += (launches - 1.0) * memory_rates_.launch;
  result.kernel.launch = launches * memory_rates_.launch;
  result.family = KernelFamily::memory_bound;
  // A fused update is one call; an eager loop over arrays calls every kernel.
  result.host_operators = multi || stack_.host.eager ? launches : 1.0 + cast_launches + zeroes;
  if (multi && updates) result.host_operators += listed_array(stack_.host);
  if (stack_.update.wait == UpdateWait::each_array) {
    // Reading back is a copy and a comparison more. The host issues an array's kernels while the device runs the first ones.
    // Four turns show that to a quarter of an array's kernels (assumed; more only cost simulation).
    constexpr int kReadBack = 2, kMostPieces = 4;
    result.host_operators += kReadBack;
    result.pieces = std::min(kMostPieces, result.kernel.kernels);
  }
  return result;
}

NodeCost KernelModel::sparse_update_cost(double count) const {
  NodeCost result;
  if (stack_.update.kernels_per_array == 0) return result;
  // The rows of the gradient are added to those of the table, by index: read, and the table's read and written. Mixed precision
  // unscales the gradient in place before. Views of values and indices, their flattening and its multiplication are the host's
  // (aten/src/ATen/native/sparse/cuda/SparseCUDATensorMath.cu, add_out_dense_sparse_cuda; torch/cuda/amp/grad_scaler.py).
  constexpr double kAddPasses = 3.0, kUnscalePasses = 2.0, kViews = 4.0;
  const int kernels = casts_ ? 2 : 1;
  result.kernel = memory_bound_time(count * ((kAddPasses + (casts_ ? kUnscalePasses : 0.0)) * weight_), 1.0, memory_rates_);
  result.kernel.kernels = kernels;
  result.kernel.time += (kernels - 1) * memory_rates_.launch;
  result.kernel.launch = kernels * memory_rates_.launch;
  result.family = KernelFamily::memory_bound;
  result.host_operators = stack_.host.eager ? kernels + kViews : 1.0;
  return result;
}

KernelTimeModel KernelModel::convolution_bias(const Shape& y, Pass pass, double batch) const {
  const double passes = pass == Pass::forward ? 2.0 : 1.0, outputs = static_cast<double>(elements(y));
  const KernelTimeModel kernel = streamed(passes * batch * outputs, stack_.operators.loads.compiles_kernels);
  if (pass == Pass::forward || !stack_.operators.fusion.library_bias || stack_.operators.order.channels_last) return kernel;
  const auto channels = static_cast<double>(y[0]);
  return library_bias_gradient_time(kernel, batch, channels, outputs / channels, memory_rates_);
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
  result.smaller = time.smaller;
  result.family = KernelFamily::convolution;
  result.tensor_core = tensor_core_;
  const TensorOrder& order = stack_.operators.order;
  if (tensor_core_ && !order.channels_last && !(order.channels_last_in_16_bits && element_ == kHalf))
    append(result.kernel, streamed(2.0 * batch * read_elements(graph, op, pass), stack_.operators.loads.compiles_kernels));
  if (copies_part(graph, op, pass, stack_)) {
    constexpr double kReadAndWritten = 2.0;
    const auto part = static_cast<double>(elements(graph.input_shape(op)));
    append(result.kernel, streamed(kReadAndWritten * batch * part, stack_.operators.loads.vectorizes_16_bit));
    result.host_operators += issued_sum(stack_.host);
  }
  if (stack_.operators.order.turns_filters) {
    // Read along one order and written along another: one side of every element lies apart (assumed: half the bandwidth).
    constexpr double kPasses = 2.0, kScattered = 0.5;
    append(result.kernel, memory_bound_time(kPasses * filter_elements(graph, op) * weight_, kScattered, memory_rates_));
  }
  if (attributes.bias && stack_.operators.fusion.separate_bias && pass != Pass::backward_data)
    append(result.kernel, convolution_bias(graph.output_shape(op), pass, batch));
  return result;
}

NodeCost KernelModel::matrix_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  NodeCost result;
  result.family = KernelFamily::gemm;
  result.tensor_core = tensor_core_;
  result.kernel.kernels = 0;
  const MatrixProducts products = matrix_products(graph, op, pass, batch);
  constexpr Bytes kByte(1.0);
  const bool narrow = eight_bits_ && runs_in_8_bits(graph, op, batch);
  KernelRates rates = gemm_rates_;
  if (tensor_core_ && element_ == kHalf && op.kind == OpKind::linear) {
    // Rows that begin at odd numbers are loaded number by number, which feeds so many FLOP a cycle and multiprocessor (assumed:
    // half of an A100's tensor cores; slower ones see nothing of it), those of even length two by two, and so on.
    constexpr double kFed = 1024.0;
    const FlopPerSecond fed(kFed * row_step(graph, op) * rates.multiprocessors * rates.boost.base());
    rates.flops = std::min(rates.flops, fed);
    rates.sustained = std::min(rates.sustained, fed);
  }
  for (const GemmShape& shape : products.calls())
    append(result.kernel, narrow ? gemm_time(shape, kByte, eight_bits_->constants, eight_bits_->rates)
                                 : gemm_time(shape, element_, gemm_constants_, rates));
  const auto* attributes = std::get_if<LinearAttributes>(&op.attributes);
  if (attributes != nullptr && attributes->bias && pass != Pass::backward_data) {
    const double passes = pass != Pass::forward ? 1.0 : stack_.operators.fusion.linear_bias ? 0.0 : 2.0;
    const double out = batch * static_cast<double>(elements(graph.output_shape(op)));
    if (passes > 0.0) append(result.kernel, streamed(passes * out, stack_.operators.loads.compiles_kernels));
  }
  return result;
}

NodeCost KernelModel::attention_cost(const OpGraph& graph, const Op& op, Pass pass, double batch) const {
  const auto& attributes = std::get<AttentionAttributes>(op.attributes);
  const Shape& queries = graph.input_shape(op);
  const Shape& keys = graph.tensor(op.inputs[1]).shape;
  const auto heads = static_cast<double>(attributes.heads);
  // Queries from both ends of the sequence see half of the keys, all together; none of their blocks lies on a diagonal alone.
  // In a window each of them sees as many keys as in a sequence of its own.
  const bool windowed = attributes.window > 0 && attributes.window < keys.front();
  const bool spread = attributes.causal && attributes.both_ends && !windowed;
  const std::int64_t seen = attributes.both_ends && windowed ? queries.front() : keys.front();
  const AttentionShape shape{batch,
                             heads,
                             static_cast<double>(queries.front()),
                             (spread ? 0.5 : 1.0) * static_cast<double>(seen),
                             static_cast<double>(queries.back()) / heads,
                             attributes.causal && !spread,
                             attributes.kv_heads > 0 ? static_cast<double>(attributes.kv_heads) : heads,
                             static_cast<double>(attributes.value_width),
                             attributes.causal && windowed ? static_cast<double>(attributes.window) : 0.0};
  const bool backward = pass != Pass::forward;
  NodeCost result;
  result.family = KernelFamily::attention;
  result.tensor_core = tensor_core_;
  if (stack_.operators.attention.fused) {
    result.kernel = fused_attention_time(shape, backward, {attention_kernel_, attention_constants_, element_}, attention_rates_);
    result.host_operators = issued_operators(graph, op, pass, true, stack_);
    return result;
  }
  result.kernel = separate_attention_time(shape, backward,
                                          {gemm_constants_, gemm_rates_, memory_rates_, softmax_rates_, element_,
                                           stack_.operators.loads.vectorizes_16_bit, stack_.operators.passes.softmax_backward});
  result.host_operators = issued_attention(result.kernel.kernels, backward, stack_.host);
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
  const RecurrentMeans means{stack_.operators.recurrent.kernels,
                             persistent,
                             recurrent_constants_,
                             recurrent_rates_,
                             gemm_constants_,
                             gemm_rates_,
                             memory_rates_,
                             element_};
  const RecurrentLayerTime time = recurrent_layer_time(layer, pass != Pass::forward, means);
  NodeCost result;
  result.kernel = time.kernel;
  result.family = KernelFamily::recurrent;
  result.tensor_core = tensor_core_;
  result.host_operators = time.operators;
  // Enough that host and device overlap as they do step by step (assumed; more only cost simulation).
  constexpr double kMostPieces = 16.0;
  if (time.operators > 1.0) result.pieces = static_cast<int>(std::min(kMostPieces, layer.steps));
  return result;
}

void KernelModel::multiply_pairs(const OpGraph& graph, const StepNode& node, double batch, KernelTimeModel& kernel) const {
  // Tiles of few rows: the products run beside the moves, at the rate of large ones (assumed), and hide behind the longer.
  kernel.flop = batch * flop_per_sample(graph, node);
  const Seconds multiplying = kernel.flop / gemm_rates_.flops, moving = kernel.time - kernel.launch;
  if (multiplying <= moving) return;
  kernel.time = kernel.launch + multiplying;
  kernel.bound = Bound::compute;
}

NodeCost KernelModel::fused_cost(const OpGraph& graph, const Op& op, Pass pass, double batch,
                                 std::span<const Bytes> widths) const {
  NodeCost result;
  const Bytes element = widths.empty() ? element_ : widths[static_cast<std::size_t>(op.output.value)];
  const Bytes bytes = fused_numbers(graph, op, pass, stack_) * batch * element;
  if (bytes == Bytes(0.0)) return result;
  result.kernel = memory_bound_time(bytes, 1.0, memory_rates_);
  result.kernel.time -= result.kernel.launch;
  result.kernel.launch = Seconds(0.0);
  result.kernel.bound = Bound::memory;
  result.kernel.kernels = 0;
  result.family = KernelFamily::memory_bound;
  return result;
}

NodeCost KernelModel::memory_cost(const OpGraph& graph, const Op& op, Pass pass, double batch,
                                  std::span<const Bytes> widths) const {
  NodeCost result;
  const bool broadcasts = op.inputs.size() == 2 && elements(graph.tensor(op.inputs[1]).shape) < elements(graph.input_shape(op));
  auto passes = memory_passes(op, stack_, element_, broadcasts);
  if (!passes) return result;
  // The kernel of the batch norm reads the other summand; backward it writes that one's gradient, too.
  if (joins_batch_norm(graph, op, stack_)) passes = Passes{0, 1, 0, 1};
  const bool forward = pass == Pass::forward;
  const double in = sum_of_inputs(graph, op) * batch, out = static_cast<double>(elements(graph.output_shape(op))) * batch;
  const double moved = forward ? passes->forward_inputs * in + passes->forward_output * out
                               : passes->backward_inputs * in + passes->backward_output * out +
                                     passes->backward_parameters * parameter_elements(graph, op);
  if (moved == 0.0) return result;
  const KernelRates& rates = rates_of(passes->rows);
  const auto row = static_cast<double>(graph.input_shape(op).back());
  const MixedNumbers numbers = casts_ && widths.empty() ? mixed_numbers(graph, op, stack_) : MixedNumbers{element_};
  Bytes bytes = moved * numbers.element, read = numbers.element;
  if (!widths.empty()) {
    const Bytes inputs = batch * bytes_of_inputs(graph, op, widths, stack_);
    const Bytes result_bytes = out * widths[static_cast<std::size_t>(op.output.value)];
    bytes = forward ? passes->forward_inputs * inputs + passes->forward_output * result_bytes
                    : passes->backward_inputs * inputs + passes->backward_output * result_bytes +
                          passes->backward_parameters * parameter_elements(graph, op) * kSingle;
    read = inputs / in;
  }
  const Bytes element = bytes / moved;
  // Backward there is one reduction in the place of two.
  const double again = (forward ? 1.0 : 0.5) * reread_passes(passes->rows, row, read, rates) * out;
  bytes = bytes + again * read + out * (forward ? passes->forward_mask : passes->backward_mask);
  result.kernel = moves_single_numbers(op.kind, stack_) ? single_access_time(bytes, element, passes->bandwidth_share, rates)
                                                        : memory_bound_time(bytes, passes->bandwidth_share, rates);
  if (norms_batches_itself(op))
    result.kernel = own_batch_norm_time(result.kernel, batch_norm_shape(graph.input_shape(op), batch), forward, rates);
  if (op.kind == OpKind::layer_norm && stack_.operators.loads.norm_columns.loads > 0 && !stack_.operators.loads.compiles_kernels)
    result.kernel = layer_norm_time(result.kernel, {in / row, row, element}, pass, stack_.operators.loads.norm_columns, rates);
  if (const int chain = forward ? passes->forward_kernels : passes->backward_kernels; chain > 1) {
    result.kernel.kernels = chain;
    result.kernel.time += (chain - 1) * rates.launch;
    result.kernel.launch += (chain - 1) * rates.launch;
    result.host_operators += chain - 1;
  }
  // Kernels that reduce rows move their bytes at a share of the bandwidth that is lower by what their threads wait for each
  // other; those of batch norm are taken to wait as those of layer norm do.
  const bool reduces = passes->rows != RowKernel::none || op.kind == OpKind::batch_norm;
  const KernelRates& like = op.kind == OpKind::batch_norm ? layer_norm_rates_ : rates;
  const double waits = reduces ? std::max(0.0, 1.0 - like.bandwidth / memory_rates_.bandwidth) : 0.0;
  result.kernel.issue.barrier = waits * result.kernel.issue.memory;
  result.kernel.issue.memory -= result.kernel.issue.barrier;
  append_casts(batch * numbers.casts.numbers, numbers.casts.kernels, result);
  if (op.kind == OpKind::sequence_reverse && stack_.operators.recurrent.kernels == RecurrentKernels::cells) {
    const auto width = static_cast<double>(graph.output_shape(op).back());
    result.kernel.time = std::max(result.kernel.time, memory_rates_.launch + serial_reverse_time(batch, width, chip_));
    result.kernel.issue.memory = result.kernel.time - memory_rates_.launch;
  }
  result.family = passes->rows == RowKernel::softmax      ? KernelFamily::softmax
                  : passes->rows == RowKernel::layer_norm ? KernelFamily::layer_norm
                                                          : KernelFamily::memory_bound;
  return result;
}

KernelTimeModel KernelModel::streamed(double elements, bool vectorized, Bytes element) const {
  const Bytes bytes = elements * element;
  return vectorized ? memory_bound_time(bytes, 1.0, memory_rates_) : single_access_time(bytes, element, 1.0, memory_rates_);
}

const KernelRates& KernelModel::rates_of(RowKernel rows) const {
  return rows == RowKernel::softmax ? softmax_rates_ : rows == RowKernel::layer_norm ? layer_norm_rates_ : memory_rates_;
}

}  // namespace tbdsim
