// Which arithmetic, algorithms and fitted parameters a device has under a stack at a precision.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "model/cost/attention_support.hpp"
#include "model/cost/board_rates.hpp"
#include "model/cost/fused_attention.hpp"
#include "model/cost/kernel_model.hpp"
#include "model/cost/library_age.hpp"

namespace tbdsim {
namespace {

constexpr Bytes kSingle(4.0), kHalf(2.0);

template <class Condition>
void withdraw(ConvolutionLibrary& library, Condition condition) {
  for (auto* offered : {&library.forward, &library.backward_data, &library.backward_weights}) std::erase_if(*offered, condition);
}

/// That a device has no units for a precision, and which it has.
tl::unexpected<Errors> without(const Device& device, Precision precision) {
  std::vector<std::string_view> names;
  for (const Precision other : precisions(device)) names.push_back(name(other));
  return fail(
      fmt::format("precision {0}: {1} has no {0} tensor cores; it has {2}", name(precision), device.id, fmt::join(names, ", ")));
}

}  // namespace

/// The arithmetic that a precision runs on: peak rate, whether by tensor cores, class of fitted parameters.
struct KernelModel::Arithmetic {
  FlopPerSecond peak;
  bool tensor_core = false;
  std::string_view parameter_class = "fp32";
  Bytes element = kSingle;
};

Result<KernelModel::Arithmetic> KernelModel::arithmetic(const Device& device, Precision precision) {
  switch (precision) {
    case Precision::fp32:
      if (device.peak.fp32_tensor) return Arithmetic{*device.peak.fp32_tensor, true, "fp32-tensor", kSingle};
      return Arithmetic{device.peak.fp32, false, "fp32", kSingle};
    case Precision::tf32:
      if (device.peak.tf32_tensor) return Arithmetic{*device.peak.tf32_tensor, true, "tf32", kSingle};
      return without(device, precision);
    case Precision::fp8:
    case Precision::mxfp8: {
      const std::vector<Precision> known = precisions(device);
      if (std::find(known.begin(), known.end(), precision) != known.end())
        return Arithmetic{*device.peak.bf16_tensor, true, "bf16", kHalf};
      return without(device, precision);
    }
    case Precision::bf16:
      if (device.peak.bf16_tensor) return Arithmetic{*device.peak.bf16_tensor, true, "bf16", kHalf};
      return without(device, precision);
    case Precision::fp16:
    case Precision::amp:
      if (device.peak.fp16_tensor) return Arithmetic{*device.peak.fp16_tensor, true, "fp16", kHalf};
      // Without tensor cores frameworks store 16 bits and compute in fp32.
      return Arithmetic{device.peak.fp32, false, "fp32", kHalf};
  }
  return fail("unknown precision");
}

void KernelModel::choose_attention(const Device& device, const Arithmetic& unit, const KernelConstants& constants) {
  const AttentionKernelInfo& wanted = info(attention_kernel_on(device, stack_.operators.attention.kernel));
  const bool runs = unit.tensor_core && unit.element == kHalf;
  // Kernels that nobody measured, and that are like none that somebody did, run like the general one.
  bool measured = false;
  for (const AttentionKernelInfo* row = &wanted; !measured; row = &info(row->like)) {
    measured = constants.attention.count(row->name) != 0;
    if (row->like == row->kernel || row->like == wanted.kernel) break;
  }
  if (runs && measured) {
    attention_kernel_ = &wanted;
    attention_constants_ = attention_constants(wanted.kernel, constants);
    attention_ = resolve_parameters(device, "attention", unit.parameter_class, constants);
    if (attention_.assumed) attention_ = resolve_tiled_products(device, unit.parameter_class, constants);
    if (attention_constants_.borrowed)
      attention_.parameters.compute_sigma = std::hypot(attention_.parameters.compute_sigma, kBorrowedKernelSigma);
    attention_rates_ = kernel_rates(device, unit.peak, attention_.parameters, unit.parameter_class);
    return;
  }
  // No published samples: like the products that it is made of. Samples of the very board count.
  const bool own = device.calibration.find(name(KernelFamily::attention), unit.parameter_class) != nullptr;
  attention_ = own ? resolve_parameters(device, "attention", unit.parameter_class, constants)
                   : resolve_tiled_products(device, unit.parameter_class, constants);
  attention_rates_ = kernel_rates(device, unit.peak, attention_.parameters, unit.parameter_class);
  attention_rates_.share = 1.0;
}

Result<void> KernelModel::add_8_bits(const Device& device, Precision precision, const KernelConstants& constants) {
  const auto stated = stack_.operators.fp8.recipe;
  if (!stated)
    return fail(fmt::format("precision {}: stack {} trains without products in 8 bits (no operators.fp8_recipe in {})",
                            name(precision), stack_.id, stack_.file));
  EightBits eight{info(precision == Precision::mxfp8 ? Fp8Recipe::mxfp8 : *stated), gemm_constants_, {}, {}};
  if (eight.recipe.scales_blocks && !device.chip.scales_blocks)
    return fail(fmt::format("precision {}: the recipe {} of stack {} needs tensor cores that scale blocks, which {} lacks",
                            name(precision), eight.recipe.name, stack_.id, device.id));
  constexpr std::string_view kClass = "fp8";
  if (has_pipelined_products(device, kClass, constants)) {
    const std::string_view library = eight.recipe.library.empty() ? stack_.convolution.generation : eight.recipe.library;
    eight.constants.pipelined = pipelined_constants(constants, kClass, library, device);
  }
  peak_ = *device.peak.fp8_tensor;
  eight.resolved = resolve_parameters(device, "gemm", kClass, constants);
  eight.rates = kernel_rates(device, young_library_share(device.chip, stack_.cuda) * peak_, eight.resolved.parameters, kClass);
  slow_down(eight.rates, device.calibration.own.anchors.products);
  eight_bits_ = std::move(eight);
  return {};
}

Result<KernelModel> KernelModel::make(const Device& device, Precision precision, const Stack& stack,
                                      const KernelConstants& constants) {
  const auto unit = arithmetic(device, precision);
  if (!unit) return tl::make_unexpected(unit.error());
  const Arithmetic vector{device.peak.fp32, false, "fp32", unit->element};
  if (!unit->tensor_core) {
    auto model = make(device, precision, *unit, stack, constants);
    if (model && unit->element == kHalf && device.tensor_cores.value_or(0) > 0)
      model->notices_.push_back(fmt::format("{} has tensor cores but no published rate: products are taken in fp32", device.id));
    return model;
  }
  auto plain = make(device, precision, vector, stack, constants);
  if (constants.convolution.count(stack.convolution.generation + "-tensor") == 0) {
    // The stack's libraries predate tensor cores.
    if (plain)
      plain->notices_.push_back(fmt::format("{} has no kernels for tensor (matrix) cores: products run in fp32", stack.id));
    return plain;
  }
  auto model = make(device, precision, *unit, stack, constants);
  if (model && has_8_bit_products(precision))
    if (const auto added = model->add_8_bits(device, precision, constants); !added) return tl::make_unexpected(added.error());
  if (model && plain) model->without_tensor_cores_ = std::make_shared<const KernelModel>(std::move(*plain));
  return model;
}

// Long because every part of the model is set here, once.
Result<KernelModel> KernelModel::make(const Device& device, Precision precision, const Arithmetic& unit, const Stack& stack,
                                      const KernelConstants& constants) {
  KernelModel model;
  model.stack_ = stack;
  model.chip_ = device.chip;
  if (stack.operators.recurrent.persistent) model.persistent_ = persistent_rule(device.chip, device.multiprocessors, stack.cuda);
  model.peak_ = unit.peak;
  model.element_ = unit.element;
  model.tensor_core_ = unit.tensor_core;
  model.weight_ = is_whole_16_bit(precision) && !stack.memory.flattens_gradients ? kHalf : kSingle;
  model.casts_ = precision == Precision::amp;
  const std::string generation = stack.convolution.generation + (unit.tensor_core ? "-tensor" : "");
  const auto convolution = constants.convolution.find(generation);
  if (convolution == constants.convolution.end())
    return fail(fmt::format("{}: convolution.generation \"{}\" has no constants in {}", stack.file, generation, constants.file));
  const TileConstants* gemm = gemm_constants(constants, unit.tensor_core, stack.convolution.generation, device.chip);
  if (gemm == nullptr) return fail(fmt::format("{}: gemm constants missing", constants.file));
  model.convolution_constants_ = convolution->second;
  model.gemm_constants_ = *gemm;
  if (unit.tensor_core && has_pipelined_products(device, unit.parameter_class, constants))
    model.gemm_constants_.pipelined = model.convolution_constants_.pipelined =
        pipelined_constants(constants, unit.parameter_class, stack.convolution.generation, device);
  if (!device.chip.fused_winograd) {
    withdraw(model.stack_.convolution, [](ConvolutionAlgorithm a) { return a == ConvolutionAlgorithm::winograd_fused; });
  }
  if (unit.tensor_core)
    withdraw(model.stack_.convolution, [&](ConvolutionAlgorithm a) { return !has_tensor_kernels(a, unit.parameter_class); });
  model.convolution_ = resolve_parameters(device, "convolution", unit.parameter_class, constants);
  model.gemm_ = resolve_parameters(device, "gemm", unit.parameter_class, constants);
  model.choose_attention(device, unit, constants);
  model.memory_ = resolve_parameters(device, "memory_bound", "fp32", constants);
  model.softmax_ = resolve_parameters(device, "softmax", "fp32", constants);
  model.layer_norm_ = resolve_parameters(device, "layer_norm", "fp32", constants);
  model.recurrent_ = resolve_parameters(device, "recurrent", unit.parameter_class, constants);
  const auto recurrent = constants.recurrent.find(std::string(recurrent_generation(stack.vendor, stack.cuda, device.chip)) +
                                                  (unit.tensor_core ? "-tensor" : ""));
  if (recurrent != constants.recurrent.end()) model.recurrent_constants_ = recurrent->second;
  const double young = unit.tensor_core ? young_library_share(device.chip, stack.cuda) : 1.0;
  const double young_convolutions =
      model.convolution_constants_.pipelined ? young_convolution_share(device.chip, stack.cuda) : young;
  model.convolution_rates_ =
      kernel_rates(device, young_convolutions * unit.peak, model.convolution_.parameters, unit.parameter_class);
  model.gemm_rates_ = kernel_rates(device, young * unit.peak, model.gemm_.parameters, unit.parameter_class);
  model.memory_rates_ = kernel_rates(device, device.peak.fp32, model.memory_.parameters, "fp32");
  model.softmax_rates_ = kernel_rates(device, device.peak.fp32, model.softmax_.parameters, "fp32");
  model.layer_norm_rates_ = kernel_rates(device, device.peak.fp32, model.layer_norm_.parameters, "fp32");
  model.recurrent_rates_ = kernel_rates(device, unit.peak, model.recurrent_.parameters, unit.parameter_class);
  // Samples are of 16 bits on tensor cores; other arithmetic is taken to do as its products do.
  const auto experts = constants.experts.find("cutlass");
  const bool sampled = unit.tensor_core && unit.element == kHalf && experts != constants.experts.end();
  if (sampled) model.expert_constants_ = experts->second;
  model.experts_ = sampled ? resolve_parameters(device, "experts", unit.parameter_class, constants)
                           : resolve_tiled_products(device, unit.parameter_class, constants);
  model.expert_rates_ = kernel_rates(device, unit.peak, model.experts_.parameters, unit.parameter_class);
  const Anchors& anchors = device.calibration.own.anchors;
  for (KernelRates* rates : {&model.convolution_rates_, &model.gemm_rates_, &model.recurrent_rates_, &model.expert_rates_})
    slow_down(*rates, anchors.products);
  slow_down(model.attention_rates_, anchors.attention);
  for (KernelRates* rates : {&model.memory_rates_, &model.softmax_rates_, &model.layer_norm_rates_})
    slow_down(*rates, anchors.memory);
  if (const FamilyParameters* const own = device.calibration.find(name(KernelFamily::single_access), "fp16")) {
    for (KernelRates* rates : {&model.memory_rates_, &model.softmax_rates_, &model.layer_norm_rates_})
      rates->issue_share = own->compute_efficiency;
  }
  return model;
}

}  // namespace tbdsim
