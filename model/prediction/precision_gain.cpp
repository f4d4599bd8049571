#include "model/prediction/precision_gain.hpp"

#include <fmt/format.h>

#include "model/configuration/configure.hpp"
#include "model/prediction/predict.hpp"

namespace tbdsim {
namespace {

Seconds time_of(const LayerTime& layer) { return layer.forward + layer.backward_data + layer.backward_weights + layer.update; }

bool has_products(OpFamily family) {
  return family == OpFamily::convolution || family == OpFamily::gemm || family == OpFamily::recurrent ||
         family == OpFamily::attention || family == OpFamily::experts;
}

/// Tensor cores take 16-bit numbers in groups of eight (NVIDIA, Training with mixed precision, DU-08617).
std::string odd_channels(const OpGraph& graph, const Op& op) {
  constexpr std::int64_t kGroup = 8;
  const auto* attributes = std::get_if<ConvolutionAttributes>(&op.attributes);
  if (attributes == nullptr) return "kernels on vector lanes are as fast at this size";
  if (attributes->groups > 1) return "a grouped convolution: too few channels a group";
  const std::int64_t in = graph.input_shape(op).front(), out = graph.output_shape(op).front();
  if (in % kGroup != 0 || out % kGroup != 0) return fmt::format("{} to {} channels: no multiples of {}", in, out, kGroup);
  return "kernels on vector lanes are as fast at this size";
}

/// Why a layer's kernels do not run on 16-bit tensor cores.
std::string obstacle(const Configuration& configuration, const Op& op, bool in_fp32) {
  const OpGraph& graph = configuration.network_graph().graph;
  if (has_products(info(op.kind).family)) {
    if (!in_fp32) return odd_channels(graph, op);
    return fmt::format("{} under {} has no 16-bit kernels for products", configuration.hardware().device.id,
                       configuration.stack.id);
  }
  const bool autocast = !configuration.stack.operators.amp.all_16_bit;
  const bool narrow = op.kind == OpKind::layer_norm && configuration.stack.operators.amp.narrow_norms;
  if (is_loss(op.kind) || (autocast && !narrow && info(op.kind).autocast == AutocastRule::wide))
    return "kept in fp32: sums many terms";
  if (autocast && info(op.kind).autocast == AutocastRule::joined) return "reads fp32 parameters";
  return "no products: at best half the bytes";
}

}  // namespace

Result<PrecisionGain> precision_gain(Session& session, const PredictOptions& options) {
  PredictOptions plain = options, mixed = options;
  plain.detail = mixed.detail = true;
  mixed.set.emplace_back("parallel.precision=amp");
  const auto before = predict(session, plain);
  if (!before) return tl::make_unexpected(before.error());
  if (before->job.precision != name(Precision::fp32) && before->job.precision != name(Precision::tf32))
    return fail(fmt::format("--layers compares fp32 or tf32 with amp; the job is in {} already", before->job.precision));
  const auto after = predict(session, mixed);
  if (!after) return tl::make_unexpected(after.error());
  const auto configuration = configure(session, mixed);
  if (!configuration) return tl::make_unexpected(configuration.error());
  PrecisionGain gain{before->job.precision, after->job.precision, before->step_time, after->step_time, {}};
  const std::vector<Op>& ops = configuration->network_graph().graph.ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const LayerTime& old = before->detail.layers[i];
    if (time_of(old) <= Seconds(0.0)) continue;
    LayerGain layer{old.name, old.kind, time_of(old), time_of(after->detail.layers[i]), after->detail.layers[i].tensor_core, {}};
    layer.tensor_core &= !after->job.products_in_fp32;
    if (!layer.tensor_core) layer.obstacle = obstacle(*configuration, ops[i], after->job.products_in_fp32);
    gain.layers.push_back(std::move(layer));
  }
  return gain;
}

}  // namespace tbdsim
